"""The refusals of the edge, and how any refusal or fault becomes a problem document (contract §1, RFC 9457).

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

No message of PostgreSQL, no traceback and no identifier of the code is ever sent. What catches every exception of the
edge makes its answer of it here (`problem_of`), or reports it and goes on (`contained`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import ClassVar

import msgspec
import structlog
import trio

from actors.errors import FieldError, Invalid, NotFound, Overloaded, QuotaExceeded, Refused
from persistence.errors import (
    DatabaseUnavailable,
    Fenced,
    HeadMoved,
    LimitReached,
    OutcomeUnknown,
    PersistenceError,
    QueueFull,
    ReferenceGone,
    RowsRejected,
)
from routes.edge.outgoing import Outgoing
from routes.edge.sparing import Sparing

log = structlog.get_logger()

_REFUSED = "request refused by persistence"
_refusals = Sparing()

RETRY_AFTER_SECONDS = 1
"""Retry-After of a 503: the causes are over within seconds, or last so long that no number would be right."""

OPAQUE = "something went wrong on our side"


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
    """The body is missing, is not JSON, or is JSON that is not accepted (nested too deep, a member named twice)."""

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

    code, status_hint, sentence = "INTERNAL", 500, OPAQUE


class TooMuchUnread(EdgeRefused):
    """Too many bytes are unsent, to the client's address or in all, to queue another response."""

    code, status_hint, sentence = "OVERLOADED", 503, "earlier responses have to be read first"


class TooMuchArriving(EdgeRefused):
    """The bodies arriving from the client's address, or from all clients, exceed what is held in memory at once."""

    code, status_hint, sentence = "OVERLOADED", 503, "too much is being uploaded right now; try again shortly"


class Problem(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The body of every error (RFC 9457 with a stable `code`).

    Args:
        type: a URI that names the kind of problem.
        title: the kind of problem, for people.
        status: the status of the answer.
        code: the kind of problem, for programs: it never changes its meaning.
        message: what is wrong with this request, for people.
        detail: the same as `message`.
        errors: each field that is wrong.
        meta: what a program may want to know beside it.
    """

    type: str
    title: str
    status: int
    code: str
    message: str
    detail: str
    request_id: str
    errors: tuple[FieldError, ...] | None = None
    meta: dict[str, object] | msgspec.UnsetType = msgspec.UNSET

    media_type: ClassVar[str] = "application/problem+json"


_encoder = msgspec.json.Encoder(enc_hook=str)


def problem(refused: Refused, request_id: str) -> Outgoing:
    """The response that tells a client of a refusal.

    Args:
        refused: the refusal.
        request_id: repeated in the body, so that a user's report leads to the log line.
    """
    status = refused.status_hint
    headers = [(b"content-type", b"application/problem+json"), (b"cache-control", b"no-store")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    own = refused.headers if isinstance(refused, EdgeRefused) else {}
    if status == 503 and "retry-after" not in own:
        headers.append((b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
    headers.extend((name.encode("latin-1"), text.encode("latin-1")) for name, text in own.items())
    document = Problem(
        type=f"urn:problem:{refused.code.lower().replace('_', '-')}",
        title=HTTPStatus(status).phrase,
        status=status,
        code=refused.code,
        message=refused.message,
        detail=refused.message,
        request_id=request_id,
        errors=refused.errors if isinstance(refused, Invalid) else _reused(refused),
        meta=refused.meta,
    )
    return Outgoing(status, headers, _encoder.encode(document))


def _reused(refused: Refused) -> tuple[FieldError, ...] | None:
    # Contract §1: `errors` on every 422, and only there.
    return () if refused.status_hint == 422 else None


def refusal_of(error: PersistenceError) -> Refused:
    """The refusal that a client is sent for an error of persistence; never contains PostgreSQL's message."""
    if isinstance(error, OutcomeUnknown):
        return DatabaseDown("the outcome is unknown; repeat the request with the same key", outcome="unknown")
    if isinstance(error, DatabaseUnavailable):
        return DatabaseDown()
    if isinstance(error, QueueFull | Fenced | HeadMoved):
        # Nothing was changed, and a retry reads the current state first.
        return Overloaded()
    if isinstance(error, LimitReached):
        return QuotaExceeded(message=str(error), max=error.most)
    if isinstance(error, ReferenceGone):
        return NotFound("somebody or something that this is about was deleted meanwhile")
    # PostgreSQL rejected rows that the domain's rules allowed: a rule is missing.
    return Internal()


def problem_of(error: Exception, *, request_id: str, route: str) -> Outgoing:
    """The problem document for an exception that has ended a request; logged if it is a fault.

    Args:
        error: any exception of a handler.
        request_id: the request's id, for the problem and the log.
        route: the route's declared method and path, for the log.
    """
    return problem(explained(error, request_id=request_id, route=route), request_id)


def explained(error: Exception, *, request_id: str, route: str) -> Refused:
    """The refusal to send for an exception; a group with one member counts as that member. Faults are logged, those of
    a database that can do nothing for anybody once a second.

    Args:
        error: any exception of a handler.
        request_id: the request's id, for the log.
        route: the route's declared method and path, for the log.
    """
    bottom: BaseException = error
    while isinstance(bottom, BaseExceptionGroup) and len(bottom.exceptions) == 1:
        bottom = bottom.exceptions[0]
    if isinstance(bottom, Refused):
        return bottom
    if isinstance(bottom, PersistenceError):
        refused = refusal_of(bottom)
        # While the database is away, or its disk is full, every request would write a line, maybe to that very disk.
        # What concerns one request alone is logged each time.
        left_out = 0 if isinstance(bottom, RowsRejected) else _refusals.suppressed(type(bottom).__name__)
        if left_out is not None:
            told = {"suppressed": left_out} if left_out else {}
            log.warning(_REFUSED, route=route, request_id=request_id, error=repr(bottom), **told)
        return refused
    log.error("request failed", route=route, request_id=request_id, exc_info=error)
    return Internal()


@contextmanager
def contained(report: Callable[[BaseException], None]) -> Iterator[None]:
    """A `with` block whose exceptions are reported and go no further; cancellation passes.

    Keeps a fault of one connection from ending the others.

    Args:
        report: called with the exception, or with the group of those that are not cancellations.
    """
    try:
        yield
    except Exception as error:
        report(error)
    except BaseExceptionGroup as group:
        # A nursery that failed while it was cancelled raises both together: the fault is reported, the cancellation
        # goes on.
        cancelled, faults = group.split(trio.Cancelled)
        if faults is not None:
            report(faults)
        if cancelled is not None:
            raise cancelled from None
