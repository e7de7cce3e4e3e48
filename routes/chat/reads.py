"""What GETs answer: from live state if it holds the answer, else from rows by one unit of work. A conversation that is
read often is activated (`System.read`).

A conversation that is not live has no writers, so that equal concurrent reads may share one (`service.read_shared`).
Once it is live, what memory does not hold is read for each caller separately: a caller who has just changed something
must not get the result of a read that began before.
"""

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from actors.chat import inbox, reading, rendering
from actors.chat.frames import Frames
from actors.chat.public import EventPage, ParticipantList, RevisionList
from actors.chat.reading import MessageSlice, StoredConversation
from actors.chat.state import State
from routes.call import Call
from routes.chat.parts import CHAT_KINDS
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.reply import then
from routes.service import Service

CONVERSATIONS = Cursor("conversations", tuple[int, str])
"""(updated at ms, id) of the last conversation of a page."""

_PARTICIPANTS = Cursor("participants", tuple[int, str, str])


def page(call: Call, conversation_id: str, query: MessageSlice) -> bytes | Coroutine[Any, Any, bytes]:
    """A MessagePage for the caller, encoded.

    Raises:
        ConversationNotFound: the caller is not in the conversation; also when it is awaited.
    """
    state = _live(call, conversation_id)
    if state is not None:
        known = _frames(call).page_for(
            state,
            call.user_id,
            before_ms=query.before_ms,
            limit=query.limit,
            include_archived=query.include_archived,
        )
        if known is not None:
            return known
    return _page_of_rows(call, conversation_id, query)


async def _page_of_rows(call: Call, conversation_id: str, query: MessageSlice) -> bytes:
    service = call.service
    live = service.system.peek(service.of(CHAT_KINDS).conversation, conversation_id) is not None
    read = service.database.read if live else service.read_shared
    stored = await read(reading.read_page, conversation_id, call.user_id, query)
    return rendering.message_page(_frames(call), stored)


async def live_page(service: Service, conversation_id: str, user_id: str, query: MessageSlice) -> bytes:
    """A MessagePage, encoded, as live streams show it: the viewer's own fields of the conversation are null.

    Raises:
        ConversationNotFound: the user is not in the conversation.
    """
    stored = await service.database.read(reading.read_page, conversation_id, user_id, query)
    frames = service.of(CHAT_KINDS).frames.seen_by(user_id)
    head = frames.conversation(stored.conversation.facts, None)
    return frames.page(head, stored.lines, stored.choices, has_more=stored.has_more)


async def message(call: Call, conversation_id: str, message_id: str) -> bytes:
    """A Message for the caller, encoded, read from rows.

    Raises:
        ConversationNotFound: the caller is not in the conversation.
        NotFound: it has no such message.
    """
    line, chosen = await call.service.database.read(
        reading.read_message, conversation_id, call.user_id, message_id
    )
    return _frames(call).message_chosen(line, chosen)


def conversation(call: Call, conversation_id: str) -> bytes | Coroutine[Any, Any, bytes]:
    """A Conversation for the caller, encoded.

    Raises:
        ConversationNotFound: the caller is not in it; also when it is awaited.
    """
    state = _live(call, conversation_id)
    if state is not None:
        return _frames(call).conversation_for(state, call.user_id)
    stored = call.service.read_shared(reading.read_conversation, conversation_id, call.user_id)
    return then(stored, partial(rendering.conversation, _frames(call)))


def conversations(call: Call, query: PageQuery) -> bytes | Coroutine[Any, Any, bytes]:
    """A ConversationList of the caller, encoded; from memory while an open socket of theirs keeps their inbox there.

    Among several nodes it is always read from rows: another node may have acknowledged a change of which the inbox on
    this node has not heard yet.

    Raises:
        BadQuery: the cursor is malformed.
    """
    chat, limit = call.service.of(CHAT_KINDS), query.limit
    after = CONVERSATIONS.place(query.cursor)
    show = partial(conversation_list, _frames(call), limit=limit)
    if call.service.others is None:
        state = call.service.system.peek_view(chat.inbox, call.user_id)
        known = None if state is None else inbox.listed(state, after, limit + 1)
        if known is not None:
            return show(known)
    return then(call.service.database.read(reading.read_list, call.user_id, after, limit + 1), show)


def conversation_list(frames: Frames, stored: Sequence[StoredConversation], limit: int) -> bytes:
    """A ConversationList, encoded: at most `limit` conversations, and no more bytes than a page may have.

    Args:
        stored: the conversations after the page before; `limit` + 1 of them, if there are as many.
    """
    items = rendering.conversations(frames, stored[:limit])
    page = CONVERSATIONS.page(stored, len(items), lambda one: one.place)
    return rendering.conversation_list(items, page.next_cursor)


async def participants(call: Call, conversation_id: str, query: PageQuery) -> ParticipantList:
    """A page of the members of a conversation.

    Raises:
        BadQuery: the cursor is malformed.
        ConversationNotFound: the caller is not in the conversation.
    """
    after = _PARTICIPANTS.place(query.cursor)
    stored = await call.service.database.read(
        reading.read_participants, conversation_id, call.user_id, after, query.limit + 1
    )
    page = _PARTICIPANTS.page(stored, query.limit, lambda one: one.place)
    shown = rendering.participants(_frames(call), page.rows)
    return ParticipantList(items=shown, next_cursor=page.next_cursor, has_more=page.has_more)


async def revisions(call: Call, conversation_id: str, message_id: str) -> RevisionList:
    """The revisions of a message.

    Raises:
        ConversationNotFound: the caller is not in the conversation.
        NotFound: it has no such message.
    """
    return await call.service.database.read(reading.read_revisions, conversation_id, call.user_id, message_id)


async def events(call: Call, conversation_id: str, since: int, limit: int) -> EventPage:
    """A page of the conversation's past events.

    Args:
        since: the offset after which the page begins, 0 and up.
        limit: most events of the page.

    Raises:
        ConversationNotFound: the caller is not in the conversation.
        EventsExpired: some of the events after `since` are no longer kept.
    """
    stored = await call.service.database.read(
        reading.read_events, conversation_id, call.user_id, since, limit
    )
    return rendering.event_page(_frames(call), stored)


def window_bytes(service: Service) -> int:
    """Bytes of the messages that all live conversations hold in memory; a gauge."""
    kind = service.of(CHAT_KINDS).conversation
    ids = [row.id for row in service.system.statistics() if row.kind == kind.name]
    states = [service.system.peek(kind, id) for id in ids]
    return sum(state.window.size_bytes for state in states if state is not None)


def _frames(call: Call) -> Frames:
    """The encoder that renders conversations and messages for the caller."""
    return call.service.of(CHAT_KINDS).frames.seen_by(call.user_id)


def _live(call: Call, conversation_id: str) -> State | None:
    service = call.service
    return service.system.read(service.of(CHAT_KINDS).conversation, conversation_id, call.now_ms)
