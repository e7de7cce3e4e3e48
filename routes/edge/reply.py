"""The results that a handler may return besides a plain struct and None (which is a 204)."""

from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Ask(Generic[T]):
    """A command to an actor whose reply is pending; awaited, or returned by a handler.

    Awaiting it is bounded by the kernel's own deadline, which is as long as a request's.

    Args:
        work: sends the command and returns the reply.
    """

    __slots__ = ("_work",)

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work

    def __await__(self) -> Generator[Any, Any, T]:
        return self._work.__await__()


MaybeAwaitable: TypeAlias = T | Coroutine[Any, Any, T] | Ask[T]
"""A result, or an awaitable of it.

Returned by handlers and guards that mostly find their answer in memory. They are plain functions; a request that they
answer at once waits for nothing and enters no cancel scope (`deadline.py`).
"""


def then(value: T | Coroutine[Any, Any, T], shape: Callable[[T], R]) -> R | Coroutine[Any, Any, R]:
    """Apply a function to a result, at once if it is a value, else in a coroutine that awaits it.

    Args:
        value: the result, or its coroutine; cancelling the returned coroutine cancels it.
        shape: a plain function; what it raises is raised here, or by the returned coroutine.
    """
    return _shaped(value, shape) if isinstance(value, Coroutine) else shape(value)


async def resolved(value: T | Coroutine[Any, Any, T]) -> T:
    """The result, awaited if it is a coroutine. Cancellation passes on to that."""
    return await value if isinstance(value, Coroutine) else value


async def _shaped(value: Coroutine[Any, Any, T], shape: Callable[[T], R]) -> R:
    return shape(await value)


class Encoded(Generic[T_co]):
    """JSON text that is already encoded, described by OpenAPI as `T`.

    Args:
        data: the JSON text of a `T`.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


@dataclass(frozen=True, slots=True)
class Reply(Generic[T_co]):
    """A result with another status than the declared one, or with headers of its own.

    Args:
        value: what the handler would otherwise return itself.
        status: 200 to 299; None for the declared one.
        headers: (name in lower case: value), ASCII.
        cookies: values of Set-Cookie (`cookies.py`), each in a header of its own (RFC 6265 §3).
    """

    value: T_co
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, init=False)
class Tagged(Reply[T_co]):
    """An object with its ETag, which clients name in If-Match when they change it (RFC 9110 §13.1.1).

    Args:
        value: the object.
        etag: the object's ETag, with its quotes.
    """

    def __init__(self, value: T_co, etag: str) -> None:
        Reply.__init__(self, value, headers={"etag": etag})


NO_SOURCES = "default-src 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of a page that loads nothing."""


class Finished:
    """Base of results that are bytes already, not structs to be encoded."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Blob(Finished):
    """A file for download, with Range, ETag and the headers that keep it from running in a page (RFC 6266).

    Args:
        content: the bytes, or the path of a file.
        content_type: the media type, as validated at the upload.
        filename: the file's name that is offered to the client, any characters; None serves the file inline.
        etag: an opaque text that changes with the content, without quotes.
        cache_control: the value of Cache-Control.
    """

    content: bytes | Path
    content_type: str
    filename: str | None
    etag: str
    cache_control: str = "private, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Redirect(Finished):
    """A 302 to where the content lies for now, which no cache may keep (RFC 9110 §15.4.3).

    Args:
        location: the absolute URL of the content, which was checked.
    """

    location: str


@dataclass(frozen=True, slots=True)
class Page(Finished):
    """A page, script or text of the service itself, which a browser may show.

    Args:
        html: the content.
        policy: Content-Security-Policy; names every source that the page uses, and no others.
        content_type: the media type, with its charset.
    """

    html: bytes
    policy: str = NO_SOURCES
    content_type: str = "text/html; charset=utf-8"
