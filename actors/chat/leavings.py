"""Deleting conversations that all members have left: no user may read them again, so nothing of them is kept."""

from collections.abc import Callable

from actors.kernel.store import Store
from persistence.chat import leavings
from persistence.connection import Connection

AT_ONCE = 100


async def sweep_leavings(store: Store, is_live: Callable[[str], bool]) -> int:
    """Delete every conversation without members, in several transactions.

    Args:
        is_live: whether the actor of a conversation is live. Such a conversation is left for a later sweep: turns under
            way must not meet missing rows.

    Returns: how many conversations were deleted. Cancellation: the others go with the next sweep.

    Raises:
        PersistenceError: the database cannot be asked.
    """
    swept, after_id = 0, ""

    async def look(conn: Connection) -> list[str]:
        return await leavings.abandoned(conn, AT_ONCE, after_id=after_id)

    while ids := await store.read(look):
        after_id = ids[-1]
        for conversation_id in ids:
            if is_live(conversation_id):
                continue
            while await store.transact(leavings.drop_some, conversation_id):
                pass
            await store.transact(leavings.drop_rest, conversation_id)
            swept += 1
    return swept
