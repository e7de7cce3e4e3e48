"""Batches that are one statement: the same as the long way in everything but the number of round trips."""

from collections.abc import Sequence
from functools import partial

import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.journal import commit as writer
from persistence.journal import journal, receipts
from persistence.journal.turn import Statement, Turn
from tests.support.proxy import Proxy, open_proxy
from tests.support.turns import (
    KIND,
    Answers,
    Gate,
    a_receipt,
    a_turn,
    commit,
    persist_behind_gate,
    persist_things,
    plan_things,
    read_journal,
    read_notes,
)
from tests.support.waiting import wait_until

a_planned_turn = partial(a_turn, plan=plan_things)


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
    assert await things.read(journal.read_head, KIND, "b") == journal.Head(2, 1, "e", 5, b"b at 2", 6)
    assert await things.read(read_journal, "b") == [(1, b"one"), (2, b"two")]
    assert await things.read(read_notes) == [(id, note) for id in "abc" for note in ("one", "two")]


async def test_a_turn_without_rows_needs_no_plan(things: Database) -> None:
    turn = Turn(KIND, "a", 0, 1, 0, 0, 7, (), (), 9, b"s", a_turn().persist)
    assert writer.at_once([turn]) is not None
    assert await commit(things, turn) == {"a": ["ok"]}
    assert await things.read(journal.read_head, KIND, "a") == journal.Head(0, 1, "e", 9, b"s")


async def test_a_turn_without_a_plan_takes_the_batch_the_long_way(things: Database) -> None:
    persist = Persists()
    turns = [a_planned_turn("a", persist=persist), a_turn("b", persist=persist)]
    assert await commit(things, *turns) == {"a": ["ok"], "b": ["ok"]}
    assert persist.calls == 1


@pytest.mark.parametrize("size", [1, 2, 8])
async def test_one_bad_turn_harms_nobody_else(things: Database, size: int) -> None:
    good = [a_planned_turn(chr(ord("b") + number)) for number in range(size)]
    turns = [*good[: size // 2], a_planned_turn("a", "fine", "bad"), *good[size // 2 :]]
    outcome = await commit(things, *turns)
    assert outcome.pop("a") == ["RowsRejected"]
    assert set(map(tuple, outcome.values())) == {("ok",)}
    assert await things.read(read_journal, "a") == []
    assert len(await things.read(read_notes)) == size


async def test_a_value_that_postgresql_cannot_take_harms_only_its_own_turn(things: Database) -> None:
    turns = [a_planned_turn("a", "nul \0"), a_planned_turn("b"), a_planned_turn("c", due_at_ms=1 << 80)]
    assert await commit(things, *turns) == {"a": ["RowsRejected"], "b": ["ok"], "c": ["RowsRejected"]}


async def test_a_moved_head_fails_alone(things: Database) -> None:
    turns = [a_planned_turn("a", seq=3), a_planned_turn("b"), a_planned_turn("unknown")]
    assert await commit(things, *turns) == {"a": ["HeadMoved"], "b": ["ok"], "unknown": ["HeadMoved"]}
    assert await things.read(read_notes) == [("b", "note")]
    assert await things.read(read_journal, "a") == []


@pytest.mark.parametrize(("shard", "fence"), [(0, 0), (0, 2), (1, 1)])
async def test_another_fence_fails_alone(things: Database, shard: int, fence: int) -> None:
    turns = [a_planned_turn("a", shard=shard, fence=fence), a_planned_turn("b")]
    assert await commit(things, *turns) == {"a": ["Fenced"], "b": ["ok"]}
    assert await things.read(journal.read_head, KIND, "a") == journal.Head(0, 0, "e", None, b"")


async def test_a_mistake_in_a_plan_harms_nobody(things: Database) -> None:
    def broken(turns: Sequence[Turn]) -> list[Statement]:
        raise KeyError("a mistake")

    assert await commit(things, a_turn("a", plan=broken), a_planned_turn("b")) == {"a": ["ok"], "b": ["ok"]}


async def test_receipts_commit_with_their_turn_and_take_no_second_effect(things: Database) -> None:
    receipt = a_receipt(reply=b'{"id":1}')
    assert await commit(things, a_planned_turn("a", receipts=(receipt,))) == {"a": ["ok"]}
    assert await things.read(receipts.find, receipt.key, 9_999) == receipt
    outcome = await commit(things, a_planned_turn("b", receipts=(receipt,)), a_planned_turn("c"))
    assert outcome == {"b": ["RowsRejected"], "c": ["ok"]}


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


async def test_a_takeover_is_waited_for_and_refuses(things: Database, gate: Gate) -> None:
    """The lease is taken over, not yet visibly, while the statement waits for its row."""

    async def take_over_behind_gate(conn: Connection) -> None:
        await journal.take_leases(conn, "node-1", [0], 60.0)
        await persist_behind_gate(conn, [a_turn("y")])

    answers = Answers()
    await _warm(things)
    await gate.close()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(things.transact, take_over_behind_gate)
        await gate.wait_for_arrival()
        answers.submit(things, a_planned_turn("a"))
        await wait_until(partial(_somebody_waits, things))
        await gate.open()
    await answers.wait_for(1)
    assert answers.names() == {"a": ["Fenced"]}


async def _somebody_waits(database: Database) -> bool:
    return await database.read(_row_is_waited_for)


async def _row_is_waited_for(conn: Connection) -> bool:
    found = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid')"
    )
    return bool(found)


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
