"""What requests read when the conversation is not live: units of work for `Database.read`.

Membership is asked in the same unit; a stranger gets `ConversationNotFound`, whatever exists. What comes back
is in the terms of `state.py`; `rendering.py` makes bytes of it, with presence as it is then.
"""

from collections.abc import Sequence

import msgspec

from actors.chat.deltas import Journaled
from actors.chat.events import AnyEvent
from actors.chat.public import Revision, RevisionList
from actors.chat.records import decode, page_line_of
from actors.chat.state import Facts, MemberCounts
from actors.chat.stored import facts_of_row, standing_of_row
from actors.chat.window import Line
from actors.errors import ConversationNotFound, EventsExpired, NotFound
from actors.pages import MAX_PAGE_BYTES, fitting
from actors.time import iso
from persistence.chat import conversations, members, messages, polls
from persistence.chat.rows import PageRow
from persistence.connection import Connection
from persistence.journal import journal
from persistence.journal.journal import JournalRow

_EVENTS_AT_ONCE = 64

_events = msgspec.msgpack.Decoder(AnyEvent)


class Membership(msgspec.Struct, frozen=True):
    """The facts that a route's guard decides on, for a caller who is in the conversation.

    Args:
        kind: `direct` or `group`.
        owner_id: the owner of a group; None for a direct conversation.
    """

    kind: str
    owner_id: str | None


class MessageSlice(msgspec.Struct, frozen=True):
    """Which messages a page is to have.

    Args:
        limit: how many messages at most, 1 to 120.
        before_ms: the page ends before this moment, epoch milliseconds; None for the newest messages.
        include_archived: whether archived messages are merged in.
    """

    limit: int
    before_ms: int | None = None
    include_archived: bool = True


class StoredConversation(msgspec.Struct, frozen=True):
    """A conversation as read from rows, and the membership of the user who asked."""

    facts: Facts
    own: MemberCounts

    @property
    def place(self) -> tuple[int, str]:
        """The key by which lists are sorted, the greatest first."""
        return self.facts.updated_at_ms, self.facts.id


class StoredPage(msgspec.Struct, frozen=True):
    """A page from rows, oldest message first; `choices` are {message id: option ids} of the viewer's votes."""

    conversation: StoredConversation
    lines: tuple[Line, ...]
    choices: dict[str, tuple[str, ...]]
    has_more: bool


class StoredParticipant(msgspec.Struct, frozen=True):
    """A member of a conversation.

    Args:
        spoke: whether they have made the conversation, or written in it.
        place: the key by which the list is sorted, the smallest first; it holds the id of the user who leads the list.
    """

    id: str
    name: str
    spoke: bool
    place: tuple[int, str, str]


class StoredEvents(msgspec.Struct, frozen=True):
    """Journaled events, and what is needed to show them."""

    facts: Facts
    epoch: str
    rows: tuple[tuple[JournalRow, Journaled], ...]
    has_more: bool


async def read_membership(conn: Connection, conversation_id: str, user_id: str) -> Membership | None:
    """Whether the user is in this conversation; None when not, or when there is none."""
    if not await members.is_member(conn, conversation_id, user_id):
        return None
    row = await conversations.read(conn, conversation_id)
    return None if row is None else Membership(row.kind, row.owner_id)


async def read_conversation(conn: Connection, conversation_id: str, user_id: str) -> StoredConversation:
    """One conversation for one member.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
    """
    rows = await conversations.named(conn, user_id, [conversation_id])
    if not rows:
        raise ConversationNotFound
    return StoredConversation(facts_of_row(rows[0]), standing_of_row(rows[0]))


async def read_page(conn: Connection, conversation_id: str, user_id: str, query: MessageSlice) -> StoredPage:
    """A page of messages for one member.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
    """
    conversation = await read_conversation(conn, conversation_id, user_id)
    rows = await messages.page(
        conn,
        conversation_id,
        before_ms=messages.LAST_MS if query.before_ms is None else query.before_ms,
        limit=query.limit + 1,
        include_archived=query.include_archived,
        max_bytes=MAX_PAGE_BYTES,
    )
    shown = fitting(rows[: query.limit], _record_bytes)
    lines = tuple(page_line_of(row) for row in reversed(shown))
    polled = [line.id for line in lines if line.has_poll]
    choices = await polls.choices(conn, polled, user_id) if polled else {}
    return StoredPage(conversation, lines, choices, len(rows) > len(shown))


async def read_message(
    conn: Connection, conversation_id: str, user_id: str, message_id: str
) -> tuple[Line, tuple[str, ...]]:
    """One message, live or archived, and what the user has chosen in its poll.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
        NotFound: the conversation has no such message.
    """
    row = await _message(conn, conversation_id, user_id, message_id)
    chosen = await polls.choices(conn, [row.id], user_id) if row.has_poll else {}
    return page_line_of(row), chosen.get(row.id, ())


async def read_list(
    conn: Connection, user_id: str, after: tuple[int, str] | None, limit: int
) -> Sequence[StoredConversation]:
    """A user's conversations, newest activity first.

    Args:
        after: the place of the last conversation already seen; None from the start.
        limit: how many to read at most.
    """
    rows = await conversations.list_of(conn, user_id, after=after or conversations.FIRST_PAGE, limit=limit)
    return [StoredConversation(facts_of_row(row), standing_of_row(row)) for row in rows]


async def read_participants(
    conn: Connection, conversation_id: str, user_id: str, after: tuple[int, str, str] | None, limit: int
) -> Sequence[StoredParticipant]:
    """Members of a conversation, for one of them: the owner, then the longest-standing.

    Whoever owned it at the first page leads the list to its end: who becomes the owner meanwhile stays in their place,
    or a walk would miss them.

    Args:
        after: the place of the last one already seen; None from the start.
        limit: how many to read at most.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
    """
    membership = await read_membership(conn, conversation_id, user_id)
    if membership is None:
        raise ConversationNotFound
    first = membership.owner_id or "" if after is None else after[2]
    seen = None if after is None else after[:2]
    rows = await members.page(conn, conversation_id, first, after=seen, limit=limit)
    return [
        StoredParticipant(id, name, spoke, (joined_at_ms, "" if joined_at_ms < 0 else id, first))
        for id, name, joined_at_ms, spoke in rows
    ]


async def read_revisions(
    conn: Connection, conversation_id: str, user_id: str, message_id: str
) -> RevisionList:
    """The texts that a message had and has: if there are many, the first and the newest 50; none of a deleted message.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
        NotFound: the conversation has no such message.
    """
    row = await _message(conn, conversation_id, user_id, message_id)
    message = decode(row.record)
    if message.deleted_at is not None:
        return RevisionList(items=())
    rows = await messages.revisions(conn, message_id, messages.REVISIONS_KEPT)
    # A text that was replaced between the two reads stands in both.
    past = [
        Revision(
            revision=row.revision,
            content=row.content,
            edited_at=iso(row.edited_at_ms),
            editor_id=row.editor_id,
        )
        for row in rows
        if row.revision < message.revision
    ]
    present = Revision(
        revision=message.revision,
        content=message.content,
        edited_at=message.edited_at or message.created_at,
        editor_id=message.sender_id,
    )
    return RevisionList(items=(*past, present))


async def read_events(
    conn: Connection, conversation_id: str, user_id: str, since: int, limit: int
) -> StoredEvents:
    """The journaled events after an offset, oldest first (contract §4).

    Args:
        since: the offset after which the page begins.
        limit: how many events at most.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
        EventsExpired: some of the events after `since` are no longer kept.
    """
    conversation = await read_conversation(conn, conversation_id, user_id)
    head = await journal.read_head(conn, conversations.KIND, conversation_id)
    if head is None:
        raise ConversationNotFound
    after = max(since, 0)
    rows = await _page_of_events(conn, conversation_id, after, limit + 1)
    if after < head.seq and (not rows or rows[0].seq != after + 1):
        raise EventsExpired
    shown = fitting(rows[:limit], _event_bytes)
    decoded = tuple((row, _journaled(row)) for row in shown)
    return StoredEvents(conversation.facts, head.epoch, decoded, len(rows) > len(shown))


async def _page_of_events(conn: Connection, conversation_id: str, after: int, limit: int) -> list[JournalRow]:
    """At most `limit` events, and few more than a page may have bytes: large ones are not all read to be dropped."""
    rows: list[JournalRow] = []
    taken_bytes = 0
    while len(rows) < limit and taken_bytes <= MAX_PAGE_BYTES:
        several = min(limit - len(rows), _EVENTS_AT_ONCE)
        more = await journal.read_events(
            conn, conversations.KIND, conversation_id, after=rows[-1].seq if rows else after, limit=several
        )
        rows += more
        taken_bytes += sum(map(_event_bytes, more))
        if len(more) < several:
            break
    return rows


async def _message(conn: Connection, conversation_id: str, user_id: str, message_id: str) -> PageRow:
    if not await members.is_member(conn, conversation_id, user_id):
        raise ConversationNotFound
    row = await messages.one(conn, conversation_id, message_id)
    if row is None:
        raise NotFound("message not found")
    return row


def _event_bytes(row: JournalRow) -> int:
    return len(row.event)


def _record_bytes(row: PageRow) -> int:
    return len(row.record)


def _journaled(row: JournalRow) -> Journaled:
    event = _events.decode(row.event)
    if not isinstance(event, Journaled):
        raise TypeError(f"{type(event).__name__} does not belong into the journal")
    return event
