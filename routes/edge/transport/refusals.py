"""Refusals by the server itself, before there is a request that the application could answer."""

from email.utils import formatdate
from http import HTTPStatus
from secrets import token_hex
from typing import NamedTuple

from routes.edge.errors import EdgeRefused
from routes.edge.outgoing import Headers
from routes.edge.problems import problem


class BadRequest(EdgeRefused):
    """The bytes are not HTTP, or not a WebSocket handshake (RFC 9112 §2.2, RFC 6455 §4.2.1)."""

    code, status_hint, sentence = "BAD_REQUEST", 400, "this is not a request that we can read"


class RequestTimeout(EdgeRefused):
    """The rest of the request did not arrive in time."""

    code, status_hint, sentence = "REQUEST_TIMEOUT", 408, "the request did not arrive in time"


class UpgradeRequired(EdgeRefused):
    """The client asks for an unknown version of WebSocket (RFC 6455 §4.2.2, RFC 9110 §15.5.22)."""

    code, status_hint, sentence = "UPGRADE_REQUIRED", 426, "only WebSocket version 13 is spoken here"

    def __init__(self) -> None:
        super().__init__(headers={"sec-websocket-version": "13", "upgrade": "websocket"})


class TooManyConnections(EdgeRefused):
    """The client's address has as many connections as are allowed (contract §3)."""

    code, status_hint, sentence = "RATE_LIMITED", 429, "too many connections from this address"

    def __init__(self) -> None:
        super().__init__(headers={"retry-after": "5"}, retryAfterMs=5000)


class HeadTooLarge(EdgeRefused):
    """Request line and headers exceed the bound (RFC 6585 §5)."""

    code, status_hint, sentence = "PAYLOAD_TOO_LARGE", 431, "the header fields are too large"


class CodingUnknown(EdgeRefused):
    """The body has an unknown transfer coding (RFC 9112 §6.1)."""

    code, status_hint, sentence = "BAD_REQUEST", 501, "the only transfer coding that is known here is chunked"


class Full(EdgeRefused):
    """The server has as many connections as it takes."""

    code, status_hint, sentence = "OVERLOADED", 503, "the server has as many connections as it takes"


class VersionNotSupported(EdgeRefused):
    """Another protocol than HTTP/1.0 or HTTP/1.1, such as HTTP/2 without TLS."""

    code, status_hint, sentence = "BAD_REQUEST", 505, "only HTTP/1.1 is spoken here"


# {status that Hypercorn's parser suggests: refusal}; every other status becomes a 400.
_BY_STATUS: dict[int, type[EdgeRefused]] = {431: HeadTooLarge, 505: VersionNotSupported}


def refusal_of_status(status: int) -> EdgeRefused:
    """The refusal for a status that Hypercorn's parser suggests; 400 for unknown ones."""
    return _BY_STATUS.get(status, BadRequest)()


class Farewell(NamedTuple):
    """A response that ends its connection: status, headers and the whole body."""

    status: int
    headers: Headers
    body: bytes


def farewell(refused: EdgeRefused) -> Farewell:
    """The last response of a connection, for a refusal."""
    request_id = token_hex(12)
    response = problem(refused, request_id)
    body = response.body if isinstance(response.body, bytes) else b""
    offers = any(name == b"upgrade" for name, _ in response.headers)
    own = [
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", request_id.encode()),
        # Upgrade is of this connection alone, and has to say so (RFC 9110 §7.8).
        (b"connection", b"close, upgrade" if offers else b"close"),
    ]
    return Farewell(response.status, response.headers + own, body)


def raw(refused: EdgeRefused) -> bytes:
    """The last response of a connection as bytes, for connections without a parser's state; with the date, as all
    others have (RFC 9110 §6.6.1).
    """
    response = farewell(refused)
    head = [b"HTTP/1.1 %d %s" % (response.status, HTTPStatus(response.status).phrase.encode())]
    head += [name + b": " + text for name, text in response.headers]
    head.append(b"date: " + formatdate(usegmt=True).encode("ascii"))
    return b"\r\n".join([*head, b"", response.body])
