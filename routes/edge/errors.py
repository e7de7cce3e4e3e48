"""The refusals of the edge, beside those of the rules (`actors/errors.py`); `problems.py` makes answers of them.

Refused (actors/errors.py)
└── EdgeRefused                  abstract; may carry response headers
    ├── MalformedJson            400  the body is not JSON that is accepted here
    │   └── CutShort             400  the client went away
    ├── BadQuery                 400  a query parameter or request header is not of its type
    ├── TokenInQuery             400  a credential was put into the address
    ├── Unauthenticated          401  no usable credentials
    │   ├── TokenExpired         401
    │   └── BadServerCredentials 401
    ├── OriginRefused            403  a browser page of a foreign origin asked for a WebSocket
    ├── RouteNotFound            404
    ├── MethodNotAllowed         405  carries Allow
    ├── IdempotencyInProgress    409  an earlier request with the same key is not answered yet
    ├── PayloadTooLarge          413
    ├── WebsocketOnly            426  carries Upgrade
    ├── UnsupportedMedia         415
    ├── RangeNotSatisfiable      416
    ├── IdempotencyKeyReused     422  the same key came with another body
    ├── RateLimited              429  carries Retry-After
    ├── DatabaseDown             503  carries Retry-After
    ├── TooMuchUnread            503  carries Retry-After
    ├── TooMuchArriving          503  carries Retry-After
    ├── UpstreamUnavailable      503  carries Retry-After
    ├── Internal                 500  a fault of the service; the cause is only logged
    └── in transport/refusals.py, before there is a request: BadRequest 400, RequestTimeout 408,
        UpgradeRequired 426, TooManyConnections 429, HeadTooLarge 431, CodingUnknown 501, Full 503,
        VersionNotSupported 505
"""

from actors.errors import Refused


class EdgeRefused(Refused):
    """Base of refusals that exist in HTTP only, not in the rules of a domain.

    Args:
        message: the text for the client; None for the class's `sentence`.
        headers: response headers beside those of every problem, names in lower case.
        meta: the fields of the problem's `meta`.

    Raises:
        TypeError: this class itself is instantiated.
    """

    def __init__(
        self, message: str | None = None, *, headers: dict[str, str] | None = None, **meta: object
    ) -> None:
        if type(self) is EdgeRefused:
            raise TypeError("EdgeRefused is abstract: raise one of its children")
        self.headers = headers or {}
        super().__init__(message, **meta)


class MalformedJson(EdgeRefused):
    """The body is missing, is not JSON, or is JSON that is not accepted (too deep, too much, a member named twice)."""

    code, status_hint, sentence = "MALFORMED_JSON", 400, "the body is not well-formed JSON"


class CutShort(MalformedJson):
    """The client disconnected before its request was complete, so that the answer reaches no client."""

    sentence = "the request ended early"


class BadQuery(EdgeRefused):
    """A query parameter or a request header does not have the declared form."""

    code, status_hint, sentence = "BAD_QUERY", 400, "a query parameter is not valid"


def bad_parameter(parameter: str, what: str = "is not valid") -> BadQuery:
    """The refusal of a query parameter.

    Args:
        parameter: the parameter's name in the address.
        what: what is wrong, as a predicate such as `is too long`.
    """
    return BadQuery(f"query parameter {parameter} {what}", parameter=parameter)


class TokenInQuery(EdgeRefused):
    """The address holds a credential. Refused even when it is valid, since addresses end up in logs and referrers."""

    code, status_hint, sentence = "TOKEN_IN_QUERY", 400, "credentials do not belong into the address"


class Unauthenticated(EdgeRefused):
    """No credentials, or none that are accepted; the client is not told which."""

    code, status_hint, sentence = "UNAUTHENTICATED", 401, "valid credentials are required"


class TokenExpired(Unauthenticated):
    """The token was valid and has expired."""

    code, sentence = "TOKEN_EXPIRED", "the token has expired"


class BadServerCredentials(Unauthenticated):
    """The server's id and secret do not belong together."""

    code, sentence = "BAD_SERVER_CREDENTIALS", "the server credentials are not valid"


class OriginRefused(EdgeRefused):
    """A browser page of an origin that is not configured asked for a WebSocket (contract §2)."""

    code, status_hint, sentence = "FORBIDDEN", 403, "this origin may not open a WebSocket here"


class RouteNotFound(EdgeRefused):
    """No declared route has this path."""

    code, status_hint, sentence = "ROUTE_NOT_FOUND", 404, "there is no such route"


class MethodNotAllowed(EdgeRefused):
    """The path exists, but not with this method; Allow lists the methods."""

    code, status_hint, sentence = "METHOD_NOT_ALLOWED", 405, "this route does not take that method"


class WebsocketOnly(EdgeRefused):
    """The path is a WebSocket's and the request was not a handshake (RFC 9110 §15.5.22)."""

    code, status_hint, sentence = "UPGRADE_REQUIRED", 426, "this route is a WebSocket"

    def __init__(self) -> None:
        super().__init__(headers={"upgrade": "websocket", "connection": "upgrade"})


class IdempotencyInProgress(EdgeRefused):
    """A request with the same Idempotency-Key has not been answered yet."""

    code, status_hint, sentence = "IDEMPOTENCY_IN_PROGRESS", 409, "the same request is being worked on"


class PayloadTooLarge(EdgeRefused):
    """The body, or its declared length, is larger than this route takes."""

    code, status_hint, sentence = "PAYLOAD_TOO_LARGE", 413, "the body is too large"


class UnsupportedMedia(EdgeRefused):
    """The body has a media type that this route does not take, or is compressed."""

    code, status_hint, sentence = "UNSUPPORTED_MEDIA", 415, "the body must be application/json"


class RangeNotSatisfiable(EdgeRefused):
    """The requested range lies outside the file (RFC 9110 §15.5.17); Content-Range tells its length."""

    code, status_hint, sentence = "RANGE_NOT_SATISFIABLE", 416, "the range lies outside the file"


class IdempotencyKeyReused(EdgeRefused):
    """The Idempotency-Key was used before, with another body."""

    code, status_hint, sentence = "IDEMPOTENCY_KEY_REUSED", 422, "this key was used for another request"


class RateLimited(EdgeRefused):
    """A rate limit of the caller is exhausted.

    Args:
        retry_after_ms: time until the next token; sent as Retry-After, rounded up to seconds, and in `meta`.
    """

    code, status_hint, sentence = "RATE_LIMITED", 429, "too many requests"

    def __init__(self, retry_after_ms: int) -> None:
        seconds = max(1, -(-retry_after_ms // 1000))
        super().__init__(headers={"retry-after": str(seconds)}, retryAfterMs=retry_after_ms)


class DatabaseDown(EdgeRefused):
    """PostgreSQL cannot be reached, or the connection was lost during COMMIT (`meta.outcome` is then `unknown`)."""

    code, status_hint, sentence = "DATABASE_UNAVAILABLE", 503, "the database is not available right now"


class UpstreamUnavailable(EdgeRefused):
    """An external service does not answer, and no earlier answer of it can be used instead."""

    code, status_hint, sentence = (
        "UPSTREAM_UNAVAILABLE",
        503,
        "a service that this depends on does not answer",
    )


class Internal(EdgeRefused):
    """A fault of the service."""

    code, status_hint, sentence = "INTERNAL", 500, "something went wrong on our side"


class TooMuchUnread(EdgeRefused):
    """Too many bytes are unsent, to the client's address or in all, to queue another response."""

    code, status_hint, sentence = "OVERLOADED", 503, "earlier responses have to be read first"


class TooMuchArriving(EdgeRefused):
    """The bodies arriving from the client's address, or from all clients, exceed what is held in memory at once."""

    code, status_hint, sentence = "OVERLOADED", 503, "too much is being uploaded right now; try again shortly"
