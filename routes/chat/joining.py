"""Room for users who are added to a group: taken before its turn, and given back after it where it was not used."""

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
"""How long an addition waits to give back what it has not used; what is not given back counts for a minute more."""

log = structlog.get_logger()


@asynccontextmanager
async def room_for(call: Call, conversation_id: str, pointers: dict[str, str]) -> AsyncIterator[None]:
    """While the block runs these users count as members of the group.

    Args:
        pointers: {user id: JSON pointer} of those to be added. Nothing is asked for more than a group can have, nor for
            somebody who is not its owner: the turn refuses them.

    Raises:
        QuotaExceeded: one of them would be in too many groups, or the caller brings too many today.
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
    # Where the outcome is not known they go on to count, for a minute.
    await _end(call, addition, ids)


async def _end(call: Call, addition: Addition, ids: list[str]) -> None:
    with trio.move_on_after(END_SECONDS, shield=True):
        try:
            await change_by_itself(call.service, bounds.end, addition, ids, about=None)
        except PersistenceError as failure:
            log.warning("room in a group was not given back", reason=type(failure).__name__)
