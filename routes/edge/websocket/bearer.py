"""The identity behind a live socket, from the credentials that opened it; the socket ends with them."""

from typing import NamedTuple

from routes.edge.principal import Principal


class Bearer(NamedTuple):
    """The user or server whose credentials opened a socket; without arguments, nobody, as on anonymous streams.

    Args:
        user_id: the user's id or the server's key; None for anonymous streams.
        expires_at_ms: when the token expires, epoch milliseconds; None for never.
        issued_at_s: when the token was issued, epoch seconds; None for tokens not revoked by time of issue.
        sid: the id of the session that the token belongs to (`UserPrincipal.sid`), or None.
    """

    user_id: str | None = None
    expires_at_ms: int | None = None
    issued_at_s: int | None = None
    sid: str | None = None


def bearer_of(principal: Principal | None) -> Bearer:
    """The bearer of a stream's socket.

    Args:
        principal: the stream's caller, None on public streams.
    """
    if principal is None:
        return Bearer()
    return Bearer(principal.key, principal.expires_at_ms, principal.issued_at_s, principal.sid)
