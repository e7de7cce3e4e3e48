"""The job that archives old messages: a conversation whose messages cannot be moved holds up none of the others."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.time import DAY_MS
from persistence.chat import archive, member_locks
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from tests.support.jobs import job_named
from tests.support.locks import held_up
from tests.support.world import Room, World, open_world


@pytest.fixture
async def world(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path, archive_after_days="1") as world:
        yield world


async def grown(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Room, Room]:
    """Two conversations with an old message each that is to be archived, in the order in which they are looked at."""
    monkeypatch.setattr(archive, "KEPT_LIVE", 1)
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    rooms = [await ann.talk_to(ben), await ann.talk_to(cid)]
    for room in rooms:
        await ann.say(room, "old")
        await ann.say(room, "newer")
    world.clock.advance(2 * DAY_MS)
    first, second = sorted(rooms, key=lambda room: room.id)
    return first, second


async def archived(world: World, room: Room) -> bool:
    sql = "SELECT EXISTS (SELECT FROM archived_messages WHERE conversation_id = $1 AND id <> 'another')"
    return bool(await world.service.database.read(lambda conn: conn.fetchval(sql, room.id)))


async def occupy(conn: Connection, room: Room) -> None:
    """Have a message in the archive at the moment of the old one, so that there is no room for that."""
    await conn.execute(
        "INSERT INTO archived_messages (conversation_id, created_at_ms, id, record) SELECT conversation_id,"
        " created_at_ms, 'another', '' FROM messages WHERE conversation_id = $1 ORDER BY seq LIMIT 1",
        room.id,
    )


async def test_one_that_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = await grown(world, monkeypatch)
    await world.service.database.transact(occupy, first)
    assert await job_named(world, "archive").run() is True
    assert (await archived(world, first), await archived(world, second)) == (False, True)


async def test_one_that_is_never_moved_in_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = await grown(world, monkeypatch)
    job, has_moved = job_named(world, "archive"), trio.Event()
    monkeypatch.setattr(world.service.database, "_timeout_seconds", 0.2)

    async def archiving() -> None:
        while not await archived(world, second):
            try:
                await job.run()
            except DatabaseUnavailable:
                continue
        has_moved.set()

    hold = partial(member_locks.hold_all, conversation_id=first.id)
    await held_up(world.service.database, hold, archiving, has_moved.wait)
    assert not await archived(world, first)
    assert await job.run() is True
    assert await archived(world, first)
