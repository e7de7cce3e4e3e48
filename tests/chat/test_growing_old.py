"""Rows: which messages grow old, and that nothing of another conversation or of another member moves with them."""

from functools import partial

import pytest

from actors.chat.commands import AddParticipants, RemoveParticipant
from actors.chat.state import standing
from persistence.bridge.database import Database
from persistence.chat import archive
from persistence.chat.archive import KEPT_LIVE
from persistence.connection import Connection
from tests.chat.play import NOW_MS, a_poll, uid
from tests.chat.stage import Stage, open_stage

OLD_MS = 10_000


@pytest.fixture
async def stage(database: Database) -> Stage:
    """Its messages are as old as they have to be from now on: `NOW_MS + OLD_MS`."""
    return await open_stage(database)


async def overgrown(stage: Stage, limit: int = 100) -> list[str]:
    """All that hold old messages, read page by page."""
    look = partial(archive.overgrown, before_ms=NOW_MS + OLD_MS)
    found, after = await stage.database.read(look, None, limit)
    while after is not None:
        more, after = await stage.database.read(look, after, limit)
        found += more
    return found


async def move(stage: Stage, conversation_id: str, limit: int = 1_000) -> int:
    moving = partial(archive.move_old, before_ms=NOW_MS + OLD_MS, limit=limit)
    return await stage.database.transact(moving, conversation_id)


async def left(conn: Connection, conversation_id: str) -> tuple[int, int]:
    """How many messages of a conversation are live, and how many archived."""
    live = await conn.fetchval("SELECT count(*) FROM messages WHERE conversation_id = $1", conversation_id)
    old = await conn.fetchval(
        "SELECT count(*) FROM archived_messages WHERE conversation_id = $1", conversation_id
    )
    return live, old


@pytest.mark.parametrize("limit", [1, 2, 100])
async def test_of_several_conversations_only_those_with_old_messages_are_found(
    stage: Stage, limit: int
) -> None:
    ids = [stage.id]
    await stage.fill(KEPT_LIVE + 1)
    for other, messages in (("bob", KEPT_LIVE), ("cid", KEPT_LIVE + 3), ("dan", 1)):
        await stage.create("ann", other)
        ids.append(stage.id)
        await stage.fill(messages)
    await stage.create("ann", "eve")
    await stage.post("ann", poll=a_poll())
    await stage.fill(KEPT_LIVE)
    await stage.create("ann", "bob", "dan")
    stage.now_ms = NOW_MS + OLD_MS
    await stage.fill(KEPT_LIVE + 1)
    assert await overgrown(stage, limit) == sorted([ids[0], ids[2]])


async def test_nothing_of_another_conversation_moves(stage: Stage) -> None:
    first = stage.id
    await stage.fill(KEPT_LIVE + 5)
    await stage.create("ann", "bob")
    await stage.fill(KEPT_LIVE + 7)
    assert await move(stage, first, 3) == 3
    assert await move(stage, first) == 2
    assert await move(stage, first) == 0
    assert await stage.database.read(left, first) == (KEPT_LIVE, 5)
    assert await stage.database.read(left, stage.id) == (KEPT_LIVE + 7, 0)


async def test_what_is_young_stays_beyond_the_newest(stage: Stage) -> None:
    await stage.fill(4)
    stage.now_ms = NOW_MS + OLD_MS
    await stage.fill(KEPT_LIVE + 3)
    assert await overgrown(stage) == [stage.id]
    assert await move(stage, stage.id) == 4
    assert await stage.database.read(left, stage.id) == (KEPT_LIVE + 3, 4)
    assert await overgrown(stage) == []


async def test_what_one_has_sent_counts_for_them_alone_and_since_they_came(stage: Stage) -> None:
    for name in ("ann", *["bob"] * 5):
        await stage.post(name)
    await stage.do(RemoveParticipant(uid("ann"), uid("bob")))
    await stage.do(AddParticipants(uid("ann"), (uid("bob"),)))
    await stage.post("bob")
    await stage.fill(KEPT_LIVE, "cid")
    assert await move(stage, stage.id) == 7
    again = await stage.loaded(stage.id)
    for id, member in stage.state.members.items():
        assert standing(again, again.members[id]) == standing(stage.state, member)
        assert again.members[id].sent == member.sent
