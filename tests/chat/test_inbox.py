"""The inbox: which conversations it shows, in which order, and what it sums up."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from actors.chat.commands import MarkRead, RemoveParticipant
from actors.chat.inbox import SHOWN, absorb, changed, listed, snapshot, take
from actors.chat.inbox_state import Entry, InboxState, Reread
from actors.chat.kind import chat_kinds
from actors.chat.public import ConversationGone, InboxSnapshot
from actors.chat.state import MemberCounts, State
from actors.errors import Forbidden
from tests.chat.play import NOW_MS, Play, a_conversation, mid, uid

KINDS = chat_kinds(lambda _ids: (), lambda: NOW_MS)
ANN = uid("ann")


def a_live(
    number: int, *, unread: int = 0, updated_ms: int | None = None, names: tuple[str, ...] = ("ann", "bob")
) -> State:
    return a_conversation(
        *names,
        id=mid(number),
        message_seq=unread,
        updated_at_ms=NOW_MS + number if updated_ms is None else updated_ms,
    )


def peeking(*states: State) -> Callable[[Any, str], State | None]:
    live = {state.id: state for state in states}
    return lambda _kind, id: live.get(id)


def taking(inbox: InboxState, *states: State) -> InboxState:
    taken, unread = take(
        KINDS.frames, KINDS.conversation, inbox, {state.id for state in states}, peeking(*states)
    )
    assert unread == set()
    return taken


def shown(inbox: InboxState) -> InboxSnapshot:
    return msgspec.json.decode(snapshot(KINDS.frames, inbox), type=InboxSnapshot)


EMPTY = InboxState(ANN, (), {})


def test_newest_activity_comes_first():
    inbox = taking(EMPTY, a_live(1), a_live(3), a_live(2))
    assert [one.id for one in shown(inbox).conversations] == [mid(3), mid(2), mid(1)]
    inbox = taking(inbox, a_live(1, updated_ms=NOW_MS + 9))
    assert [one.id for one in shown(inbox).conversations] == [mid(1), mid(3), mid(2)]


def test_totals_are_over_everything():
    states = [a_live(number, unread=2) for number in range(SHOWN + 30)]
    inbox = taking(EMPTY, *states)
    frame = shown(inbox)
    assert len(frame.conversations) == SHOWN
    assert len(inbox.rest) == 30
    assert frame.has_more
    assert frame.totals.unread == 2 * (SHOWN + 30)
    # One from below comes up, and pushes another down.
    inbox = taking(inbox, a_live(0, unread=5, updated_ms=NOW_MS + 10_000))
    assert inbox.entries[0].facts.id == mid(0)
    assert mid(30) in inbox.rest
    assert shown(inbox).totals.unread == 2 * (SHOWN + 30) + 3


def test_a_conversation_that_one_has_left_goes():
    play = Play()
    inbox = taking(EMPTY, play.state)
    play.do(RemoveParticipant(ANN, ANN))
    inbox = taking(inbox, play.state)
    assert inbox.entries == ()
    delta = changed(KINDS.frames, inbox, play.state.id)
    assert delta is not None
    assert (delta.event, delta.data) == ("conversation_updated", ConversationGone(id=play.state.id))


def test_when_there_is_room_those_below_are_read():
    states = [a_live(number) for number in range(SHOWN + 2)]
    inbox = taking(EMPTY, *states)
    gone = a_live(SHOWN + 1, names=("bob",))
    _, unread = take(KINDS.frames, KINDS.conversation, inbox, {gone.id}, peeking(gone))
    assert unread == {mid(1)}


def test_what_is_not_live_is_read():
    taken, unread = take(KINDS.frames, KINDS.conversation, EMPTY, {mid(1), mid(2)}, peeking(a_live(2)))
    assert unread == {mid(1)}
    entry = Entry(KINDS.frames.facts(a_live(1)), MemberCounts(7, 1, None, True))
    inbox = absorb(taken, Reread({mid(1): entry, mid(2): None}))
    assert [(one.id, one.unread_count, one.muted) for one in shown(inbox).conversations] == [
        (mid(1), 7, True)
    ]


def test_reading_shows_in_the_delta():
    play = Play()
    message = play.post("bob")
    inbox = taking(EMPTY, play.state)
    play.do(MarkRead(ANN, message.id))
    delta = changed(KINDS.frames, taking(inbox, play.state), play.state.id)
    assert delta is not None
    assert b'"unreadCount":0' in bytes(delta.data)  # type: ignore[call-overload]


def test_a_conversation_that_is_only_counted_has_no_delta():
    inbox = replace(taking(EMPTY, *[a_live(number) for number in range(SHOWN + 1)]))
    assert changed(KINDS.frames, inbox, mid(0)) is None


def test_an_inbox_is_its_owner_s_alone():
    audience = KINDS.inbox.rendering.audience
    assert audience(EMPTY, ANN) is None
    with pytest.raises(Forbidden):
        audience(EMPTY, uid("bob"))


def test_it_answers_for_the_list_as_far_as_it_goes():
    inbox = taking(EMPTY, *(a_live(number) for number in range(1, 6)))

    def part(after: tuple[int, str] | None, limit: int) -> list[str] | None:
        found = listed(inbox, after, limit)
        return None if found is None else [one.facts.id for one in found]

    assert part(None, 2) == [mid(5), mid(4)]
    assert part((NOW_MS + 4, mid(4)), 2) == [mid(3), mid(2)]
    assert part((NOW_MS + 2, mid(2)), 2) == [mid(1)]
    assert part(None, 6) == [mid(number) for number in (5, 4, 3, 2, 1)]
    assert part((NOW_MS + 1, mid(1)), 2) == []


def test_where_conversations_are_only_counted_rows_go_on():
    inbox = taking(EMPTY, *(a_live(number) for number in range(SHOWN + 2)))
    assert listed(inbox, None, SHOWN + 1) is None
    first = listed(inbox, None, SHOWN)
    assert first is not None
    assert len(first) == SHOWN
    assert listed(inbox, inbox.entries[-2].place, 2) is None
