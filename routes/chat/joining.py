"""Reserves quota for users added to a group: before its turn; what the turn did not use is released after it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
import trio

from actors.chat import bounds
from actors.chat.bounds import Addition
from actors.chat.state import MAX_MEMBERS
from actors.errors import Refused
from persistence.errors import PersistenceError
from routes.call import Call
from routes.changes import change_by_itself
from routes.chat.parts import CHAT_KINDS

END_SECONDS = 2.0
"""Longest wait for the release of an unused reservation; one that is not released expires after a minute."""

log = structlog.get_logger()


@asynccontextmanager
async def room_for(call: Call, conversation_id: str, pointers: dict[str, str]) -> AsyncIterator[None]:
    """Count these users as members of the group while the block runs.

    Reserves nothing if they are more than a group can have, or if the caller is known not to be the group's owner: the
    turn refuses both.

    Args:
        conversation_id: the group.
        pointers: {id of a user to be added: JSON pointer to it in the body}.

    Raises:
        QuotaExceeded: one of them would be in too many groups, or the caller adds too many users today.
    """
    service = call.service
    state = service.system.peek(service.of(CHAT_KINDS).conversation, conversation_id)
    if not 0 < len(pointers) <= MAX_MEMBERS or (state is not None and state.owner_id != call.user_id):
        yield
        return
    addition = Addition(conversation_id, call.user_id, pointers, call.now_ms)
    ids = await change_by_itself(service, bounds.begin, addition, about=None)
    try:
        yield
    except Refused:
        await _end(call, addition, ids)
        raise
    # Reached only if the outcome is known; after any other exception the reservation expires after a minute.
    await _end(call, addition, ids)


async def _end(call: Call, addition: Addition, ids: list[str]) -> None:
    with trio.move_on_after(END_SECONDS, shield=True):
        try:
            await change_by_itself(call.service, bounds.end, addition, ids, about=None)
        except PersistenceError as failure:
            log.warning("room in a group was not given back", reason=type(failure).__name__)
