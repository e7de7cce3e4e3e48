"""Members who hide from a viewer: offline for that viewer in whatever shows the conversation, and for no other."""

from collections.abc import Collection
from typing import Any

import msgspec

from actors.chat.commands import ChangeConversation, ChatViewer
from actors.chat.frames import OWN_SHOWN_MEMBERS
from actors.chat.inbox import take
from actors.chat.inbox_state import InboxState
from actors.chat.kind import answer, chat_kinds
from actors.chat.public import ConversationHead
from tests.chat.play import NOW_MS, Play, uid

HIDDEN = {uid("ann"): frozenset({uid("bob"), uid("eve")})}
FRIENDS = {uid("kim"): frozenset({uid("lea")})}


class Relationships:
    def parted(self, _one_id: str, _other_id: str) -> bool:
        return False

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        return FRIENDS.get(viewer_id, frozenset()).intersection(ids)

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        return HIDDEN.get(viewer_id, frozenset()).intersection(ids)


KINDS = chat_kinds(tuple, lambda: NOW_MS, Relationships())


def talking(*names: str) -> Play:
    """A conversation in which everybody has written."""
    play = Play(*names)
    for name in names or ("ann", "bob", "cid"):
        play.post(name)
    return play


def online(shown: Any) -> dict[str, bool]:
    head = msgspec.json.decode(bytes(shown), type=msgspec.Raw)
    decoded = msgspec.json.decode(head)
    found = decoded.get("conversation", decoded)
    assert set(ConversationHead.__struct_encode_fields__) <= set(found)
    return {one["name"]: one["online"] for one in found["participants"]}


def names(play: Play, viewer: str) -> dict[str, bool]:
    """What a viewer's own snapshot says."""
    seen = KINDS.conversation.rendering.audience(play.state, ChatViewer(uid(viewer)))
    return online(KINDS.conversation.rendering.render(play.state, seen))


def audiences(play: Play, *viewers: str) -> int:
    """How many different ones the viewers are."""
    return len({KINDS.conversation.rendering.audience(play.state, ChatViewer(uid(name))) for name in viewers})


ALL = {"ann": True, "bob": True, "cid": True}
BUT_BOB = {"ann": True, "bob": False, "cid": True}


def test_a_snapshot_shows_who_hides_from_its_viewer_as_offline():
    play = talking()
    for _ in range(2):
        assert [names(play, name) for name in ("ann", "bob", "cid")] == [BUT_BOB, ALL, ALL]


def test_who_hides_from_nobody_here_parts_no_audience():
    assert audiences(talking("ann", "cid", "dan"), "ann", "cid", "dan") == 1
    assert audiences(talking(), "ann", "cid") == 2


def test_the_silent_show_to_friends_and_themselves_alone():
    play = Play("kim", "lea", "max")
    play.post("kim")
    assert names(play, "kim") == {"kim": True, "lea": True, "max": False}
    assert names(play, "lea") == {"kim": True, "lea": True, "max": False}
    assert names(play, "max") == {"kim": True, "lea": False, "max": True}
    play.post("max")
    assert names(play, "lea") == {"kim": True, "lea": True, "max": True}


def test_those_who_only_read_share_their_bytes_in_a_large_conversation():
    many = [f"user{number}" for number in range(OWN_SHOWN_MEMBERS + 1)]
    play = Play("kim", *many)
    play.post("kim")
    assert audiences(play, *many) == 1
    assert names(play, "user0")["user0"] is False
    own = KINDS.frames.seen_by(uid("user0")).conversation_for(play.state, uid("user0"))
    assert online(own)["user0"] is True
    assert audiences(Play(*many[:OWN_SHOWN_MEMBERS]), *many[:OWN_SHOWN_MEMBERS]) == OWN_SHOWN_MEMBERS


def test_in_events_and_replies():
    play = talking()
    command = ChangeConversation(uid("ann"), title="Raid")
    events = play.do(command)
    for viewer, shown in (("ann", BUT_BOB), ("cid", ALL)):
        seen = KINDS.conversation.rendering.audience(play.state, ChatViewer(uid(viewer)))
        told = KINDS.conversation.rendering.render_event(play.state, events[0], seen)
        assert told is not None
        assert online(told.data) == shown
    assert online(answer(KINDS.frames, play.state, command, events)) == BUT_BOB


def test_in_the_inbox():
    play = talking()
    for viewer, shown in (("ann", BUT_BOB), ("cid", ALL)):
        empty = InboxState(uid(viewer), (), {})
        inbox, _ = take(
            KINDS.frames, KINDS.conversation, empty, {play.state.id}, lambda _kind, _id: play.state
        )
        assert KINDS.inbox.rendering.audience(inbox, uid(viewer)) is None
        frame = msgspec.json.decode(bytes(KINDS.inbox.rendering.render(inbox, None)))
        assert {one["name"]: one["online"] for one in frame["conversations"][0]["participants"]} == shown
        assert KINDS.inbox.events is not None
        for source in (play.state.id, f"face:{uid('bob')}"):
            (event,) = KINDS.inbox.events(empty, inbox, {source})
            told = KINDS.inbox.rendering.render_event(inbox, event, None)
            assert told is not None
            assert online(told.data) == shown
        assert KINDS.inbox.events(empty, inbox, {f"face:{uid('zoe')}"}) == []
