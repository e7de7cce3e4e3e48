"""Whose live socket it is, as the credentials said that opened it; the socket ends with them."""

from typing import NamedTuple

from routes.edge.principal import Principal


class Bearer(NamedTuple):
    """Who bears the credentials of a socket; without arguments nobody, as on anonymous streams.

    Args:
        user_id: the user's id or the server's key; None for anonymous streams.
        expires_at_ms: when the token ends, epoch milliseconds; None for never.
        issued_at_s: when the token was issued, epoch seconds; None for tokens not revoked by time of issue.
        sid: the session (`UserPrincipal.sid`) whose token it was, or None.
    """

    user_id: str | None = None
    expires_at_ms: int | None = None
    issued_at_s: int | None = None
    sid: str | None = None


def bearer_of(principal: Principal | None) -> Bearer:
    """Whose the socket of a stream is.

    Args:
        principal: the stream's caller, None on public streams.
    """
    if principal is None:
        return Bearer()
    return Bearer(principal.key, principal.expires_at_ms, principal.issued_at_s, principal.sid)
