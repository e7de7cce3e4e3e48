"""Turns on a real database: what is written comes back the same, and pages are exact."""

import pytest

from actors.chat.commands import (
    AddParticipants,
    ChangeConversation,
    ClosePoll,
    DeleteMessage,
    EditMessage,
    MarkRead,
    MeetDeadlines,
    RemoveParticipant,
    TellErased,
    VotePoll,
)
from actors.chat.records import decode
from actors.chat.rules_polls import expire
from actors.chat.state import NOTHING_LOOKED_UP, standing
from actors.errors import Conflict, Invalid
from persistence.bridge.database import Database
from persistence.chat import archive, leavings
from persistence.connection import Connection
from persistence.errors import RowsRejected
from tests.chat.play import NOW_MS, a_mention, a_poll, mid, uid
from tests.chat.stage import Stage, commit, gone, lasting, open_stage


@pytest.fixture
async def stage(database: Database) -> Stage:
    return await open_stage(database)


async def agrees(stage: Stage) -> bool:
    """Memory, rows and snapshot tell the same."""
    assert await stage.loaded(stage.id) == lasting(stage.state)
    if stage.snapshot is not None:
        assert await stage.restored() == lasting(stage.state)
    return True


async def test_everything_comes_back(stage: Stage):
    stage.take_snapshot()
    message = await stage.post("ann", "hi", mentions=(a_mention("bob"),), client_message_id="c")
    poll = await stage.post("bob", None, poll=a_poll(multiple=True, expires_at_ms=NOW_MS + 1_000))
    await stage.do(EditMessage(uid("ann"), message.id, "hello", (a_mention("cid"),)))
    await stage.do(VotePoll(uid("cid"), poll.id, ("1", "3")))
    await stage.do(MarkRead(uid("bob"), message.id))
    await stage.do(ChangeConversation(uid("ann"), title="Raid", muted=True))
    assert await agrees(stage)
    await stage.do(AddParticipants(uid("ann"), (uid("dan"),)))
    await stage.do(RemoveParticipant(uid("cid"), uid("cid")))
    await stage.do(DeleteMessage(uid("ann"), message.id))
    stage.now_ms += 2_000
    await stage.do(expire(stage.state, stage.now_ms))
    assert await agrees(stage)
    assert {member.name for member in stage.state.members.values()} == {"ann", "bob", "dan"}


async def test_a_turn_of_many_commands_is_folded(stage: Stage):
    first, second = stage.posting("ann", mentions=(a_mention("bob"),)), stage.posting("bob", poll=a_poll())
    replies = await stage.act(
        first,
        EditMessage(uid("ann"), first.message_id, "better", (a_mention("cid"),)),
        EditMessage(uid("ann"), first.message_id, "best"),
        second,
        VotePoll(uid("ann"), second.message_id, ("1",)),
        VotePoll(uid("ann"), second.message_id, ("2",)),
        VotePoll(uid("cid"), second.message_id, ("2",)),
        ClosePoll(uid("bob"), second.message_id),
        VotePoll(uid("bob"), second.message_id, ("2",)),
        RemoveParticipant(uid("ann"), uid("cid")),
        AddParticipants(uid("ann"), (uid("cid"), uid("dan"))),
        MarkRead(uid("bob"), first.message_id),
        DeleteMessage(uid("ann"), first.message_id),
    )
    assert [type(reply).__name__ for reply in replies].count("PollClosed") == 1
    assert await agrees(stage)


@pytest.mark.parametrize("kind", ["group", "direct"])
async def test_whom_an_erasure_leaves_there(stage: Stage, kind: str):
    await stage.create("dan", "eve", kind=kind)
    stage.take_snapshot()
    await stage.post("dan")
    for names in ({"eve"} if kind == "group" else {"eve", "deleted"}, set()):
        await stage.database.transact(gone, "eve" if not names else "dan")
        await stage.do(TellErased(uid("eve" if not names else "dan")))
        assert {member.name for member in stage.state.members.values()} == names
        assert await agrees(stage)
        await stage.do(TellErased(uid("dan")))
        assert await agrees(stage)
    assert await stage.database.read(leavings.abandoned, 10) == [stage.id]


async def test_a_member_who_comes_back_starts_anew(stage: Stage):
    for name in ("cid", "ann", "cid"):
        await stage.post(name, mentions=(a_mention("cid"),))
    await stage.do(MarkRead(uid("cid"), stage.state.window[1].id))
    await stage.do(RemoveParticipant(uid("ann"), uid("cid")))
    await stage.post("ann")
    await stage.do(AddParticipants(uid("ann"), (uid("cid"),)))
    assert standing(stage.state, stage.state.members[uid("cid")]).unread == 0
    await stage.post("cid")
    await stage.post("bob", mentions=(a_mention("cid"),))
    assert standing(stage.state, stage.state.members[uid("cid")]).unread == 1
    assert await agrees(stage)


async def test_old_messages_are_recalled_for_one_command(stage: Stage):
    poll = await stage.post("ann", "old", poll=a_poll(), client_message_id="c")
    await stage.post("bob", "second")
    await stage.fill(130, "cid")
    assert stage.state.window[0].seq > 2
    again = await stage.post("ann", "again", client_message_id="c")
    assert again.id == poll.id
    voted = decode(bytes(await stage.do(VotePoll(uid("cid"), poll.id, ("1",)))))
    moved = decode(bytes(await stage.do(VotePoll(uid("cid"), poll.id, ("2",)))))
    assert voted.poll is not None
    assert moved.poll is not None
    assert [option.votes for option in moved.poll.options] == [0, 1, 0]
    assert [option.selected for option in moved.poll.options] == [False, True, False]
    edited = decode(bytes(await stage.do(EditMessage(uid("ann"), poll.id, "older"))))
    assert (edited.content, edited.revision) == ("older", 2)
    assert stage.state.looked_up.lines == {}
    await stage.do(DeleteMessage(uid("bob"), (await stage.page(before_ms=NOW_MS + 2)).items[1].id))
    assert await agrees(stage)


async def test_answers_about_an_old_poll_have_the_choice_of_the_caller(stage: Stage):
    poll = await stage.post("ann", "old", poll=a_poll())
    await stage.do(VotePoll(uid("ann"), poll.id, ("2",)))
    await stage.do(VotePoll(uid("bob"), poll.id, ("1",)))
    await stage.fill(130, "cid")
    for command in (
        EditMessage(uid("ann"), poll.id, "older"),
        EditMessage(uid("ann"), poll.id, "older"),
        VotePoll(uid("ann"), poll.id, ("2",)),
        ClosePoll(uid("ann"), poll.id),
    ):
        answered = decode(bytes(await stage.do(command))).poll
        assert answered is not None
        assert [option.selected for option in answered.options] == [False, True, False], command
    assert stage.state.looked_up is NOTHING_LOOKED_UP


async def test_reading_an_old_message_counts_what_is_above_it(stage: Stage):
    for name in ("ann", "bob", "ann", "bob"):
        await stage.post(name)
    old = [line.id for line in stage.state.window]
    await stage.fill(120, "cid")
    await stage.post("ann")
    marker = await stage.do(MarkRead(uid("ann"), old[1]))
    assert marker.unread_count == 1 + 120
    assert (await stage.do(MarkRead(uid("ann"), old[3]))).unread_count == 120
    replies = await stage.act(stage.posting("bob"), MarkRead(uid("bob"), old[3]))
    assert replies[1].unread_count == 120 + 1
    assert await agrees(stage)


async def test_deadlines_outside_the_window_are_met(stage: Stage):
    poll = await stage.post("ann", poll=a_poll(expires_at_ms=NOW_MS + 60_000))
    await stage.fill(125)
    stage.now_ms += 60_000
    command = expire(stage.state, stage.now_ms)
    assert command == MeetDeadlines((poll.id,))
    page = await stage.page("ann", before_ms=poll.created_at_ms + 1)
    assert page.items[0].poll is not None
    assert (page.items[0].poll.closed, page.items[0].poll.close_reason) == (True, "expired")
    await stage.do(command)
    assert page.items == (await stage.page("ann", before_ms=poll.created_at_ms + 1)).items
    assert await agrees(stage)


async def test_a_page_selects_for_its_viewer_only(stage: Stage):
    poll = await stage.post("ann", poll=a_poll())
    await stage.do(VotePoll(uid("bob"), poll.id, ("2",)))
    for name, expected in (("bob", [False, True, False]), ("ann", [False] * 3)):
        shown = (await stage.page(name)).items[0].poll
        assert shown is not None
        assert [option.selected for option in shown.options] == expected


@pytest.mark.parametrize("limit", [1, 7, 50, 120])
async def test_paging_is_exact_while_messages_come(stage: Stage, limit: int):
    """Every message that was there at the first page is seen exactly once, in order."""
    await stage.fill(300)
    there = stage.state.message_seq
    seen: list[str] = []
    before_ms, turns = None, 0
    while True:
        page = await stage.page(limit=limit, before_ms=before_ms)
        assert len(page.items) <= limit
        seen = [message.id for message in page.items] + seen
        if not page.has_more:
            assert page.next_before_ms == 0
            break
        assert page.next_before_ms == page.items[0].created_at_ms
        before_ms = page.next_before_ms
        turns += 1
        if turns % 10 == 1:
            await stage.post("bob")
            await stage.do(EditMessage(uid("bob"), stage.state.window[-1].id, "x"))
    assert len(seen) == len(set(seen)) == there
    assert seen == sorted(seen)


@pytest.mark.parametrize("before_ms", [-1, 0, 2**80])
async def test_cursors_beyond_all_messages_end_the_pages(stage: Stage, before_ms: int):
    await stage.post()
    page = await stage.page(before_ms=before_ms)
    assert len(page.items) == (1 if before_ms > 0 else 0)
    assert (page.has_more, page.next_before_ms) == (False, 0)


async def test_a_message_archived_meanwhile_is_not_acknowledged(stage: Stage):
    """Between reading an old message and committing its change, it may move: then the turn fails."""
    message = await stage.post("ann", "old")
    await stage.fill(130)
    kind, state = stage.kinds.conversation, stage.state
    command = EditMessage(uid("ann"), message.id, "new")
    need = kind.lookups.missing(state, command)
    state = kind.lookups.absorb(state, await stage.database.read(kind.lookups.fetch, stage.id, need))
    events = kind.decide(state, command, stage.now_ms)
    moved = await stage.database.transact(_move_all, stage.id)
    assert moved == 11
    with pytest.raises(RowsRejected):
        await stage.database.transact(commit, stage.turn_of(kind.apply(state, events[0]), events))
    with pytest.raises(Conflict):
        await stage.do(command)


async def _move_all(conn: Connection, conversation_id: str) -> int:
    return await archive.move_old(conn, conversation_id, before_ms=2**60, limit=1_000)


async def test_unknown_users_are_not_added(stage: Stage):
    with pytest.raises(Invalid) as caught:
        await stage.do(AddParticipants(uid("ann"), (uid("dan"), uid("nobody"))))
    assert [error.pointer for error in caught.value.errors] == ["/userIds/1"]
    assert mid(1) not in stage.state.members
