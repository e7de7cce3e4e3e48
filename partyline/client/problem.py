"""What can go wrong between a client and the service, as exceptions.

ClientError
├── Problem      the service refuses: a problem document, or the error of a command on the live socket
└── Unreachable  there was no answer, or the client was closed before it
"""

from typing import Any

import msgspec

TEMPORARY = frozenset(
    {
        "RATE_LIMITED",
        "OVERLOADED",
        "DRAINING",
        "DATABASE_UNAVAILABLE",
        "UPSTREAM_UNAVAILABLE",
        "IDEMPOTENCY_IN_PROGRESS",
    }
)
"""Codes of problems after which the same request may succeed in a moment."""


class ClientError(Exception):
    """Base of everything that a client raises for what the service has or has not answered."""

    is_temporary = False
    """Whether the same request may succeed in a moment."""

    is_outcome_unknown = False
    """Whether the request may have been done all the same; repeat it with the same Idempotency-Key."""

    retry_after_seconds = 0.0
    """How long to wait at least before the next try."""


class FieldError(msgspec.Struct, frozen=True):
    """What is wrong with one field of a body.

    Args:
        pointer: JSON pointer (RFC 6901) into the body.
        code: the kind of fault, one of those in `docs/errors.md`.
        message: a sentence for people.
    """

    pointer: str = ""
    code: str = ""
    message: str = ""


class Document(msgspec.Struct, frozen=True, rename="camel"):
    """A problem document (RFC 9457), or the error of a reply on the live socket."""

    code: str = "UNKNOWN"
    message: str = ""
    title: str = ""
    errors: tuple[FieldError, ...] = ()
    meta: dict[str, Any] = {}
    request_id: str | None = None


class Problem(ClientError):
    """The service refuses.

    Args:
        document: the problem document, or the error of a reply on the live socket.
        status: HTTP status; 0 for a command of the live socket.
        retry_after_seconds: what the response's Retry-After says, 0 without; `retryAfterMs` in the document comes
            first.
    """

    def __init__(self, document: Document, status: int = 0, retry_after_seconds: float = 0.0) -> None:
        super().__init__(document.message or document.title or document.code)
        self.status = status
        self.code = document.code
        self.errors = document.errors
        self.meta = document.meta
        self.request_id = document.request_id
        after_ms = document.meta.get("retryAfterMs")
        self.retry_after_seconds = (
            after_ms / 1000 if isinstance(after_ms, int | float) else retry_after_seconds
        )
        self.is_temporary = status in (429, 503) or document.code in TEMPORARY
        self.is_outcome_unknown = document.meta.get("outcome") == "unknown"

    def about(self, pointer: str) -> str | None:
        """The message about one field of the body; None where that field is right.

        Args:
            pointer: JSON pointer, `/content`.
        """
        return next((error.message for error in self.errors if error.pointer == pointer), None)


class Unreachable(ClientError):
    """There was no answer: no network, no service, or an answer that broke off; `__cause__` says more.

    Args:
        why: the cause, for people.
        is_temporary: whether the same request may succeed in a moment.
    """

    is_outcome_unknown = True

    def __init__(self, why: str = "the service cannot be reached", *, is_temporary: bool = True) -> None:
        super().__init__(why)
        self.is_temporary = is_temporary


def closed() -> Unreachable:
    """What those get who wait for a client whose block ends, or ask it for something afterwards."""
    return Unreachable("the client was closed", is_temporary=False)


def elsewhere(status: int, location: str | None) -> Problem:
    """The problem of an answer that redirects: nothing was done, and the client does not carry its token elsewhere.

    Args:
        status: HTTP status, 300 to 399.
        location: the Location header, which becomes `meta["location"]` of the problem; None where there is none.
    """
    meta = {"location": location} if location else {}
    return Problem(Document("ELSEWHERE", f"the service leads to {location or 'nowhere'}", meta=meta), status)


def problem_of(status: int, body: bytes, retry_after: str | None) -> Problem:
    """The problem in the body of an answer.

    Args:
        status: HTTP status, 400 or more.
        body: the answer's body; where it is no problem document (a proxy has answered), the code is `UNKNOWN`.
        retry_after: the Retry-After header; None where there is none.
    """
    # Neither a date nor `inf`: whoever sends these is not this service.
    seconds = float(retry_after) if retry_after and retry_after.isdecimal() and len(retry_after) < 10 else 0.0
    try:
        document = msgspec.json.decode(body, type=Document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        document = Document(message=f"the service answered {status}")
    return Problem(document, status, seconds)
