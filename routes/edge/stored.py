"""Stored answers of other servers that are sent as they came, with their age and how long they stay fresh (RFC 9111).

`Cache-Status` (RFC 9211) says where an answer comes from: `hit; ttl=20` is one of the store that holds for 20 seconds
more, `hit; ttl=-30` one that is 30 seconds too old, because its origin fails; `fwd=miss` one that has just come.
"""

from typing import Generic, TypeVar

from routes.edge.downloads import is_named
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.reply import Finished

T_co = TypeVar("T_co", covariant=True)


class Stored(Finished, Generic[T_co]):
    """The JSON text of another server's answer, described by OpenAPI as `T`.

    Args:
        content: the JSON text.
        etag: the content's ETag, with its quotes (`downloads.py`: `etag_of_content`).
        age_seconds: the time since it was made.
        fresh_seconds: for how long it is fresh, counted from when it was made.
        stale_seconds: how much longer it may be sent while its origin fails.
        hit: whether the store had it already when it was asked for.
    """

    __slots__ = ("_content", "_etag", "_kept")

    def __init__(
        self,
        content: bytes,
        etag: bytes,
        *,
        age_seconds: int,
        fresh_seconds: int,
        stale_seconds: int = 0,
        hit: bool,
    ) -> None:
        self._content = content
        self._etag = etag
        where = b"hit; ttl=%d" % (fresh_seconds - age_seconds) if hit else b"fwd=miss"
        self._kept: Headers = [
            (b"etag", etag),
            (b"cache-control", b"public, max-age=%d, stale-if-error=%d" % (fresh_seconds, stale_seconds)),
            (b"age", b"%d" % age_seconds),
            (b"cache-status", b"Partyline; " + where),
        ]

    def response(self, incoming: Incoming) -> Outgoing:
        """The response: the text, or 304 when the client has it.

        Args:
            incoming: the request; If-None-Match is read.
        """
        if is_named(incoming.header(b"if-none-match"), self._etag, weakly=True):
            return Outgoing(304, list(self._kept))
        return Outgoing(200, [(b"content-type", b"application/json"), *self._kept], self._content)
