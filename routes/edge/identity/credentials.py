"""Where a request may carry its credential, and where not (contract §2). Verification is up to the `Authenticator`s.

Users send a bearer token in Authorization, or in Sec-WebSocket-Protocol, because browsers cannot set headers on a
WebSocket. A credential in the address is refused, even a valid one, on the routes that declare so.
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
"""Longer tokens are refused; no token of the service or of a configured issuer is nearly as long."""

PROTOCOL = "svc.v1"
BEARER_PROTOCOL = "svc-bearer."

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+", re.ASCII)
_QUERY_NAMES = frozenset({"token", "access_token", "bearer", "authorization"})


class Authenticator(Protocol):
    """Verifies the credentials of users (`routes/users/authenticator.py`)."""

    def known(self, carried: bytes, now_ms: int) -> UserPrincipal | None:
        """The user that a credential identifies, if it was verified before; None if `user` has to be asked.

        Args:
            carried: the Authorization header, `Bearer` and a token.
            now_ms: epoch milliseconds.

        Raises:
            TokenExpired: the token was valid and has expired.
        """
        ...

    async def user(self, token: str) -> UserPrincipal:
        """The user that a token identifies; creates the account when this is the user's first token.

        Cancellation: the account may have been created.

        Args:
            token: 1 to 8,192 well-formed characters.

        Raises:
            Unauthenticated: the token is not valid; which check failed is not told.
            TokenExpired: the token was valid and has expired.
            UpstreamUnavailable: the keys of the token's issuer could not be fetched yet.
            PersistenceError: the user's rights are not in memory and cannot be read.
        """
        ...


class ServerAuthenticator(Protocol):
    """Verifies the credentials of game servers (`routes/connect/authenticator.py`)."""

    def known(self, carried: bytes, server_id: bytes, now_ms: int) -> ServerPrincipal | None:
        """The server that a credential identifies, if it was verified before; None if `server` has to be asked.

        Args:
            carried: the Authorization header, `Bearer` and a secret or token.
            server_id: the X-Server-Id header.
            now_ms: epoch milliseconds.
        """
        ...

    async def server(self, token: str, server_id: str) -> ServerPrincipal:
        """The server that a secret or delegated token identifies. Cancellation changes nothing.

        Args:
            token: 1 to 8,192 well-formed characters.
            server_id: the X-Server-Id header.

        Raises:
            BadServerCredentials: the two do not belong together, or there is no such server.
            TokenExpired: the token was valid and has expired.
            PersistenceError: the server is not in memory and cannot be read.
        """
        ...

    def called(self, principal: ServerPrincipal, address: str, now_ms: int) -> None:
        """Record a request of a verified server; called for every request.

        Args:
            principal: the server.
            address: the client's IP address, normalised.
            now_ms: epoch milliseconds.
        """
        ...


def server_bearer(authorization: bytes | None, server_id: bytes | None) -> tuple[str, str]:
    """(secret or token, id) of the request of a game server, or of another machine with a secret of its own.

    Args:
        authorization: the Authorization header, or None.
        server_id: the X-Server-Id header, or the one that the machine names itself in; None if it is missing.

    Raises:
        BadServerCredentials: one of the two headers is missing, or Authorization is malformed.
    """
    try:
        token = bearer(authorization)
    except Unauthenticated:
        token = None
    if token is None or server_id is None:
        raise BadServerCredentials
    return token, server_id.decode("latin-1")


def bearer(authorization: bytes | None) -> str | None:
    """The token in an Authorization header; None when there is no header.

    Raises:
        Unauthenticated: the header is not one well-formed bearer token.
    """
    if authorization is None:
        return None
    scheme, _, token = authorization.decode("latin-1").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer":
        raise Unauthenticated
    return _well_formed(token)


def as_header(token: str) -> bytes:
    """The value of the Authorization header that carries a token."""
    return b"Bearer " + token.encode("latin-1")


def protocol_bearer(offered: Sequence[str]) -> tuple[str | None, str | None]:
    """(token, subprotocol to select) from what a WebSocket client offers; None for either that is missing (contract
    §2).

    `svc.v1` is selected if it is offered; otherwise the bearer protocol is echoed, since browsers drop a connection
    whose server selects none of the offered protocols.

    Args:
        offered: the entries of Sec-WebSocket-Protocol, in order.

    Raises:
        Unauthenticated: more than one token is offered, or a malformed one.
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
    """The credential in an address, for deployments that allow it; None when there is none.

    Args:
        query: the raw text after the `?`.

    Raises:
        BadQuery: there are too many parameters.
        Unauthenticated: the credential is not well-formed.
    """
    for pair in _pairs(query):
        name, _, text = pair.partition(b"=")
        if unquote_plus(name.decode("latin-1")).lower() in _QUERY_NAMES:
            return _well_formed(unquote_plus(text.decode("latin-1")))
    return None


def refuse_query_token(query: bytes) -> None:
    """Refuse an address that carries a credential (contract §2).

    Args:
        query: the raw text after the `?`.

    Raises:
        BadQuery: there are too many parameters.
        TokenInQuery: a parameter has the name of a credential.
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
    """Refuse a WebSocket requested by a page of a foreign origin, which a browser sends like any other.

    Args:
        origin: the Origin header; None for clients other than browsers.
        host: the Host header.
        allowed: the configured origins, `*` for any.

    Raises:
        OriginRefused: the origin is neither configured nor the service's own.
    """
    if origin is None or "*" in allowed:
        return
    text = origin.decode("latin-1").lower()
    if text in allowed:
        return
    # A browser's origin is scheme, host and port, and nothing else (RFC 6454 §6.2), so the rest is compared whole.
    scheme, _, authority = text.partition("://")
    if scheme not in {"http", "https"} or host is None or authority != host.decode("latin-1").lower():
        raise OriginRefused
