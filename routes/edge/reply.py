"""What a handler may return beside a plain struct, and beside None, which is a 204."""

from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CoroutineType
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec

R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Ask(Generic[T]):
    """What an owner will answer. Awaiting it ends by the kernel's own deadline, which is a request's.

    Args:
        work: asks.
    """

    __slots__ = ("_work",)

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work

    def __await__(self) -> Generator[Any, Any, T]:
        return self._work.__await__()


MaybeAwaitable: TypeAlias = T | Coroutine[Any, Any, T] | Ask[T]
"""A result, or the coroutine that will have it.

What handlers and guards return that mostly have their answer in memory: they are plain functions, and a request
that they answer at once has waited for nothing, and pays for no deadline (`deadline.py`).
"""


def then(value: T | Coroutine[Any, Any, T], shape: Callable[[T], R]) -> R | Coroutine[Any, Any, R]:
    """Shape a result: at once where it is there, else once it has been awaited.

    Args:
        value: the result, or the coroutine that will have it; it is awaited in the coroutine that is returned, so
            cancelling that cancels it.
        shape: plain; what it raises is raised to the caller, or to whoever awaits.
    """
    return _shaped(value, shape) if isinstance(value, CoroutineType) else shape(cast(T, value))


async def resolved(value: T | Coroutine[Any, Any, T]) -> T:
    """The result, awaited where it is not there yet.

    Cancellation is passed on to the coroutine.
    """
    return await value if isinstance(value, CoroutineType) else cast(T, value)


async def _shaped(value: Coroutine[Any, Any, T], shape: Callable[[T], R]) -> R:
    return shape(await value)


class Encoded(Generic[T_co]):
    """JSON that is encoded already, and that OpenAPI describes as `T`.

    Args:
        data: the JSON text of a `T`.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


@dataclass(frozen=True, slots=True)
class Reply(Generic[T_co]):
    """A value with another status than the declared one, or with headers of its own.

    Args:
        value: as a handler would return it bare.
        status: 200 to 299; None for the declared one.
        headers: (name in lower case: value), ASCII.
    """

    value: T_co
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


NO_SOURCES = "default-src 'none'; frame-ancestors 'none'"
"""Content-Security-Policy of what loads nothing."""


class Finished:
    """What is no struct that has to be encoded, but bytes already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Blob(Finished):
    """A file for download, with Range, ETag and the headers that keep it from running in a page (RFC 6266).

    Args:
        content: the bytes, or the path of a file.
        content_type: as it was checked at upload.
        filename: what the client may call it, any characters; None serves it inline.
        etag: an opaque text that changes with the content, without quotes.
        cache_control: how long it may be kept.
    """

    content: bytes | Path
    content_type: str
    filename: str | None
    etag: str
    cache_control: str = "private, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Page(Finished):
    """A page, script or text that is ours and that a browser may show.

    Args:
        html: the content.
        policy: Content-Security-Policy; names every source that the page uses, and no others.
        content_type: what it is.
    """

    html: bytes
    policy: str = NO_SOURCES
    content_type: str = "text/html; charset=utf-8"


def shaped(type_: type) -> msgspec.Meta:
    """Marks a `msgspec.Raw` field as holding the JSON of a `type_`, for OpenAPI and AsyncAPI.

    For structs that join bytes encoded before: `items: list[Annotated[msgspec.Raw, shaped(Message)]]`.

    Args:
        type_: the struct that the bytes were encoded from, at the top level of its module.
    """
    return msgspec.Meta(extra_json_schema={SHAPE: f"{type_.__module__}:{type_.__qualname__}"})


SHAPE = "x-shape"
"""Where `shaped` leaves the struct's name in a generated schema; `schemas.py` puts a reference there."""
