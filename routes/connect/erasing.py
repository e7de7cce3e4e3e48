"""Removes the servers, memberships, tickets and sessions of a user who is erased, and the notes of their invites."""

from actors.connect.commands import AnyCommand, EndConsent, ForgetUser, RemoveServer
from actors.errors import Conflict, NotFound, Parked
from actors.ids import UserId
from actors.kernel.supervisor import Fault
from persistence.connect import invites, members, servers, sessions
from routes.asking import ask_if_there
from routes.changes import change_by_itself
from routes.connect.parts import GAME_SERVERS
from routes.service import Service

SERVERS_MAX = 1_000
"""Most game servers of one user that are removed; any beyond become unclaimed, and are removed when they are silent."""

AT_ONCE = 200
"""Servers on which a user plays that are read at a time."""

_TOO_LATE = (NotFound, Conflict)


async def let_go(service: Service, user_id: UserId) -> None:
    """Remove the user's servers, and the user from servers of others, as member and as player; safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: a server refused; call it again.
        Fault, Parked: a server failed, such as one that cannot be loaded; all others have let the user go.
    """
    kind = service.of(GAME_SERVERS).server
    faults: dict[str, Fault | Parked] = {}  # {server id: why it has not}

    async def ask(server_id: str, command: AnyCommand) -> None:
        if server_id in faults:
            return  # asked on and on, it would be parked
        try:
            await ask_if_there(service, kind, server_id, command, too_late=_TOO_LATE)
        except (Fault, Parked) as error:
            faults[server_id] = error

    for server in await service.database.read(servers.of_owner, user_id, SERVERS_MAX):
        await ask(server.server_id, RemoveServer(user_id))
    for server_id in await service.database.read(members.servers_of, user_id):
        await ask(server_id, ForgetUser(user_id))
    after_id = ""
    while server_ids := await service.database.read(sessions.consented, user_id, after_id, AT_ONCE):
        for server_id in server_ids:
            await ask(server_id, EndConsent(user_id))
        after_id = server_ids[-1]
    if faults:
        raise next(iter(faults.values()))


async def forget_user(service: Service, user_id: UserId) -> None:
    """Delete what the user has written to those whom they have invited; safe to repeat. Memory shows none of it.

    Raises:
        PersistenceError: the database failed; call it again.
    """
    await change_by_itself(service, invites.forget_inviter, user_id, about=None)
