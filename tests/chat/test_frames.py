"""Bytes for viewers: shared where they can be, and the same from memory and from rows."""

import gc
from weakref import ref

import msgspec
import pytest
from msgspec.structs import replace

from actors.chat.commands import ChatViewer, TellRename, VotePoll
from actors.chat.frames import audience
from actors.chat.lookups import newest_archived, newest_left_out_ms, place
from actors.chat.paging import before, newest
from actors.chat.public import Conversation, MessagePage
from actors.chat.state import State, decode_summary, summary_of
from actors.chat.window import Line, Window
from actors.errors import ConversationNotFound
from tests.chat.play import NOW_MS, Play, a_conversation, a_poll, mid, uid


def snapshot(play: Play, name: str, **params: int) -> MessagePage:
    seen = audience(play.state, ChatViewer(uid(name), **params))
    return msgspec.json.decode(play.frames.snapshot(play.state, seen), type=MessagePage)


def a_line(ms: int, *, archived: bool = False) -> Line:
    return Line(
        id=mid(ms),
        seq=0 if archived else ms,
        created_at_ms=ms,
        sender_id=uid("ann"),
        client_message_id=None,
        record=b"{}",
    )


def with_history(live: list[int], archived: list[int], *, older_live: bool = False) -> State:
    """A conversation with messages at these milliseconds; memory takes what it would take."""
    window = Window(a_line(ms) for ms in live)
    history = tuple(a_line(ms, archived=True) for ms in archived)
    kept = newest_archived(window, history)
    return a_conversation(
        "ann",
        window=window,
        archived=kept,
        older_live=older_live,
        older_archived_ms=newest_left_out_ms(history, kept),
    )


def test_those_who_have_not_voted_share_their_bytes():
    play = Play()
    poll = play.post(poll=a_poll())
    play.do(VotePoll(uid("bob"), poll.id, ("2",)))
    seen = {name: audience(play.state, ChatViewer(uid(name))) for name in ("ann", "bob", "cid")}
    assert seen["ann"] == seen["cid"] != seen["bob"]
    shown = snapshot(play, "bob").items[0].poll
    assert shown is not None
    assert [option.selected for option in shown.options] == [False, True, False]
    assert snapshot(play, "ann").conversation.unread_count is None


def test_a_stranger_has_no_audience():
    with pytest.raises(ConversationNotFound):
        audience(Play().state, ChatViewer(uid("eve")))


@pytest.mark.parametrize(("limit", "shown"), [(0, 1), (-5, 1), (1, 1), (3, 3), (10**18, 5)])
def test_the_limit_of_a_snapshot_is_clamped(limit: int, shown: int):
    play = Play()
    for _ in range(5):
        play.post()
    page = snapshot(play, "ann", limit=limit)
    assert len(page.items) == shown
    assert page.has_more == (shown < 5)
    assert page.next_before_ms == (page.items[0].created_at_ms if shown < 5 else 0)


def test_presence_is_that_of_the_moment():
    play = Play()
    play.post("bob")
    assert [one.online for one in snapshot(play, "ann").conversation.participants] == [False] * 3
    play.online.add(uid("bob"))
    assert [one.online for one in snapshot(play, "ann").conversation.participants] == [False, True, False]


def test_participants_are_the_owner_then_the_longest_standing():
    names = [f"user{number}" for number in range(120)]
    play = Play(state=a_conversation(*names, owner_id=uid("user110")))
    head = snapshot(play, "user0").conversation
    assert head.participant_count == 120
    assert [one.name for one in head.participants] == ["user110", *names[:99]]


def test_a_conversation_has_every_field():
    play = Play()
    play.post("bob", "hello")
    shown = msgspec.json.decode(play.frames.conversation_for(play.state, uid("ann")), type=Conversation)
    assert (shown.kind, shown.title, shown.owner_id) == ("group", None, uid("ann"))
    assert (shown.last_message_id, shown.last_message_preview) == (mid(1), "hello")
    assert (shown.last_message_at_ms, shown.last_message_sender_id) == (NOW_MS, uid("bob"))
    assert (shown.unread_count, shown.mention_count, shown.last_read_at_ms, shown.muted) == (
        1,
        0,
        None,
        False,
    )
    assert shown.last_event is not None
    assert shown.last_event.type == "message_created"
    assert shown.updated_at > shown.created_at


def test_a_head_is_encoded_once_and_again_when_something_of_it_changes():
    play = Play()
    facts = play.frames.facts(play.state)
    assert play.frames.facts(play.state) is facts
    head = play.frames.head(facts)
    assert play.frames.head(replace(facts)) is head
    play.do(TellRename(uid("bob"), "Robert"))
    assert play.frames.head(play.frames.facts(play.state)) != head


def test_frames_keep_no_state_that_nobody_else_has():
    play = Play()
    play.post("bob")
    snapshot(play, "ann")
    page = play.frames.page_for(play.state, uid("ann"), before_ms=None, limit=50, include_archived=False)
    assert page is not None
    state = ref(play.state)
    play.state = a_conversation("ann")
    gc.collect()
    assert state() is None


def test_live_and_archived_are_merged_by_time():
    state = with_history([10, 20, 30], [5, 15, 25])
    lines, older = newest(state, 4, include_archived=True)
    assert [line.created_at_ms for line in lines] == [15, 20, 25, 30]
    assert older
    lines, older = newest(state, 4, include_archived=False)
    assert [line.created_at_ms for line in lines] == [10, 20, 30]
    assert not older


@pytest.mark.parametrize("archived", [range(0, 400, 3), range(0, 40), range(350, 360), ()])
@pytest.mark.parametrize("live", [range(300, 420), range(1, 239, 2), range(30, 60), ()])
@pytest.mark.parametrize("older_live", [False, True])
def test_memory_answers_only_what_it_knows(live: range, archived: range, older_live: bool):
    """Whatever page memory gives is the page of everything; and it always has the newest."""
    at_live = sorted(set(live) - set(archived))
    state = with_history(at_live[-120:], list(archived)[-121:], older_live=older_live or len(at_live) > 120)
    if older_live and len(at_live) < 120:
        return  # cannot be: a window that is not full has nothing below it
    hidden = [-1] if older_live else []
    everything = sorted([*hidden, *at_live, *archived])
    for limit in (1, 50, 120):
        lines, older = newest(state, limit, include_archived=True)
        assert [line.created_at_ms for line in lines] == everything[-limit:]
        assert older == (len(everything) > limit)
        for before_ms in range(0, 430, 7):
            found = before(state, before_ms, limit, include_archived=True)
            if found is not None:
                below = [ms for ms in everything if ms < before_ms]
                assert [line.created_at_ms for line in found[0]] == below[-limit:]
                assert found[1] == (len(below) > limit)
                assert list(found[0]) == sorted(found[0], key=place)


def test_a_summary_keeps_what_lists_need_and_sorts_as_bytes():
    play = Play()
    first = summary_of(play.state)
    play.post()
    second = summary_of(play.later(10).state)
    assert first[:8] < second[:8]
    assert int.from_bytes(second[8:16], "big") == 1
    assert decode_summary(second).last_message == play.state.last_message
