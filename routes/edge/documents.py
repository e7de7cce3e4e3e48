"""What every client gets the same, byte for byte, as long as the service runs: descriptions, pages, scripts.

Each is made once, when it is first asked for, in a thread: its bytes, the same compressed, and every header. After that
a request for it costs a look into a dict, whatever its size, and those who are slow to read it share one copy of it.
"""

import gzip
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import trio

from routes.edge.downloads import matches
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.reply import Finished
from routes.edge.unsent import SharedBytes

T_co = TypeVar("T_co", covariant=True)

_VARY = (b"vary", b"Accept-Encoding")


class Document(Finished, Generic[T_co]):
    """A body that never changes, which OpenAPI describes as `T`; plain, and compressed where that is smaller.

    Args:
        content: the body.
        headers: those of its content: its type, and what goes with it.
        cache_control: how long it may be kept.
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
        """How much memory it takes."""
        return len(self._plain.body) + (len(self._packed.body) if self._packed is not self._plain else 0)

    def response(self, incoming: Incoming) -> Outgoing:
        """The response: in the form that the client takes, or the word that it has that already.

        Args:
            incoming: asked for Accept-Encoding and If-None-Match.
        """
        form = self._packed if takes_gzip(incoming.header(b"accept-encoding")) else self._plain
        if matches(incoming.header(b"if-none-match"), form.tag):
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
    """Those of one service, by name; as many as the service has names for."""

    def __init__(self) -> None:
        self._made: dict[str, Document[Any]] = {}
        self._making = trio.Lock()

    @property
    def held_bytes(self) -> int:
        """How much memory they take."""
        return sum(document.held_bytes for document in self._made.values())

    def get(
        self, name: str, make: Callable[[], Document[T_co]]
    ) -> Document[T_co] | Coroutine[Any, Any, Document[T_co]]:
        """The document of this name, made now if it is not there.

        Args:
            name: one of those that the service serves, never what a client says.
            make: runs in a thread, once.
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
        field: the header, or None.
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
