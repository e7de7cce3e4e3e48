"""What is between two users, as the rows have it: told to memory, live views and conversations after each change, and
asked once more where nobody knows whether a change was made."""

from actors.chat.commands import TellBlock
from actors.friends.relations import Between, look
from actors.ids import UserId
from actors.notifications import NOTIFICATIONS
from persistence.connection import Connection
from routes.chat.parts import CHAT_KINDS
from routes.connect.parting import part
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.service import Service


async def look_locked(
    service: Service, conn: Connection, one_id: UserId, other_id: UserId
) -> tuple[Between, int]:
    """What is between two users, and the turn of it; inside a transaction, after whatever it has changed."""
    found = await look(conn, one_id, other_id)
    return found, service.of(FRIENDS_LIVE).next_turn()


def tell(service: Service, one_id: UserId, other_id: UserId, found: Between, turn: int) -> None:
    """Tell everybody how it is between two users; to be called when the transaction has been committed.

    Args:
        found, turn: as `look_locked` returned them.
    """
    for blocker_id, target_id in ((one_id, other_id), (other_id, one_id)):
        for id in found.conversation_ids:
            told = TellBlock(blocker_id, target_id, blocker_id in found.blockers)
            service.system.tell(service.of(CHAT_KINDS).conversation, id, told)
    service.of(FRIENDS_LIVE).settled(one_id, other_id, found, turn)


async def reconcile(service: Service, one_id: UserId, other_id: UserId) -> None:
    """Ask the rows how it is between two users, and tell everybody.

    Raises:
        PersistenceError: the rows cannot be asked.
    """

    async def ask(conn: Connection) -> tuple[Between, int]:
        return await look_locked(service, conn, one_id, other_id)

    found, turn = await service.database.transact(ask)
    tell(service, one_id, other_id, found, turn)
    for id in (one_id, other_id):
        service.system.changed(NOTIFICATIONS, id, "notifications")
    service.of(STREAKS).forget(one_id, other_id)
    if found.blockers:
        await part(service, one_id, other_id)
