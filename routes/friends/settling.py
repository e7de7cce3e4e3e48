"""What is between two users, asked of the rows after a change of which nobody knows whether it was made."""

from typing import TYPE_CHECKING

from actors.chat.commands import TellBlock
from actors.friends.relations import Between, look
from actors.ids import UserId
from routes.connect.parting import part

if TYPE_CHECKING:
    from persistence.connection import Connection
    from routes.service import Service


async def settle(service: "Service", one_id: UserId, other_id: UserId) -> None:
    """Tell memory, live views and conversations how it is between two users.

    Raises:
        PersistenceError: the rows cannot be asked.
    """
    friends, turns = service.friends, list[int]()

    async def ask(conn: "Connection") -> Between:
        found = await look(conn, one_id, other_id)
        turns.append(friends.next_turn())
        return found

    found = await service.database.transact(ask)
    for holder_id, viewer_id in ((one_id, other_id), (other_id, one_id)):
        friends.visibility_changed(
            holder_id, viewer_id, found.visibilities.get(holder_id, "DEFAULT"), turns[0]
        )
        for id in found.conversation_ids:
            told = TellBlock(holder_id, viewer_id, holder_id in found.blockers)
            service.system.tell(service.chat.conversation, id, told)
        service.system.changed(service.notifications, holder_id, "notifications")
    service.streaks.forget(one_id, other_id)
    friends.changed(one_id, other_id)
    if found.blockers:
        await part(service, one_id, other_id)
