"""Events as delta subscribers see them, and whose inbox each touches."""

import json

import pytest
from msgspec import Raw
from msgspec.structs import replace

from actors.chat.commands import (
    ChangeConversation,
    ChatViewer,
    ClosePoll,
    DeleteMessage,
    EditMessage,
    MarkRead,
    RemoveParticipant,
    StartTyping,
    TellRename,
    VotePoll,
)
from actors.chat.deltas import delta
from actors.chat.events import AnyEvent, MessageRetold, TextReplaced
from actors.chat.frames import audience
from actors.chat.kind import touches
from actors.chat.public import OwnChoice, ReadNotice, TypingNotice
from actors.kernel.facets import Delta
from tests.chat.play import NOW_MS, Play, a_poll, mid, uid


def seen(play: Play, name: str) -> Delta | None:
    """The newest event as this member sees it."""
    viewers = audience(play.state, ChatViewer(uid(name)))
    return delta(play.frames, play.state, newest(play), viewers)


def newest(play: Play) -> AnyEvent:
    """The newest event but for those that tell nobody anything."""
    return next(
        event for event in reversed(play.events) if not isinstance(event, TextReplaced | MessageRetold)
    )


def touched(play: Play) -> set[str]:
    """Names of those whose inbox shows the newest event."""
    names = {uid(name): name for name in ("ann", "bob", "cid")}
    return {names[id] for _, ids in touches(play.state, newest(play)) for id in ids}


EVERYBODY = {"ann", "bob", "cid"}


@pytest.mark.parametrize(
    ("command", "event", "inboxes"),
    [
        (EditMessage(uid("ann"), mid(1), "x"), "message_edited", EVERYBODY),
        (DeleteMessage(uid("ann"), mid(1)), "message_deleted", EVERYBODY),
        (VotePoll(uid("bob"), mid(1), ("1",)), "poll_updated", EVERYBODY),
        (ClosePoll(uid("ann"), mid(1)), "poll_updated", EVERYBODY),
        (ChangeConversation(uid("ann"), title="Raid"), "conversation_updated", EVERYBODY),
        (RemoveParticipant(uid("cid"), uid("cid")), "conversation_updated", EVERYBODY),
        (TellRename(uid("bob"), "Robert"), "conversation_updated", EVERYBODY),
        (MarkRead(uid("bob"), mid(1)), "read", {"bob"}),
        (StartTyping(uid("bob")), "typing", set()),
        (ChangeConversation(uid("bob"), muted=True), None, {"bob"}),
    ],
)  # fmt: skip
def test_names_and_inboxes(command, event, inboxes):  # type: ignore[no-untyped-def]
    play = Play()
    play.post("ann", "hi", poll=a_poll())
    play.do(command)
    shown = seen(play, "ann")
    assert (shown.event if shown else None) == event
    assert touched(play) == inboxes


def test_a_message_is_its_record():
    play = Play()
    play.post("ann")
    shown = seen(play, "bob")
    assert shown is not None
    assert bytes(shown.data) == play.state.window[0].record  # type: ignore[call-overload]
    assert shown.self_ is None


def test_own_choices_stand_beside_the_poll():
    play = Play()
    play.post("ann", poll=a_poll())
    play.do(VotePoll(uid("bob"), mid(1), ("2",)))
    bob, cid = seen(play, "bob"), seen(play, "cid")
    assert bob is not None
    assert cid is not None
    assert bob.self_ == OwnChoice(message_id=mid(1), selected=("2",))
    assert bob.data == cid.data
    assert isinstance(bob.data, Raw)
    assert all(not option.get("selected") for option in json.loads(bytes(bob.data))["poll"]["options"])


def test_an_edited_poll_has_the_own_choice_selected():
    play = Play()
    play.post("ann", poll=a_poll())
    play.do(VotePoll(uid("bob"), mid(1), ("2",)))
    play.do(EditMessage(uid("ann"), mid(1), "edited"))
    for name, chosen in (("bob", ("2",)), ("cid", ())):
        shown = seen(play, name)
        assert shown is not None
        assert shown.self_ == OwnChoice(message_id=mid(1), selected=chosen)
        assert isinstance(shown.data, Raw)
        options = json.loads(bytes(shown.data))["poll"]["options"]
        assert tuple(option["id"] for option in options if option["selected"]) == chosen


def test_an_edit_says_nothing_of_choices_that_are_not_in_memory():
    play = Play()
    play.post("ann", poll=a_poll())
    play.do(EditMessage(uid("ann"), mid(1), "young"))
    young = seen(play, "bob")
    play.state = replace(play.state, votes={})
    old = seen(play, "bob")
    assert young is not None
    assert old is not None
    assert (young.self_, old.self_) == (OwnChoice(message_id=mid(1), selected=()), None)
    for shown, is_told in ((young, True), (old, False)):
        assert isinstance(shown.data, Raw)
        options = json.loads(bytes(shown.data))["poll"]["options"]
        assert {"selected" in option for option in options} == {is_told}


def test_typing_and_reading():
    play = Play()
    play.post("ann")
    play.do(StartTyping(uid("bob")))
    shown = seen(play, "ann")
    assert shown is not None
    assert shown.data == TypingNotice(user_id=uid("bob"), expires_at_ms=NOW_MS + 5_000)
    play.do(MarkRead(uid("bob"), mid(1)))
    shown = seen(play, "ann")
    assert shown is not None
    assert shown.data == ReadNotice(user_id=uid("bob"), message_id=mid(1), last_read_at_ms=NOW_MS)
    assert shown.to is None


def test_in_a_large_conversation_reading_goes_to_the_reader():
    play = Play(*(f"user{number}" for number in range(33)))
    play.post("user0")
    play.do(MarkRead(uid("user1"), mid(1)))
    shown = seen(play, "user2")
    assert shown is not None
    assert shown.to == uid("user1")
