"""A request as the pipeline sees it, whichever carrier received it: nothing of Quart, Hypercorn or sockets."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

from routes.edge.errors import MalformedJson, PayloadTooLarge, TooMuchArriving
from routes.edge.outgoing import Headers
from routes.edge.tabs import Tab, Tabs

ARRIVING_MAX_BYTES = 128 * 1024 * 1024
"""Most bytes of bodies in memory at once, arriving or being processed: some ten of the largest attachments."""

ARRIVING_ADDRESS_MAX_BYTES = 32 * 1024 * 1024
"""The same bound for the clients of one address."""

REQUEST_ID = "[A-Za-z0-9._-]{1,128}"
"""The form of an X-Request-Id that is kept, as a pattern; one of another form is replaced by an id of ours."""

Receive: TypeAlias = Callable[[], Awaitable[tuple[bytes, bool]]]
"""`async () -> (next piece of the body, whether more follows)`; raises `CutShort` when the client is gone."""


class FarEnd(Protocol):
    """The client of a request, as far as its carrier can tell whether it is still there."""

    @property
    def is_gone(self) -> bool:
        """Whether the client has finished sending, or its connection is lost."""
        ...

    async def until_gone(self) -> None:
        """Return once the client has gone; reads and drops what it still sends. Cancellation changes nothing.

        To be called by one task at a time, and while nobody receives the body.
        """
        ...


class Incoming:
    """One request.

    Args:
        method: the HTTP method, upper case.
        path: the decoded path, without the query.
        parameters: {camelCase name: text} of the route's path.
        query: the raw text after the `?`.
        headers: (lower-case name, value).
        peer: the address at the other end of the connection.
        receive: returns the body piece by piece.
        whole: the whole body, where it came together with the head; then `receive` is not needed.
        far_end: tells whether the client is still there; None where nothing can tell.

    Attributes:
        arrived_bytes: bytes of the body counted against the bounds above, until `release`.
    """

    __slots__ = (
        "_by_name",
        "_tab",
        "arrived_bytes",
        "far_end",
        "headers",
        "method",
        "parameters",
        "path",
        "peer",
        "query",
        "receive",
        "whole",
    )

    def __init__(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str],
        *,
        query: bytes,
        headers: Headers,
        peer: str,
        receive: Receive,
        whole: bytes | None = None,
        far_end: FarEnd | None = None,
    ) -> None:
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.headers = headers
        self.peer = peer
        self.receive = receive
        self.whole = whole
        self.far_end = far_end
        self.arrived_bytes = 0
        self._tab: Tab | None = None
        self._by_name: dict[bytes, bytes] | None = None

    @property
    def client_is_gone(self) -> bool:
        """Whether it is known that the client has gone, so that the answer may reach nobody."""
        return self.far_end is not None and self.far_end.is_gone

    def header(self, name: bytes) -> bytes | None:
        """The value of a header, or None; repeated ones are joined by commas (RFC 9110 §5.3).

        Args:
            name: the header's name in lower case.
        """
        known = self._by_name
        if known is None:
            known = self._by_name = dict(self.headers)
            if len(known) != len(self.headers):
                known.clear()
                for header, text in self.headers:
                    known[header] = known[header] + b", " + text if header in known else text
        return known.get(name)

    def check_declared_size(self, max_bytes: int) -> None:
        """Refuse a body whose declared length is too large, before any of it is read.

        Raises:
            PayloadTooLarge: Content-Length is above `max_bytes`.
            MalformedJson: Content-Length is not a number.
        """
        if self.declared_bytes(otherwise=0) > max_bytes:
            raise PayloadTooLarge(maxBytes=max_bytes)

    def declared_bytes(self, *, otherwise: int) -> int:
        """The length of the body according to Content-Length.

        Args:
            otherwise: returned for a body without a declared length.

        Raises:
            MalformedJson: Content-Length is not a number.
        """
        declared = self.header(b"content-length")
        if declared is None:
            return otherwise
        if not declared.isdigit() or len(declared) > 18:
            raise MalformedJson("Content-Length is not a number")
        return int(declared)

    async def body(self, max_bytes: int, tab: Tab | None = None) -> bytes:
        """Receive the whole body.

        Cancellation: what was received is lost, and stays counted in the tab until `release`.

        Args:
            max_bytes: the most bytes that are accepted; a body without a declared length is cut off there.
            tab: the account that counts what has arrived, until `release`; None to count nothing.

        Raises:
            PayloadTooLarge: the body is longer.
            TooMuchArriving: the body does not fit the bound of its client's address, or of all bodies.
            CutShort: the client disconnected.
        """
        pieces: list[bytes] = []
        size, more = 0, True
        while more and size <= max_bytes:
            piece, more = await self.receive()
            size += len(piece)
            if tab is not None:
                self._tab = tab
                if not tab.fits(len(piece)):
                    tab.all.refused += 1
                    raise TooMuchArriving
                tab.add(len(piece))
                self.arrived_bytes = size
            pieces.append(piece)
        if size > max_bytes:
            raise PayloadTooLarge(maxBytes=max_bytes)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def release(self) -> None:
        """Stop counting the body's bytes, because it is no longer needed; repeated calls do nothing."""
        if self._tab is not None:
            self._tab.add(-self.arrived_bytes)
        self.arrived_bytes = 0


def arriving_bodies() -> Tabs:
    """New accounts of the bytes of arriving bodies, with the bounds of this module."""
    return Tabs(ARRIVING_MAX_BYTES, ARRIVING_ADDRESS_MAX_BYTES)
