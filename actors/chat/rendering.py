"""Bytes of what was read from rows, the same as a live conversation's (`frames.py`)."""

from collections.abc import Sequence

import msgspec

from actors.chat.deltas import past_event
from actors.chat.frames import Frames
from actors.chat.public import EventPage, Participant
from actors.chat.reading import (
    StoredConversation,
    StoredEvents,
    StoredPage,
    StoredParticipant,
)
from actors.pages import fitting


def conversation(frames: Frames, stored: StoredConversation) -> bytes:
    """A Conversation as JSON, as its viewer sees it."""
    return frames.conversation(stored.facts, stored.own)


def message_page(frames: Frames, stored: StoredPage) -> bytes:
    """A MessagePage as JSON, as its viewer sees it."""
    head = conversation(frames, stored.conversation)
    return frames.page(head, stored.lines, stored.choices, has_more=stored.has_more)


def conversations(frames: Frames, stored: Sequence[StoredConversation]) -> Sequence[bytes]:
    """The first of these conversations as JSON, as many as one page of a list may have bytes for."""
    return fitting([conversation(frames, one) for one in stored], len)


def conversation_list(items: Sequence[bytes], next_cursor: str | None) -> bytes:
    """A ConversationList as JSON.

    Args:
        items: the encoded Conversations.
        next_cursor: the cursor of the next page; None where no more follow.
    """
    return b'{"items":[%b],"nextCursor":%b,"hasMore":%b}' % (
        b",".join(items),
        msgspec.json.encode(next_cursor),
        b"false" if next_cursor is None else b"true",
    )


def participants(frames: Frames, stored: Sequence[StoredParticipant]) -> tuple[Participant, ...]:
    """The members of a conversation, with the presence that the viewer of `frames` sees."""
    silent = frozenset(one.id for one in stored if not one.spoke)
    online = frozenset(frames.online([one.id for one in stored if one.spoke], silent))
    return tuple(Participant(id=one.id, name=one.name, online=one.id in online) for one in stored)


def event_page(frames: Frames, stored: StoredEvents) -> EventPage:
    """Past events as delta subscribers saw them."""
    return EventPage(
        items=tuple(past_event(frames, stored.facts, row, event) for row, event in stored.rows),
        epoch=stored.epoch,
        has_more=stored.has_more,
    )
