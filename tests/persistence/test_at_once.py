"""Batches that are one statement: the same as the long way in everything but the number of round trips.

What the writer does with a batch whichever way it takes is in `test_writer.py`.
"""

from collections.abc import Sequence

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.journal import commit as writer
from persistence.journal import journal
from persistence.journal.turn import Statement, Turn
from tests.support.proxy import Proxy, open_proxy
from tests.support.turns import (
    KIND,
    a_planned_turn,
    a_turn,
    commit,
    persist_things,
    plan_things,
    read_journal,
    read_notes,
)


class Persists:
    """A `persist` that counts how often the long way was gone."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, conn: Connection, turns: Sequence[Turn]) -> None:
        self.calls += 1
        await persist_things(conn, turns)


async def test_planned_turns_take_one_statement(things: Database) -> None:
    persist = Persists()
    turns = [a_planned_turn(id, "one", "two", persist=persist, due_at_ms=5) for id in "abc"]
    assert await commit(things, *turns) == {"a": ["ok"], "b": ["ok"], "c": ["ok"]}
    assert persist.calls == 0
    assert await things.read(journal.read_head, KIND, "b") == journal.Head(2, 1, "e", 5, b"b at 2", 6, 1_000)
    assert await things.read(read_journal, "b") == [(1, b"one"), (2, b"two")]
    assert await things.read(read_notes) == [(id, note) for id in "abc" for note in ("one", "two")]


async def test_a_turn_without_rows_needs_no_plan(things: Database) -> None:
    turn = Turn(KIND, "a", 0, 1, 0, 0, 7, (), (), 9, b"s", a_turn().persist)
    assert writer.at_once([turn]) is not None
    assert await commit(things, turn) == {"a": ["ok"]}
    assert await things.read(journal.read_head, KIND, "a") == journal.Head(0, 1, "e", 9, b"s", 0, 7)


async def test_a_turn_without_a_plan_takes_the_batch_the_long_way(things: Database) -> None:
    persist = Persists()
    turns = [a_planned_turn("a", persist=persist), a_turn("b", persist=persist)]
    assert await commit(things, *turns) == {"a": ["ok"], "b": ["ok"]}
    assert persist.calls == 1


async def test_a_mistake_in_a_plan_harms_nobody(things: Database) -> None:
    def broken(turns: Sequence[Turn]) -> list[Statement]:
        raise KeyError("a mistake")

    assert await commit(things, a_turn("a", plan=broken), a_planned_turn("b")) == {"a": ["ok"], "b": ["ok"]}


async def test_several_statements_of_a_plan_keep_their_parameters(things: Database) -> None:
    def twice(turns: Sequence[Turn]) -> list[Statement]:
        first = plan_things(turns)
        # The same parameter in two places, as `UPDATE … WHERE` may have it.
        sql = "INSERT INTO things (id, note) SELECT $1 || $2, $1::text"
        return [*first, Statement(sql, ("x", "y")), *first]

    assert await commit(things, a_turn("a", "one", plan=twice)) == {"a": ["ok"]}
    assert sorted(await things.read(read_notes)) == [("a", "one"), ("a", "one"), ("xy", "x")]


async def _warm(database: Database) -> None:
    """Have the statement prepared, so that the next bytes on the wire are its parameters."""
    assert await commit(database, a_planned_turn("z", "warm")) == {"z": ["ok"]}


async def cut(proxy: Proxy, database: Database, *, answered: bool) -> dict[str, list[str]]:
    """Two turns whose connection is lost while they are under way."""
    await _warm(database)
    proxy.cut_at(b"cut here", answered=answered)
    return await commit(database, a_planned_turn("a", "cut here"), a_planned_turn("b"))


async def test_what_was_lost_on_the_way_is_sent_again(things: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        assert await cut(proxy, database, answered=False) == {"a": ["ok"], "b": ["ok"]}
    assert await things.read(read_notes) == [("a", "cut here"), ("b", "note"), ("z", "warm")]


async def test_what_has_landed_without_an_answer_does_not_land_twice(
    things: Database, database_url: str
) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        outcome = await cut(proxy, database, answered=True)
        assert outcome == {"a": ["OutcomeUnknown"], "b": ["OutcomeUnknown"]}
        assert await commit(database, a_planned_turn("c")) == {"c": ["ok"]}
    notes = [("a", "cut here"), ("b", "note"), ("c", "note"), ("z", "warm")]
    assert await things.read(read_notes) == notes


async def test_silence_is_unknown_and_heals(things: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url, timeout_seconds=3.0) as database:
        await _warm(database)
        proxy.swallow()
        assert await commit(database, a_planned_turn("a")) == {"a": ["OutcomeUnknown"]}
        proxy.heal()
        assert await commit(database, a_planned_turn("b")) == {"b": ["ok"]}
    assert await things.read(read_notes) == [("b", "note"), ("z", "warm")]


async def test_no_planned_turn_is_lost_or_doubled_while_sessions_are_ended(
    things: Database, database_url: str
) -> None:
    """Every turn that is answered with ok is there once; one that is unknown is there once or not."""
    seqs = dict.fromkeys("abcdefgh", 0)
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        for number in range(20):
            proxy.cut_at(b"note %d" % number, answered=number % 2 == 0)
            turns = [a_planned_turn(id, f"note {number}", seq=seq) for id, seq in seqs.items()]
            for id, (outcome,) in (await commit(database, *turns)).items():
                assert outcome in ("ok", "OutcomeUnknown")
                head = await database.read(journal.read_head, KIND, id)
                assert head is not None
                assert outcome == "OutcomeUnknown" or head.seq == seqs[id] + 1
                seqs[id] = head.seq
    notes = await things.read(read_notes)
    assert len(notes) == len(set(notes)) == sum(seqs.values())


async def test_what_a_standby_refuses_has_not_landed(things: Database) -> None:
    await things.transact(become_standby)
    assert await commit(things, a_planned_turn("a")) == {"a": ["DatabaseUnavailable"]}


async def become_standby(conn: Connection) -> None:
    """Have PostgreSQL refuse rows as it does when another one has become the primary."""
    await conn.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'cannot execute INSERT' USING ERRCODE = 'read_only_sql_transaction'; END $$;"
        "CREATE TRIGGER refuse BEFORE INSERT ON things EXECUTE FUNCTION refuse()"
    )
