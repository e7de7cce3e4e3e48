"""What GETs read: from the live state where it knows the answer, else by one unit of work. Nothing is
activated.

While a conversation sleeps nobody writes to it, so that equal reads under way at once may be one
(`service.reads`). Once it is live, memory answers, and what memory does not hold is read for each caller
anew: a read that began before somebody's change must not be handed to them after it.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar, cast

from actors.chat import frames, reading, rendering
from actors.chat.public import EventPage, ParticipantList, RevisionList
from actors.chat.reading import PageQuery
from actors.chat.state import State
from routes.edge.call import Call
from routes.edge.errors import BadQuery

Stored = TypeVar("Stored")


async def page(call: Call, conversation_id: str, query: PageQuery) -> bytes:
    """A MessagePage for the caller.

    Raises:
        ConversationNotFound: they are not in it.
    """
    chat = call.service.chat
    state = _live(call, conversation_id)
    if state is not None:
        known = chat.frames.page_for(
            state,
            call.user_id,
            before_ms=query.before_ms,
            limit=query.limit,
            include_archived=query.include_archived,
        )
        if known is not None:
            return known
    stored = await _read(call, state, reading.read_page, conversation_id, call.user_id, query)
    return rendering.message_page(chat.frames, stored)


async def live_page(call: Call, conversation_id: str, query: PageQuery) -> bytes:
    """A MessagePage as live streams show it: the viewer's own fields of the conversation are null.

    Raises:
        ConversationNotFound: the caller is not in it.
    """
    stored = await call.service.database.read(reading.read_page, conversation_id, call.user_id, query)
    made = call.service.chat.frames
    head = made.conversation(stored.conversation.facts, None)
    return frames.page(head, made.shown(stored.lines, stored.choices), has_more=stored.has_more)


async def conversation(call: Call, conversation_id: str) -> bytes:
    """A Conversation for the caller.

    Raises:
        ConversationNotFound: they are not in it.
    """
    chat = call.service.chat
    state = _live(call, conversation_id)
    if state is not None:
        return chat.frames.conversation_for(state, call.user_id)
    stored = await _read(call, None, reading.read_conversation, conversation_id, call.user_id)
    return rendering.conversation(chat.frames, stored)


async def conversations(call: Call, cursor: str | None, limit: int) -> bytes:
    """A ConversationList of the caller.

    Raises:
        BadQuery: the cursor is none of ours.
    """
    stored = await call.service.database.read(reading.read_list, call.user_id, _place(cursor), limit)
    return rendering.conversation_list(call.service.chat.frames, stored)


async def participants(call: Call, conversation_id: str, cursor: str | None, limit: int) -> ParticipantList:
    """Members of a conversation.

    Raises:
        BadQuery: the cursor is none of ours.
        ConversationNotFound: the caller is not in it.
    """
    stored = await call.service.database.read(
        reading.read_participants, conversation_id, call.user_id, _place(cursor), limit
    )
    return rendering.participant_list(call.service.chat.frames, stored)


async def revisions(call: Call, conversation_id: str, message_id: str) -> RevisionList:
    """Every text of a message.

    Raises:
        ConversationNotFound: the caller is not in it.
        NotFound: no such message in it.
    """
    return await call.service.database.read(reading.read_revisions, conversation_id, call.user_id, message_id)


async def events(call: Call, conversation_id: str, since: int, limit: int) -> EventPage:
    """What has happened after an offset.

    Raises:
        ConversationNotFound: the caller is not in it.
        EventsExpired: some of it is no longer kept.
    """
    stored = await call.service.database.read(
        reading.read_events, conversation_id, call.user_id, since, limit
    )
    return rendering.event_page(call.service.chat.frames, stored)


def _live(call: Call, conversation_id: str) -> State | None:
    return cast(State | None, call.service.system.peek(call.service.chat.conversation, conversation_id))


async def _read(
    call: Call, state: State | None, unit: Callable[..., Awaitable[Stored]], *args: object
) -> Stored:
    """What a unit reads; together with equal reads under way while the conversation sleeps."""
    read = partial(call.service.database.read, unit, *args)
    if state is not None:
        return await read()
    return cast(Stored, await call.service.reads.run((unit, *args), read))


def _place(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    place = rendering.parse_cursor(cursor)
    if place is None:
        raise BadQuery("query parameter cursor is not valid", parameter="cursor")
    return place
