"""Whether the caller belongs to a game server: its owner, or the server itself."""

from actors.errors import Forbidden, NotFound
from actors.ids import Uuid
from persistence.connect.rows import ServerRow
from routes.edge.call import Call
from routes.edge.principal import ServerPrincipal


async def owner_of(call: Call, server_id: Uuid) -> ServerRow:
    """Guard: passes who has claimed the server; decided again in the owner's turn.

    Raises:
        NotFound: there is no such server, or it is somebody else's: both look the same.
    """
    row = await call.service.connect.credentials.of(server_id)
    if row is None or row.owner_id != call.user_id:
        raise NotFound
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
