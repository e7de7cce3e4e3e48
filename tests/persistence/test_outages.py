"""PostgreSQL goes away, in every way that it can, while turns are being committed; and comes back.

What is checked each time: every turn is answered once; a turn that was answered `ok` is there, once; one that
was answered with "nothing was changed" is not; and afterwards everything works again by itself.
"""

from functools import partial

import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from tests.support.database import run_sql
from tests.support.proxy import open_proxy
from tests.support.turns import (
    Answers,
    Gate,
    a_turn,
    commit,
    persist_behind_gate,
    persist_things,
    read_notes,
)
from tests.support.waiting import wait_until


async def test_a_commit_without_an_answer_is_unknown(things: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"COMMIT\0", answered=True)
        assert await commit(database, a_turn("a"), a_turn("b")) == {
            "a": ["OutcomeUnknown"],
            "b": ["OutcomeUnknown"],
        }
        assert await things.read(read_notes) == [("a", "note"), ("b", "note")]
        proxy.cut_at(b"COMMIT\0", answered=False)
        assert await commit(database, a_turn("c")) == {"c": ["OutcomeUnknown"]}
        assert await commit(database, a_turn("d")) == {"d": ["ok"]}
        assert await things.read(read_notes) == [("a", "note"), ("b", "note"), ("d", "note")]


async def test_a_turn_repeated_after_an_unknown_commit_does_not_land_twice(
    things: Database, database_url: str
) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"COMMIT\0", answered=True)
        await commit(database, a_turn("a"))
        assert await commit(database, a_turn("a")) == {"a": ["HeadMoved"]}
        assert await things.read(read_notes) == [("a", "note")]


async def test_a_batch_lost_before_its_commit_is_tried_once_more(things: Database, database_url: str) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        proxy.cut_at(b"INSERT INTO things", answered=True)
        assert await commit(database, a_turn("a"), a_turn("b")) == {"a": ["ok"], "b": ["ok"]}
        assert await things.read(read_notes) == [("a", "note"), ("b", "note")]


async def test_a_turn_that_loses_every_connection_fails_alone(things: Database, gate: Gate) -> None:
    """Its second try ends it; whoever comes after it is served."""
    await gate.close()
    answers = Answers()
    answers.submit(things, a_turn("a", persist=persist_behind_gate))
    for _ in range(2):
        await gate.wait_for_arrival()
        victim = await things.read(end_session_at_gate)
        await wait_until(partial(has_ended, things, victim))
    answers.submit(things, a_turn("b"))
    await answers.wait_for(2)
    await gate.open()
    assert answers.names() == {"a": ["DatabaseUnavailable"], "b": ["ok"]}


async def test_turns_during_silence_are_answered_within_their_deadline(
    things: Database, database_url: str
) -> None:
    async with open_proxy(database_url) as proxy, open_database(proxy.url, timeout_seconds=3.0) as database:
        assert await commit(database, a_turn("a")) == {"a": ["ok"]}
        proxy.swallow()
        answers = Answers()
        for id in "bcd":
            answers.submit(database, a_turn(id))
        await answers.wait_for(3)
        assert set(map(tuple, answers.names().values())) == {("DatabaseUnavailable",)}
        proxy.heal()
        assert await commit(database, a_turn("e")) == {"e": ["ok"]}
        assert await things.read(read_notes) == [("a", "note"), ("e", "note")]


async def test_no_turn_is_lost_or_doubled_while_sessions_are_ended_under_load(
    things: Database, database_url: str
) -> None:
    """26 actors write as fast as they can; whenever 100 more turns have been answered, every session is
    ended."""
    actors = {chr(code): 0 for code in range(ord("a"), ord("z") + 1)}  # {id: turns that are certainly there}
    unknown: set[str] = set()
    answered = 0

    async def write(id: str) -> None:
        nonlocal answered
        while answered < 1_000 and id not in unknown:
            (outcome,) = (await commit(things, a_turn(id, f"{id} {actors[id]}", seq=actors[id])))[id]
            answered += 1
            if outcome == "ok":
                actors[id] += 1
            elif outcome == "OutcomeUnknown":
                unknown.add(id)
            else:
                assert outcome == "DatabaseUnavailable"
            if answered % 100 == 0:
                await trio.to_thread.run_sync(run_sql, database_url, _END_ALL_SESSIONS)

    async with trio.open_nursery() as nursery:
        for id in actors:
            nursery.start_soon(write, id)
    notes = [note for _, note in await things.read(read_notes)]
    assert len(notes) == len(set(notes))
    for id, count in actors.items():
        written = {f"{id} {number}" for number in range(count)}
        assert written <= set(notes)
        extra = {note for note in notes if note.startswith(id)} - written
        assert not extra or (id in unknown and extra == {f"{id} {count}"})
    statistics = things.statistics()
    assert statistics.connections == statistics.connections_idle


async def test_turns_and_units_say_of_a_database_that_is_there_why_it_cannot_serve(things: Database) -> None:
    async def write(conn: Connection) -> None:
        await persist_things(conn, [a_turn("a")])

    await things.transact(fill_disk)
    answers = Answers()
    answers.submit(things, a_turn("a"))
    answers.submit(things, a_turn("b"))
    await answers.wait_for(2)
    with pytest.raises(DatabaseUnavailable) as caught:
        await things.transact(write)
    said = [str(error) for errors in answers.by_id.values() for error in errors] + [str(caught.value)]
    assert said == ["the database cannot serve now (DiskFullError)"] * 3


async def fill_disk(conn: Connection) -> None:
    """Have PostgreSQL refuse rows as it does on a full disk."""
    await conn.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;"
        "CREATE TRIGGER refuse BEFORE INSERT ON things EXECUTE FUNCTION refuse()"
    )


@pytest.mark.parametrize("how", ["read", "transact"])
async def test_ended_sessions_are_noticed_and_replaced(things: Database, database_url: str, how: str) -> None:
    for _ in range(20):
        await things.read(read_notes)
        await trio.to_thread.run_sync(run_sql, database_url, _END_ALL_SESSIONS)
        assert await getattr(things, how)(read_notes) == []


async def test_a_table_altered_under_a_prepared_statement_does_no_harm(things: Database) -> None:
    async def read_all(conn: Connection) -> int:
        return len(await conn.fetch("SELECT * FROM things"))

    async def alter(conn: Connection) -> None:
        await conn.execute("ALTER TABLE things ADD COLUMN more text")

    assert await things.read(read_all) == 0
    await things.transact(alter)
    assert await things.read(read_all) == 0


_END_ALL_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND application_name = 'partyline'"
)


async def end_session_at_gate(conn: Connection) -> int:
    pid: int = await conn.fetchval("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    await conn.execute("SELECT pg_terminate_backend($1)", pid)
    return pid


async def has_ended(database: Database, pid: int) -> bool:
    return not await database.read(session_exists, pid)


async def session_exists(conn: Connection, pid: int) -> bool:
    found: bool = await conn.fetchval("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", pid)
    return found
