"""What requests read from rows: lists, participants, revisions, past events."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from actors.chat import reading, rendering
from actors.chat.commands import (
    AddParticipants,
    ChangeConversation,
    DeleteMessage,
    EditMessage,
    MarkRead,
    RemoveParticipant,
    StartTyping,
    VotePoll,
)
from actors.chat.public import ConversationList
from actors.errors import ConversationNotFound, EventsExpired, NotFound
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.users.names import read_names
from tests.chat.play import a_mention, a_poll, mid, uid
from tests.chat.stage import Stage, open_stage


@pytest.fixture
async def stage(database: Database) -> Stage:
    return await open_stage(database)


async def listed(stage: Stage, name: str, after: tuple[int, str] | None, limit: int) -> ConversationList:
    stored = await stage.database.read(reading.read_list, uid(name), after, limit)
    items = rendering.conversations(stage.kinds.frames, stored)
    return msgspec.json.decode(rendering.conversation_list(items, None), type=ConversationList)


async def test_a_stranger_reads_nothing(stage: Stage):
    message = await stage.post()
    for unit, *args in (
        (reading.read_conversation,),
        (reading.read_page, reading.MessageSlice(10)),
        (reading.read_participants, None, 10),
        (reading.read_revisions, message.id),
        (reading.read_events, 0, 10),
    ):
        for conversation_id, name in ((stage.id, "eve"), (mid(999), "ann")):
            with pytest.raises(ConversationNotFound):
                await stage.database.read(unit, conversation_id, uid(name), *args)
    assert await stage.database.read(reading.read_membership, stage.id, uid("eve")) is None
    mine = await stage.database.read(reading.read_membership, stage.id, uid("bob"))
    assert mine == reading.Membership(stage.state.kind, stage.state.owner_id)
    assert (await listed(stage, "eve", None, 10)).items == ()


async def test_lists_are_by_activity_and_exact_over_pages(stage: Stage):
    made = [stage.id]
    for peers in (["bob"], ["cid"], ["dan"], ["bob", "dan"], ["cid", "dan"]):
        stage.now_ms += 10
        await stage.create("ann", *peers)
        made.append(stage.id)
    stage.now_ms += 10
    await stage.enter(made[2])
    await stage.post("cid", "newest", mentions=(a_mention("ann"),))
    expected = [made[2], *reversed([id for id in made if id != made[2]])]
    seen: list[str] = []
    after = None
    while part := await stage.database.read(reading.read_list, uid("ann"), after, 2):
        seen += [one.facts.id for one in part]
        after = part[-1].place
    assert seen == expected
    first = (await listed(stage, "ann", None, 200)).items[0]
    assert (first.unread_count, first.mention_count, first.last_message_preview) == (1, 1, "newest")


async def test_a_list_counts_like_the_live_conversation(stage: Stage):
    for name in ("ann", "bob", "cid", "bob"):
        await stage.post(name, mentions=(a_mention("ann"), a_mention("cid")))
    await stage.do(MarkRead(uid("cid"), stage.state.window[1].id))
    await stage.do(ChangeConversation(uid("bob"), muted=True))
    for name in ("ann", "bob", "cid"):
        stored = await stage.database.read(reading.read_conversation, stage.id, uid(name))
        live = stage.kinds.frames.conversation_for(stage.state, uid(name))
        assert rendering.conversation(stage.kinds.frames, stored) == live


async def names(stage: Stage, limit: int) -> list[str]:
    found: list[str] = []
    after = None
    while stored := await stage.database.read(reading.read_participants, stage.id, uid("bob"), after, limit):
        found += [one.name for one in rendering.participants(stage.kinds.frames, stored)]
        after = stored[-1].place
    return found


@pytest.mark.parametrize("limit", [1, 2, 50])
async def test_participants_are_paged_owner_first(stage: Stage, limit: int):
    await stage.do(AddParticipants(uid("ann"), (uid("eve"),)))
    await stage.do(AddParticipants(uid("ann"), (uid("dan"),)))
    found = await names(stage, limit)
    assert found[0] == "ann"
    assert sorted(found[1:3]) == ["bob", "cid"]
    assert found[3:] == ["eve", "dan"]


async def test_who_becomes_the_owner_between_two_pages_is_still_to_come(stage: Stage):
    """The owner was the first page, and leaves: the next member leads the group then, and stands first in the list."""

    async def page(after: tuple[int, str, str] | None, limit: int) -> Sequence[reading.StoredParticipant]:
        return await stage.database.read(reading.read_participants, stage.id, uid("bob"), after, limit)

    (ann,) = await page(None, 1)
    before = [one.id for one in await page(ann.place, 10)]
    await stage.do(RemoveParticipant(uid("ann"), uid("ann")))
    assert stage.state.owner_id in before
    assert [one.id for one in await page(ann.place, 10)] == before


async def test_an_erased_user_is_called_deleted(stage: Stage):
    await stage.database.transact(_erase, uid("cid"))
    assert "deleted" in await names(stage, 50)
    assert (await stage.loaded(stage.id)).members[uid("cid")].name == "deleted"
    assert await stage.database.read(read_names, [uid("cid")]) == {}


async def _erase(conn: Connection, user_id: str) -> None:
    await conn.execute("DELETE FROM users WHERE id = $1", user_id)


async def revisions(stage: Stage, message_id: str) -> list[tuple[int, str]]:
    found = await stage.database.read(reading.read_revisions, stage.id, uid("bob"), message_id)
    return [(one.revision, one.content) for one in found.items]


async def test_every_text_of_a_message_is_kept_until_it_is_deleted(stage: Stage):
    message = await stage.post("ann", "one")
    assert await revisions(stage, message.id) == [(1, "one")]
    for text in ("two", "three"):
        stage.now_ms += 10
        await stage.do(EditMessage(uid("ann"), message.id, text))
    assert await revisions(stage, message.id) == [(1, "one"), (2, "two"), (3, "three")]
    found = await stage.database.read(reading.read_revisions, stage.id, uid("bob"), message.id)
    assert found.items[0].edited_at == message.created_at < found.items[1].edited_at
    assert {one.editor_id for one in found.items} == {uid("ann")}
    await stage.do(DeleteMessage(uid("ann"), message.id))
    assert await revisions(stage, message.id) == []
    with pytest.raises(NotFound):
        await revisions(stage, mid(999))


async def events(stage: Stage, since: int, limit: int = 100) -> tuple[list[tuple[int, str]], bool]:
    stored = await stage.database.read(reading.read_events, stage.id, uid("bob"), since, limit)
    page = rendering.event_page(stage.kinds.frames, stored)
    assert page.epoch == "e1"
    assert msgspec.json.decode(msgspec.json.encode(page))["hasMore"] == page.has_more
    return [(one.offset, one.event) for one in page.items], page.has_more


async def test_past_events_have_offsets_one_by_one(stage: Stage):
    message = await stage.post("ann", poll=a_poll())
    happened: list[Any] = [
        StartTyping(uid("bob")),
        VotePoll(uid("bob"), message.id, ("1",)),
        MarkRead(uid("bob"), message.id),
        EditMessage(uid("ann"), message.id, "x"),
        ChangeConversation(uid("ann"), title="Raid"),
        RemoveParticipant(uid("cid"), uid("cid")),
        DeleteMessage(uid("ann"), message.id),
    ]
    for command in happened:
        await stage.do(command)
    expected = [
        (1, "message_created"),
        (2, "poll_updated"),
        (3, "message_edited"),
        (4, "conversation_updated"),
        (5, "conversation_updated"),
        (6, "message_deleted"),
    ]
    assert await events(stage, 0) == (expected, False)
    assert await events(stage, -5, 4) == (expected[:4], True)
    assert await events(stage, 4) == (expected[4:], False)
    assert await events(stage, 6) == ([], False)
    assert await events(stage, 10**12) == ([], False)


async def test_events_that_are_no_longer_kept(stage: Stage):
    await stage.fill(3)
    await stage.database.transact(_forget, stage.id)
    with pytest.raises(EventsExpired):
        await events(stage, 0)
    with pytest.raises(EventsExpired):
        await events(stage, 1)
    assert await events(stage, 2) == ([(3, "message_created")], False)


async def _forget(conn: Connection, id: str) -> None:
    await conn.execute("DELETE FROM events WHERE id = $1 AND seq <= 2", id)
