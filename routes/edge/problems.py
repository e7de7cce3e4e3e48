"""How a refusal, or any exception that has ended a request, becomes a problem document (contract §1, RFC 9457).

No message of PostgreSQL, no traceback and no identifier of the code is ever sent.
"""

from http import HTTPStatus
from typing import ClassVar

import msgspec
import structlog

from actors.errors import Invalid, NotFound, Overloaded, QuotaExceeded, Refused
from actors.field_errors import FieldError
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
from routes.edge.errors import DatabaseDown, EdgeRefused, Internal
from routes.edge.outgoing import Outgoing
from routes.edge.sparing import Sparing

log = structlog.get_logger()

_REFUSED = "request refused by persistence"
_refusals = Sparing()

RETRY_AFTER_SECONDS = 1
"""Retry-After of a 503: the causes are over within seconds, or last so long that no number would be right."""


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


def refusal_of(error: BaseException) -> Refused:
    """The refusal that a client is sent for an exception: itself, what an error of persistence means, or `Internal`."""
    if isinstance(error, Refused):
        return error
    return _meaning(error) if isinstance(error, PersistenceError) else Internal()


def _meaning(error: PersistenceError) -> Refused:
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
    """The problem document for an exception that has ended a request; a group with one member counts as that member.
    Faults are logged, those of a database that can do nothing for anybody once a second.

    Args:
        error: any exception of a handler.
        request_id: the request's id, for the problem and the log.
        route: the route's declared method and path, for the log.
    """
    bottom: BaseException = error
    while isinstance(bottom, BaseExceptionGroup) and len(bottom.exceptions) == 1:
        bottom = bottom.exceptions[0]
    if isinstance(bottom, PersistenceError):
        _log_refused(bottom, request_id, route)
    elif not isinstance(bottom, Refused):
        log.error("request failed", route=route, request_id=request_id, exc_info=error)
    return problem(refusal_of(bottom), request_id)


def _log_refused(error: PersistenceError, request_id: str, route: str) -> None:
    # While the database is away, or its disk is full, every request would write a line, maybe to that very disk.
    # What concerns one request alone is logged each time.
    left_out = 0 if isinstance(error, RowsRejected) else _refusals.suppressed(type(error).__name__)
    if left_out is not None:
        told = {"suppressed": left_out} if left_out else {}
        log.warning(_REFUSED, route=route, request_id=request_id, error=repr(error), **told)
