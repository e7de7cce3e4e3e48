"""Deleting conversations that all members have left: no user may read them again, so nothing of them is kept."""

from actors.kernel.store import Store
from persistence.chat import leavings


async def drop(store: Store, conversation_id: str) -> None:
    """Delete a conversation without members, in several transactions. Its actor must not be live: turns under way must
    not meet missing rows.

    Cancellation: the rest goes when it is called again.

    Raises:
        PersistenceError: the database cannot be asked, or refuses.
    """
    while await store.transact(leavings.drop_some, conversation_id):
        pass
    await store.transact(leavings.drop_rest, conversation_id)
