"""Bytes of what was read from rows, the same as a live conversation's (`frames.py`); and cursors of lists."""

import msgspec

from actors.chat.deltas import past_event
from actors.chat.frames import Frames
from actors.chat.public import EventPage, Participant, ParticipantList
from actors.chat.reading import (
    StoredConversation,
    StoredEvents,
    StoredList,
    StoredPage,
    StoredParticipants,
)
from actors.pages import fitting


def conversation(frames: Frames, stored: StoredConversation) -> bytes:
    """A Conversation."""
    return frames.conversation(stored.facts, stored.own)


def message_page(frames: Frames, stored: StoredPage) -> bytes:
    """A MessagePage."""
    head = conversation(frames, stored.conversation)
    return frames.page(head, stored.lines, stored.choices, has_more=stored.has_more)


def conversation_list(frames: Frames, stored: StoredList) -> bytes:
    """A ConversationList."""
    items = fitting([conversation(frames, entry) for entry in stored.entries], len)
    has_more = stored.has_more or len(items) < len(stored.entries)
    cursor = None
    if has_more and items:
        last = stored.entries[len(items) - 1].facts
        cursor = cursor_of((last.updated_at_ms, last.id))
    return b'{"items":[%b],"nextCursor":%b,"hasMore":%b}' % (
        b",".join(items),
        msgspec.json.encode(cursor),
        b"true" if has_more else b"false",
    )


def participant_list(frames: Frames, stored: StoredParticipants) -> ParticipantList:
    """Members with their presence."""
    online = frames.online([id for id, _ in stored.items if id not in stored.silent], stored.silent)
    return ParticipantList(
        items=tuple(Participant(id=id, name=name, online=id in online) for id, name in stored.items),
        next_cursor=None if stored.next_place is None else cursor_of(stored.next_place),
        has_more=stored.next_place is not None,
    )


def event_page(frames: Frames, stored: StoredEvents) -> EventPage:
    """Past events as delta subscribers saw them."""
    return EventPage(
        items=tuple(past_event(frames, stored.facts, row, event) for row, event in stored.rows),
        epoch=stored.epoch,
        has_more=stored.has_more,
    )


def cursor_of(place: tuple[int, str]) -> str:
    """A place in a list as clients hand it back."""
    return f"{place[0]}~{place[1]}"


def parse_cursor(text: str) -> tuple[int, str] | None:
    """The place that `cursor_of` wrote, or None when it did not write this."""
    number, separator, id = text.partition("~")
    if not separator or len(number) > 19 or not number.removeprefix("-").isdecimal() or not number.isascii():
        return None
    return int(number), id
