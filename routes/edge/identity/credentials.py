"""Where a request carries its credential, and where it must not (contract §2). Whether it is any good,
`identity/authenticator.py` says.

Users carry a bearer token in Authorization; browsers, which cannot set headers on a WebSocket, in
Sec-WebSocket-Protocol. A credential in the address is refused, even a valid one, where it would be worth
most.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import unquote_plus

from routes.edge.declare.query import MAX_FIELDS
from routes.edge.errors import BadQuery, BadServerCredentials, OriginRefused, TokenInQuery, Unauthenticated
from routes.edge.principal import ServerPrincipal, UserPrincipal

MAX_TOKEN_CHARACTERS = 8192
"""No token of ours or of a configured issuer is near this long."""

PROTOCOL = "svc.v1"
BEARER_PROTOCOL = "svc-bearer."

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+", re.ASCII)
_QUERY_NAMES = frozenset({"token", "access_token", "bearer", "authorization"})


class Authenticator(Protocol):
    """Verifies the credentials of users (`routes/people/authenticator.py`)."""

    def known(self, carried: bytes, now_ms: int) -> UserPrincipal | None:
        """The user that a credential speaks for, if that needs no waiting.

        Args:
            carried: `Bearer` and a token, as in an Authorization header.
            now_ms: epoch milliseconds.

        Raises:
            TokenExpired: it was valid once.
        """
        ...

    async def user(self, token: str) -> UserPrincipal:
        """The user that a token speaks for.

        Cancellation leaves nothing half done; a user who was made stays.

        Args:
            token: of well-formed characters, 1 to 8,192.

        Raises:
            Unauthenticated: it is not valid; which check failed is not said.
            TokenExpired: it was valid once.
        """
        ...


class ServerAuthenticator(Protocol):
    """Verifies the credentials of game servers (`routes/connect/authenticator.py`)."""

    def known(self, carried: bytes, server_id: bytes, now_ms: int) -> ServerPrincipal | None:
        """The server that a credential speaks for, if that needs no waiting.

        Args:
            carried: `Bearer` and a secret or token, as in an Authorization header.
            server_id: as in X-Server-Id.
            now_ms: epoch milliseconds.
        """
        ...

    async def server(self, token: str, server_id: str) -> ServerPrincipal:
        """The server that a secret or delegated token speaks for.

        Cancellation changes nothing.

        Args:
            token: of well-formed characters, 1 to 8,192.
            server_id: as in X-Server-Id.

        Raises:
            BadServerCredentials: the two do not belong together, or there is no such server.
            TokenExpired: the token was valid once.
        """
        ...

    def called(self, principal: ServerPrincipal, address: str, now_ms: int) -> None:
        """Told of each request of a verified server.

        Args:
            address: the client's, normalised.
            now_ms: epoch milliseconds.
        """
        ...


def server_bearer(authorization: bytes | None, server_id: bytes | None) -> tuple[str, str]:
    """(secret or token, server's id) of a request that a game server sends.

    Args:
        authorization: the value of Authorization, None without one.

    Raises:
        BadServerCredentials: one of the two headers is missing or malformed.
    """
    try:
        token = bearer(authorization)
    except Unauthenticated:
        token = None
    if token is None or server_id is None:
        raise BadServerCredentials
    return token, server_id.decode("latin-1")


def bearer(authorization: bytes | None) -> str | None:
    """The token of an Authorization header; None when there is no header.

    Raises:
        Unauthenticated: the header is there but is not one bearer token.
    """
    if authorization is None:
        return None
    scheme, _, token = authorization.decode("latin-1").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer":
        raise Unauthenticated
    return _well_formed(token)


def protocol_bearer(offered: Sequence[str]) -> tuple[str | None, str | None]:
    """(token, subprotocol to select) from what a WebSocket client offers (contract §2).

    `svc.v1` is selected where it is offered; the bearer protocol is echoed only when it is all there is,
    since a browser drops a connection whose server selects nothing.

    Args:
        offered: the entries of Sec-WebSocket-Protocol, in order.

    Raises:
        Unauthenticated: more than one token is offered, or none that could be one.
    """
    carriers = [entry for entry in offered if entry.startswith(BEARER_PROTOCOL)]
    if len(carriers) > 1:
        raise Unauthenticated
    selected = PROTOCOL if PROTOCOL in offered else next(iter(carriers), None)
    if not carriers:
        return None, selected
    token = carriers[0].removeprefix(BEARER_PROTOCOL)
    if "." not in token:
        # A JWT has dots; without them it is the JWT's text encoded once more.
        try:
            token = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii")
        except ValueError:
            raise Unauthenticated from None
    return _well_formed(token), selected


def _well_formed(token: str) -> str:
    if len(token) > MAX_TOKEN_CHARACTERS or _TOKEN.fullmatch(token) is None:
        raise Unauthenticated
    return token


def query_token(query: bytes) -> str | None:
    """The credential in an address, where a deployment allows it; None when there is none.

    Args:
        query: as it stands after the `?`.

    Raises:
        BadQuery: there are too many parameters.
        Unauthenticated: it cannot be a token.
    """
    for pair in _pairs(query):
        name, _, text = pair.partition(b"=")
        if unquote_plus(name.decode("latin-1")).lower() in _QUERY_NAMES:
            return _well_formed(unquote_plus(text.decode("latin-1")))
    return None


def refuse_query_token(query: bytes) -> None:
    """Refuse an address that carries a credential (contract §2).

    Args:
        query: as it stands after the `?`.

    Raises:
        BadQuery: there are too many parameters.
        TokenInQuery: one of its parameters is named like a credential.
    """
    for pair in _pairs(query):
        if unquote_plus(pair.partition(b"=")[0].decode("latin-1")).lower() in _QUERY_NAMES:
            raise TokenInQuery


def _pairs(query: bytes) -> Sequence[bytes]:
    if not query:
        return ()
    pairs = query.split(b"&", MAX_FIELDS)
    if len(pairs) > MAX_FIELDS:
        raise BadQuery("the query string is not valid")
    return pairs


def check_origin(origin: bytes | None, host: bytes | None, allowed: Sequence[str]) -> None:
    """Refuse a WebSocket that a page of a foreign origin asks for: browsers send it with the user's address
    alone.

    Args:
        origin: the Origin header; None for clients that are no browsers.
        host: the Host header.
        allowed: the configured origins, `*` for any.

    Raises:
        OriginRefused: it is neither configured nor our own.
    """
    if origin is None or "*" in allowed:
        return
    text = origin.decode("latin-1").lower()
    if text in allowed:
        return
    # A browser's origin is these three parts and nothing else (RFC 6454 §6.2); nothing needs to be taken apart.
    scheme, _, authority = text.partition("://")
    if scheme not in {"http", "https"} or host is None or authority != host.decode("latin-1").lower():
        raise OriginRefused
