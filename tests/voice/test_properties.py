"""What holds for every history of two voice channels: events are enough, memory is right, and rows say the same."""

from collections import Counter

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.voice.attendance import Attendance
from actors.voice.events import AnyEvent
from actors.voice.loading import dump, load, new_channel, refresh, restore, summary_of
from actors.voice.persisting import persist
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.journal.turn import Turn
from persistence.voice import channels
from tests.chat.stage import make_users
from tests.support.database import lent_database
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM
from tests.voice.talk import NAMES, NODES, NOW_MS, ROWS, STEPS, Step, Talk, named


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, min_size=5, max_size=50))
def test_a_snapshot_and_events_are_a_fresh_snapshot(steps: list[Step]) -> None:
    talk = Talk()
    for step in steps:
        talk.run(step)
        for user_id, frame in talk.clients.items():
            assert frame == talk.frame(talk.view(user_id)), step
        check_memory(talk)


def check_memory(talk: Talk) -> None:
    """Memory holds what the channels say, and everybody is in one at most."""
    attendance = talk.attendance
    where = [(id, state.id) for state in talk.states.values() for id in state.sessions]
    assert all(count == 1 for count in Counter(id for id, _ in where).values())
    seated: Counter[str] = Counter()
    for user_id, channel_id in where:
        state = talk.states[channel_id]
        assert attendance.of_user(user_id) == (channel_id, state.sessions[user_id].session_id)
        seated[state.node_id or ""] += 1
    for node_id in NODES:
        assert attendance.seats.taken(node_id) == attendance.seats.used(node_id) == seated[node_id]
    assert attendance.speaking <= {
        one.session_id for state in talk.states.values() for one in state.sessions.values()
    }


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=10, max_size=50), st.integers(0, 30))
async def test_reload_equals_memory(postgres_server: str, steps: list[Step], at: int) -> None:
    with lent_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            await database.transact(make_users, NAMES)
            await _reloads(database, steps, at)


async def _reloads(database: Database, steps: list[Step], at: int) -> None:
    talk = Talk()
    await database.transact(_found, talk)
    for step in steps:
        before = len(talk.events)
        talk.run(step)
        await database.transact(_write, talk, before)
    fresh = Attendance(talk.fleet, lambda: NOW_MS)
    for row in ROWS:
        state = named(talk.states[row.id])
        reloaded = await database.read(load, row.id)
        assert reloaded == state
        fresh.take(reloaded)
        kept = new_channel(row, NODES[0])
        journaled = [event for id, event in talk.events if id == row.id and event.journaled]
        for event in journaled[:at]:
            kept = talk.kinds.channel.apply(kept, event)
        kept = restore(dump(kept))
        for event in journaled[at:]:
            kept = talk.kinds.channel.apply(kept, _read_again(event))
        assert replace(await database.read(refresh, row.id, kept), looked_up=None) == state
    for name in talk.clients:
        assert fresh.of_user(name) == talk.attendance.of_user(name)
    assert [fresh.seats.used(id) for id in NODES] == [talk.attendance.seats.used(id) for id in NODES]


def _read_again(event: AnyEvent) -> AnyEvent:
    again: AnyEvent = msgspec.msgpack.decode(msgspec.msgpack.encode(event.note()), type=type(event))
    return again


async def _found(conn: Connection, talk: Talk) -> None:
    for row in ROWS:
        summary = summary_of(talk.states[row.id])
        assert await channels.insert(conn, row, epoch="e", summary=summary, due_at_ms=None)


async def _write(conn: Connection, talk: Talk, before: int) -> None:
    """The turns of one step, each with the event that it made, as the writer would write them in one batch."""
    happened = talk.events[before:]
    await persist(conn, [_turn(id, event) for id, event in happened])
    for id, event in happened:
        await conn.execute(
            "UPDATE heads SET seq = seq + $2, summary = $3 WHERE kind = 'voice' AND id = $1",
            id,
            int(event.journaled),
            summary_of(talk.states[id]),
        )


def _turn(id: str, event: AnyEvent) -> Turn:
    return Turn(
        kind=channels.KIND, id=id, shard=0, fence=0, seq=0, version=0, at_ms=0, events=(event,), journal=(),
        due_at_ms=None, summary=b"", persist=persist,
    )  # fmt: skip
