"""Responses that are the same bytes for every client as long as the service runs: API descriptions, pages, scripts.

Each is built once, in a worker thread, when it is first requested: its bytes, the same compressed, and all headers.
Later requests cost a dict lookup whatever the size, and slow readers share one copy.
"""

import gzip
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import trio

from routes.edge.downloads import is_named
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.reply import Finished
from routes.edge.unsent import SharedBytes

T_co = TypeVar("T_co", covariant=True)

_VARY = (b"vary", b"Accept-Encoding")


class Document(Finished, Generic[T_co]):
    """A body that never changes, described by OpenAPI as `T`; sent compressed where that is smaller and the client
    takes it.

    Args:
        content: the body.
        headers: headers that describe the content, such as its type: (lower-case name, value).
        cache_control: the value of Cache-Control.
    """

    __slots__ = ("_packed", "_plain")

    def __init__(self, content: bytes, headers: Headers, cache_control: str) -> None:
        kept = [*headers, (b"cache-control", cache_control.encode("ascii")), _VARY]
        digest = hashlib.sha256(content).hexdigest()[:32].encode("ascii")
        self._plain = _Form(b'"%b"' % digest, kept, SharedBytes(content))
        packed = gzip.compress(content, 9, mtime=0)
        self._packed = self._plain
        if len(packed) < len(content):
            # Another representation, and so another tag (RFC 9110 §8.8.3.3).
            coded = [*kept, (b"content-encoding", b"gzip")]
            self._packed = _Form(b'"%b-gzip"' % digest, coded, SharedBytes(packed))

    @property
    def held_bytes(self) -> int:
        """How many bytes of memory both forms of the body take."""
        return len(self._plain.body) + (len(self._packed.body) if self._packed is not self._plain else 0)

    def response(self, incoming: Incoming) -> Outgoing:
        """The response: plain or gzip, as the client accepts, or 304 when it has the current version.

        Args:
            incoming: the request; Accept-Encoding and If-None-Match are read.
        """
        form = self._packed if takes_gzip(incoming.header(b"accept-encoding")) else self._plain
        if is_named(incoming.header(b"if-none-match"), form.tag, weakly=True):
            return Outgoing(304, list(form.unchanged))
        return Outgoing(200, list(form.headers), form.body)


class _Form:
    __slots__ = ("body", "headers", "tag", "unchanged")

    def __init__(self, tag: bytes, headers: Headers, body: SharedBytes) -> None:
        self.tag = tag
        self.body = body
        self.headers = [*headers, (b"etag", tag)]
        self.unchanged = [field for field in self.headers if field[0] in {b"etag", b"cache-control", b"vary"}]


class Documents:
    """The documents of one service by name, each built on first use."""

    def __init__(self) -> None:
        self._made: dict[str, Document[Any]] = {}
        self._making = trio.Lock()

    @property
    def held_bytes(self) -> int:
        """How many bytes of memory the documents built so far take."""
        return sum(document.held_bytes for document in self._made.values())

    def get(
        self, name: str, make: Callable[[], Document[T_co]]
    ) -> Document[T_co] | Coroutine[Any, Any, Document[T_co]]:
        """The document of this name; a coroutine that builds it where it does not exist yet.

        Cancellation of that coroutine: a build that has begun is finished and kept.

        Args:
            name: one of a fixed set of names, never text from a client: documents are kept for ever.
            make: builds the document; runs once, in a worker thread.
        """
        return self._made.get(name) or self._wait(name, make)

    async def _wait(self, name: str, make: Callable[[], Document[T_co]]) -> Document[T_co]:
        async with self._making:
            if name not in self._made:
                self._made[name] = await trio.to_thread.run_sync(make)
            return self._made[name]


def takes_gzip(field: bytes | None) -> bool:
    """Whether Accept-Encoding allows gzip (RFC 9110 §12.5.3).

    Args:
        field: the header's value; None, for no header, allows none.
    """
    if field is None:
        return False
    any_other = False
    for entry in field.lower().split(b","):
        coding, _, weight = entry.partition(b";")
        allowed = not _is_zero(weight)
        if coding.strip() in {b"gzip", b"x-gzip"}:
            return allowed
        if coding.strip() == b"*":
            any_other = allowed
    return any_other


def _is_zero(weight: bytes) -> bool:
    name, _, quality = weight.partition(b"=")
    return name.strip() == b"q" and not quality.strip().strip(b"0.")
