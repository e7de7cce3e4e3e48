"""Members who hide from a viewer: offline for that viewer in whatever shows the conversation, and for no other."""

from typing import Any

import msgspec

from actors.chat.commands import ChangeConversation, ChatViewer, InboxViewer
from actors.chat.conversation import answer, chat_kinds
from actors.chat.inbox import InboxState, take
from actors.chat.public import ConversationHead
from tests.chat.play import NOW_MS, Play, uid

HIDDEN = {uid("ann"): frozenset({uid("bob"), uid("eve")})}
KINDS = chat_kinds(lambda _id: True, lambda: NOW_MS, lambda viewer_id: HIDDEN.get(viewer_id, frozenset()))


def online(shown: Any) -> dict[str, bool]:
    head = msgspec.json.decode(bytes(shown), type=msgspec.Raw)
    decoded = msgspec.json.decode(head)
    found = decoded.get("conversation", decoded)
    assert set(ConversationHead.__struct_encode_fields__) <= set(found)
    return {one["name"]: one["online"] for one in found["participants"]}


def names(play: Play, viewer: str) -> dict[str, bool]:
    """What a viewer's own snapshot says."""
    seen = KINDS.conversation.audience(play.state, ChatViewer(uid(viewer)))
    return online(KINDS.conversation.frame(play.state, seen))


ALL = {"ann": True, "bob": True, "cid": True}
BUT_BOB = {"ann": True, "bob": False, "cid": True}


def test_in_snapshots():
    play = Play()
    for _ in range(2):
        assert [names(play, name) for name in ("ann", "bob", "cid")] == [BUT_BOB, ALL, ALL]


def test_who_hides_from_nobody_here_parts_no_audience():
    play = Play("ann", "cid", "dan")
    audiences = {
        name: KINDS.conversation.audience(play.state, ChatViewer(uid(name))) for name in ("ann", "cid")
    }
    assert audiences["ann"] == audiences["cid"]
    assert KINDS.frames.seen_by(uid("cid")) is KINDS.frames


def test_in_events_and_replies():
    play = Play()
    command = ChangeConversation(uid("ann"), title="Raid")
    events = play.do(command)
    for viewer, shown in (("ann", BUT_BOB), ("cid", ALL)):
        seen = KINDS.conversation.audience(play.state, ChatViewer(uid(viewer)))
        told = KINDS.conversation.delta(play.state, events[0], seen)
        assert told is not None
        assert online(told.data) == shown
    assert online(answer(KINDS.frames, play.state, command, events)) == BUT_BOB


def test_in_the_inbox():
    play = Play()
    for viewer, shown in (("ann", BUT_BOB), ("cid", ALL)):
        empty = InboxState(uid(viewer), (), {})
        inbox, _ = take(
            KINDS.frames, KINDS.conversation, empty, {play.state.id}, lambda _kind, _id: play.state
        )
        assert KINDS.inbox.audience(inbox, InboxViewer(uid(viewer))) is None
        frame = msgspec.json.decode(bytes(KINDS.inbox.frame(inbox, None)))
        assert {one["name"]: one["online"] for one in frame["conversations"][0]["participants"]} == shown
        told = KINDS.inbox.delta(inbox, play.state.id, None)
        assert told is not None
        assert online(told.data) == shown
