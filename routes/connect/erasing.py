"""Removes the game servers and memberships of a user who is erased."""

from actors.connect.commands import ForgetUser, RemoveServer
from actors.errors import Conflict, NotFound
from actors.ids import UserId
from persistence.connect import members, servers
from routes.asking import ask_if_there
from routes.connect.parts import GAME_SERVERS
from routes.service import Service

SERVERS_MAX = 1_000
"""Most game servers of one user that are removed; any beyond become unclaimed, and are removed when they are silent."""

_TOO_LATE = (NotFound, Conflict)


async def let_go(service: Service, user_id: UserId) -> None:
    """Remove the user's servers, and the user from servers of others; safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: a server refused; call it again.
    """
    kind = service.of(GAME_SERVERS).server
    for server in await service.database.read(servers.of_owner, user_id, SERVERS_MAX):
        await ask_if_there(service, kind, server.server_id, RemoveServer(user_id), too_late=_TOO_LATE)
    for server_id in await service.database.read(members.servers_of, user_id):
        await ask_if_there(service, kind, server_id, ForgetUser(user_id), too_late=_TOO_LATE)
