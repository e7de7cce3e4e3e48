"""Whether the caller belongs to a game server: its owner, a member with the right capability, or the server itself."""

from collections.abc import Callable, Coroutine
from typing import Any

from actors.connect import rows
from actors.connect.capabilities import CAPABILITIES, capabilities_of, held_by, require_held
from actors.connect.state import State
from actors.errors import Forbidden, NotFound
from actors.ids import Uuid
from persistence.connect import members
from persistence.connect.rows import ServerRow
from persistence.connection import Connection
from routes.call import Call
from routes.connect.parts import GAME_SERVERS
from routes.edge.principal import ServerPrincipal


async def owner_of(call: Call, server_id: Uuid) -> ServerRow:
    """Guard: passes who has claimed the server; decided again in the owner's turn.

    Raises:
        NotFound: there is no such server, or it is somebody else's: both look the same.
        Forbidden: a member, who knows of it.
    """
    row = await call.service.of(GAME_SERVERS).credentials.of(server_id)
    if row is None:
        raise NotFound
    if row.owner_id != call.user_id:
        await belongs(call, server_id)
        raise Forbidden("only for the server's owner")
    return row


def itself(call: Call, server_id: Uuid) -> ServerPrincipal:
    """Guard: passes the server that the path names.

    Raises:
        NotFound: it is another one.
    """
    if call.server.server_id != server_id:
        raise NotFound
    return call.server


def require_scope(server: ServerPrincipal, scope: str) -> None:
    """Pass a server's secret, or a delegated token that was made for this.

    Raises:
        Forbidden: with `meta.permission`.
    """
    if server.scopes is not None and scope not in server.scopes:
        raise Forbidden(f"this token is not for {scope}", permission=scope)


def require_secret(server: ServerPrincipal) -> None:
    """Pass a server's secret alone: a token makes no tokens.

    Raises:
        Forbidden: it came with a delegated token.
    """
    if server.scopes is not None:
        raise Forbidden("only with the server's own secret")


def by_secret(call: Call, server_id: Uuid) -> ServerPrincipal:
    """Guard: passes the server that the path names, with its secret alone.

    Raises:
        NotFound: it is another one.
        Forbidden: it came with a delegated token.
    """
    require_secret(itself(call, server_id))
    return call.server


def itself_for(scope: str) -> Callable[[Call, Uuid], ServerPrincipal]:
    """Guard: passes the server that the path names, with its secret or a token for this scope."""

    def guard(call: Call, server_id: Uuid) -> ServerPrincipal:
        """Pass, or refuse.

        Raises:
            NotFound: it is another one.
            Forbidden: with `meta.permission`.
        """
        require_scope(itself(call, server_id), scope)
        return call.server

    return guard


def may(capability: str) -> Callable[[Call, Uuid], Coroutine[Any, Any, None]]:
    """Guard: passes the server that the path names, and users who may do this with it; decided again in the turn.

    Args:
        capability: also the scope that a delegated token must be for.
    """

    async def guard(call: Call, server_id: Uuid) -> None:
        """Pass, or refuse.

        Raises:
            NotFound: another server, a stranger, or no such server: all look the same.
            Forbidden: with `meta.permission`; also a server that wants to write, and that nobody answers for yet.
        """
        if isinstance(call.principal, ServerPrincipal):
            server = itself(call, server_id)
            require_scope(server, capability)
            if server.owner_id is None and capability.endswith(".write"):
                raise Forbidden("somebody must claim this server first", permission=capability)
            return
        require_held(await held_in(call, server_id), capability)

    return guard


async def belongs(call: Call, server_id: Uuid) -> None:
    """Guard: passes the owner and every member, whatever they may do.

    Raises:
        NotFound: a stranger, or no such server: both look the same.
    """
    if not await held_in(call, server_id):
        raise NotFound


async def held_in(call: Call, server_id: Uuid) -> frozenset[str]:
    """The capabilities of the calling user: from memory, else by one indexed read; none where there is no server.

    Never loads the server: strangers are refused by this too.
    """
    service, user_id = call.service, call.user_id
    row = service.of(GAME_SERVERS).credentials.peek(server_id)
    if row is not None and row.owner_id == user_id:
        return CAPABILITIES
    state = service.system.peek(service.of(GAME_SERVERS).server, server_id)
    if state is not None:
        return frozenset() if state.removed else capabilities_of(state, user_id)
    return held_by(user_id, await service.database.read(members.standing, server_id, user_id))


def caller_of(call: Call) -> str | None:
    """The user who calls, or None for a server itself: as commands name who asks."""
    return None if isinstance(call.principal, ServerPrincipal) else call.user_id


async def state_of(call: Call, server_id: Uuid) -> State:
    """The server as it is now: from its live owner, else from its rows.

    Raises:
        NotFound: there is no such server.
    """
    service = call.service
    state = service.system.peek(service.of(GAME_SERVERS).server, server_id)
    if state is None:
        state = await service.reads.run(
            ("server", server_id), lambda: service.database.read(_load, server_id)
        )
    if not isinstance(state, State) or state.removed:
        raise NotFound
    return state


async def _load(conn: Connection, server_id: str) -> State | None:
    return await rows.load(conn, server_id)
