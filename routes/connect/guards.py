"""Guards of game servers: the caller is the owner, a member with a capability, or the server itself."""

from collections.abc import Callable, Coroutine
from typing import Any

from actors.connect import loading
from actors.connect.capabilities import CAPABILITIES, capabilities_of, held_by, require_held
from actors.connect.state import State
from actors.errors import Forbidden, NotFound
from actors.ids import Uuid
from persistence.connect import members
from persistence.connect.rows import ServerRow
from routes.call import Call
from routes.connect.parts import GAME_SERVERS
from routes.edge.principal import ServerPrincipal


async def owner_of(call: Call, server_id: Uuid) -> ServerRow:
    """Guard: requires that the caller owns the server; checked again in the server's turn.

    Raises:
        NotFound: there is no such server, or the caller does not belong to it: both are answered alike.
        Forbidden: the caller is a member, but not the owner.
    """
    row = await call.service.of(GAME_SERVERS).credentials.of(server_id)
    if row is None:
        raise NotFound
    if row.owner_id != call.user_id:
        await belongs(call, server_id)
        raise Forbidden("only for the server's owner")
    return row


def itself(call: Call, server_id: Uuid) -> ServerPrincipal:
    """Guard: requires that the calling server is the one in the path.

    Raises:
        NotFound: it is another server.
    """
    if call.server.server_id != server_id:
        raise NotFound
    return call.server


def require_scope(server: ServerPrincipal, scope: str) -> None:
    """Require the server's secret, or a delegated token with this scope.

    Args:
        scope: one of `SCOPES`, such as `server.commands.write`.

    Raises:
        Forbidden: with `meta.permission`: the token lacks the scope.
    """
    if server.scopes is not None and scope not in server.scopes:
        raise Forbidden(f"this token is not for {scope}", permission=scope)


def require_secret(server: ServerPrincipal) -> None:
    """Require the server's secret; a delegated token does not suffice, so that a token cannot make tokens.

    Raises:
        Forbidden: the server came with a delegated token.
    """
    if server.scopes is not None:
        raise Forbidden("only with the server's own secret")


def by_secret(call: Call, server_id: Uuid) -> ServerPrincipal:
    """Guard: requires that the calling server is the one in the path, and came with its secret.

    Raises:
        NotFound: it is another server.
        Forbidden: it came with a delegated token.
    """
    require_secret(itself(call, server_id))
    return call.server


def itself_for(scope: str) -> Callable[[Call, Uuid], ServerPrincipal]:
    """Make a guard that requires the server in the path, with its secret or a delegated token with this scope."""

    def guard(call: Call, server_id: Uuid) -> ServerPrincipal:
        """Guard.

        Raises:
            NotFound: it is another server.
            Forbidden: with `meta.permission`: the token lacks the scope.
        """
        require_scope(itself(call, server_id), scope)
        return call.server

    return guard


def may(capability: str) -> Callable[[Call, Uuid], Coroutine[Any, Any, None]]:
    """Make a guard that requires a capability, of a user or of the server in the path; checked again in the turn.

    Args:
        capability: the user's capability, and the scope that a server's delegated token needs.
    """

    async def guard(call: Call, server_id: Uuid) -> None:
        """Guard.

        Raises:
            NotFound: the caller is another server or a user who does not belong to it, or there is no such server:
                all are answered alike.
            Forbidden: with `meta.permission`; also a server that wants to write and is not claimed yet.
        """
        if isinstance(call.principal, ServerPrincipal):
            server = itself(call, server_id)
            require_scope(server, capability)
            if server.owner_id is None and capability.endswith(".write"):
                raise Forbidden("this server has to be claimed first", permission=capability)
            return
        require_held(await held_in(call, server_id), capability)

    return guard


async def belongs(call: Call, server_id: Uuid) -> None:
    """Guard: requires that the caller is the owner or a member, with any capabilities.

    Raises:
        NotFound: the caller is neither, or there is no such server: both are answered alike.
    """
    if not await held_in(call, server_id):
        raise NotFound


async def held_in(call: Call, server_id: Uuid) -> frozenset[str]:
    """The capabilities of the calling user, from memory or by one indexed read; empty if there is no such server.

    Never activates the server, since users who do not belong to it may call this too.
    """
    service, user_id = call.service, call.user_id
    row = service.of(GAME_SERVERS).credentials.peek(server_id)
    if row is not None and row.owner_id == user_id:
        return CAPABILITIES
    state = call.peek(service.of(GAME_SERVERS).server, server_id)
    if state is not None:
        return frozenset() if state.removed else capabilities_of(state, user_id)
    return held_by(user_id, await service.database.read(members.standing, server_id, user_id))


def caller_of(call: Call) -> str | None:
    """The calling user's id, or None if a server calls."""
    return None if isinstance(call.principal, ServerPrincipal) else call.user_id


async def state_of(call: Call, server_id: Uuid) -> State:
    """The server's current state, from its live actor or from rows.

    Raises:
        NotFound: there is no such server.
    """
    service = call.service
    state = service.system.peek(service.of(GAME_SERVERS).server, server_id)
    if state is None:
        state = await service.read_shared(loading.load, server_id)
    if state is None or state.removed:
        raise NotFound
    return state
