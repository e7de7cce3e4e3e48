"""One request and its response on a cleartext connection.

    Exchange        with `send_outgoing`: for `DirectApplication`, without ASGI's scopes and messages
    AsgiExchange    server/asgi.py: for everything else that an ASGI application serves

Head and first piece of a response are sent together. Invariant: after `start` either the bytes of exactly one
response are written, or the connection is closed.
"""

from contextlib import aclosing
from email.utils import formatdate
from http import HTTPStatus
from time import time
from typing import Protocol

from hypercorn.typing import ConnectionState

from routes.edge.errors import CutShort
from routes.edge.outgoing import FileSlice, Headers, Outgoing, pieces
from routes.edge.server.request import Request
from routes.edge.transport.reactor import SocketAddress
from routes.edge.transport.writer import Writer
from routes.edge.unsent import held_bytes

COPIED_BYTES = 32 * 1024
"""Up to this size a body is copied behind its head, which is quicker than sending two pieces; a larger one is not
copied."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = b"connection: close\r\n"
_KEEP_ALIVE = b"connection: keep-alive\r\n"
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}


class _Date:
    """The Date header (RFC 9110 §6.6.1), formatted once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        second = int(time())
        if second != self._second:
            self._second = second
            self._line = f"date: {formatdate(second, usegmt=True)}\r\n".encode("ascii")
        return self._line


_date = _Date()


class Client(Protocol):
    """The connection, as an exchange needs it.

    Attributes:
        client: the address of the other end, None on a Unix socket.
        writer: sends everything that leaves the connection.
        answering: whether a response has begun and is not complete.
        closed: whether the socket is closed.
    """

    client: SocketAddress | None
    writer: Writer
    answering: bool
    closed: bool

    @property
    def server(self) -> SocketAddress | None:
        """The address of this end, None on a Unix socket."""
        ...

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with this response."""
        ...

    @property
    def ending(self) -> bool:
        """Whether the client is gone, or the connection is being closed."""
        ...

    def fresh_state(self) -> ConnectionState:
        """A copy of the lifespan's state, for one request."""
        ...

    async def wait_more(self) -> bool:
        """Wait until more of the request was read; False when no more will come. Cancellation loses nothing."""
        ...

    def took_body(self) -> None:
        """Resume reading if there is room, because pieces of the body were taken."""
        ...


class Exchange:
    """A request that is being answered; implements `FarEnd`.

    Args:
        connection: the connection on which the request arrived.
        request: the request, whose head is complete.

    Attributes:
        started: whether the head of the response was made.
        last: whether the connection ends with this response.
    """

    __slots__ = ("connection", "last", "request", "started")

    def __init__(self, connection: Client, request: Request) -> None:
        self.connection = connection
        self.request = request
        self.started = False
        self.last = False

    async def receive(self) -> tuple[bytes, bool]:
        """The next piece of the body, and whether more follows; implements `Receive`. Cancellation loses nothing.

        Raises:
            CutShort: the client is gone, or was too slow.
        """
        request, connection = self.request, self.connection
        if request.expects_continue and not (self.started or request.complete or request.pieces):
            connection.writer.write(_CONTINUE)
        request.expects_continue = False
        while not (request.pieces or request.complete):
            if not await connection.wait_more():
                raise CutShort
        piece = request.take_body()
        connection.took_body()
        return piece, not request.complete

    @property
    def is_gone(self) -> bool:
        """Whether the client has finished sending, or its connection is lost (`FarEnd`)."""
        return self.connection.ending

    async def until_gone(self) -> None:
        """Return once the client has gone (`FarEnd`). Cancellation changes nothing."""
        while await self.connection.wait_more():
            pass

    def start(self, status: int, headers: Headers, *, chunked: bool = False) -> bytes:
        """Make the head of the response, to be sent together with the first piece of its body.

        Args:
            status: 200 to 599.
            headers: (lower-case name, value), without Date and Transfer-Encoding, which are added here, as is how the
                connection goes on; Connection is theirs only to name Upgrade.
            chunked: whether the body's length is unknown, so that it is sent in chunks.
        """
        self.started = self.connection.answering = True
        request = self.request
        self.last = not (request.persistent and request.complete) or self.connection.is_last
        parts = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status]
        parts += [b"%b: %b\r\n" % field for field in headers]
        parts.append(_date.line())
        if chunked:
            parts.append(b"transfer-encoding: chunked\r\n")
        if self.last:
            parts.append(_CLOSE)
        elif request.version == "1.0":
            parts.append(_KEEP_ALIVE)
        parts.append(b"\r\n")
        return b"".join(parts)


async def send_outgoing(exchange: Exchange, outgoing: Outgoing) -> bool:
    """Send a response of the pipeline, and wait until the socket has taken it.

    Cancellation leaves the response incomplete; the connection has to be closed then.

    Args:
        exchange: an exchange whose response has not been started.
        outgoing: the response, with Content-Length if it has a body.

    Returns:
        False when nothing was sent, because more bytes would wait than are allowed (`unsent.py`). Only for GET, so
            that no outcome of a change is withheld from the client.
    """
    writer, body = exchange.connection.writer, outgoing.body
    if isinstance(body, FileSlice):
        await _send_file(exchange, outgoing, body)
    elif len(body) <= COPIED_BYTES:
        head = exchange.start(outgoing.status, outgoing.headers)
        writer.write(head + body if body else head)
    elif exchange.request.method == "GET" and not writer.tab.fits(held_bytes(body)):
        return False
    else:
        writer.write_response(exchange.start(outgoing.status, outgoing.headers), body)
    if writer.waiting is not None:
        await writer.wait_clear()
    return True


async def _send_file(exchange: Exchange, outgoing: Outgoing, part: FileSlice) -> None:
    connection, left = exchange.connection, part.length_bytes
    connection.writer.write(exchange.start(outgoing.status, outgoing.headers))
    async with aclosing(pieces(part)) as read:
        async for piece in read:
            connection.writer.write(piece)
            left -= len(piece)
            await connection.writer.wait_clear()
            if connection.closed:
                return
    if left:
        exchange.last = True  # the file was truncated: only closing tells the client
