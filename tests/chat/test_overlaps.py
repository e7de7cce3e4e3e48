"""Which events change the rows that a command of a conversation needs."""

from typing import Any

import pytest
from msgspec.structs import replace

from actors.chat.events import (
    AnyEvent,
    ConversationChanged,
    DeletionAudited,
    MemberRemoved,
    MembersAdded,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    MessageRetold,
    MuteChanged,
    PollClosed,
    PollVoted,
    ReadMarked,
    TextReplaced,
    UserErased,
)
from actors.chat.lookups import overlaps
from actors.chat.need import Need
from actors.chat.public import ReadNotice
from actors.chat.window import Line
from persistence.users.audit import Stamp
from tests.chat.play import NOW_MS, mid, uid

ANN, BOB = uid("ann"), uid("bob")
LINE = Line(
    id=mid(1),
    seq=1,
    created_at_ms=NOW_MS,
    sender_id=ANN,
    client_message_id="mine",
    record=b"{}",
    has_poll=True,
    poll_open=True,
    poll_expires_at_ms=None,
    attachment_ids=("a", "b"),
)
CHANGES: dict[str, AnyEvent] = {
    "edited": MessageEdited(LINE, NOW_MS, ""),
    "deleted": MessageDeleted(replace(LINE, attachment_ids=()), NOW_MS, ANN),
    "voted": PollVoted(LINE, NOW_MS, BOB, ("1",)),
    "closed": PollClosed(LINE, NOW_MS),
    "erased": UserErased(ANN, (LINE,)),
}
CREATED = MessageCreated(LINE, 1, "")
OTHERS: dict[str, AnyEvent] = {
    "added": MembersAdded((), NOW_MS, None),
    "removed": MemberRemoved(BOB, NOW_MS, None, None),
    "named": ConversationChanged("t", NOW_MS),
    "muted": MuteChanged(ANN, muted=True),
    "former text": TextReplaced(mid(1), 1, "was", NOW_MS, ANN),
    "retold": MessageRetold(LINE, (1,)),
    "audited": DeletionAudited(Stamp("e", NOW_MS, BOB, "r"), mid(1), ANN),
    "read": ReadMarked(1, ReadNotice(ANN, mid(1), NOW_MS), 0, NOW_MS, everyone=True),
}
NEEDS: dict[str, tuple[Need, bool, bool]] = {
    # need: (a change of the message overlaps, its creation overlaps)
    "the message": (Need(message_ids=(mid(2), mid(1))), True, True),
    "its votes": (Need(message_ids=(mid(1),), voter_id=BOB), True, True),
    "what tells of it": (Need(told_of=mid(1)), True, True),
    "what was read": (Need(message_ids=(mid(1),), reader_id=ANN), True, True),
    "another message": (Need(message_ids=(mid(2),)), False, False),
    "its clientMessageId": (Need(client=(ANN, "mine")), True, True),
    "that of another sender": (Need(client=(BOB, "mine")), False, False),
    "another clientMessageId": (Need(client=(ANN, "yours")), False, False),
    "an upload in it": (Need(attachment_ids=("b", "c")), False, True),
    "another upload": (Need(attachment_ids=("c",)), False, False),
    "names": (Need(user_ids=(ANN, BOB)), False, False),
    "the archive": (Need(archive=True, oldest_seq=1), False, False),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_need_overlaps_with_the_events_that_change_its_rows(name: str):
    need, change, creation = NEEDS[name]
    assert {what: overlaps(event, need) for what, event in CHANGES.items()} == dict.fromkeys(CHANGES, change)
    assert overlaps(CREATED, need) is creation
    assert not any(overlaps(event, need) for event in OTHERS.values())


def test_every_event_with_rows_has_its_line():
    known = {type(event) for event in (*CHANGES.values(), CREATED, *OTHERS.values())}
    durable: set[Any] = {event for event in AnyEvent.__args__ if event.durable}  # type: ignore[attr-defined]
    assert known == durable
