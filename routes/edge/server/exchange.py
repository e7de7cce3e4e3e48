"""One request and its response on a cleartext connection: what both ways of answering share.

    Exchange        with `send_outgoing`: the pipeline's own records (`DirectApplication`); no scope, no messages
    AsgiExchange    server/asgi.py: for everything else that an ASGI application serves

Head and first piece of a response leave in one send. Invariant: after `_start` exactly the bytes of one response are
written, or the connection is closed.
"""

from email.utils import formatdate
from http import HTTPStatus
from time import time
from typing import Protocol

from hypercorn.typing import ConnectionState

from routes.edge.errors import CutShort
from routes.edge.outgoing import FileSlice, Headers, Outgoing, pieces
from routes.edge.server.parser import Request
from routes.edge.transport.reactor import SocketAddress
from routes.edge.transport.writer import Writer
from routes.edge.unsent import held_bytes

COPIED_BYTES = 32 * 1024
"""A larger body is sent as it lies in memory; a smaller one is quicker copied behind its head than sent beside it."""

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = b"connection: close\r\n"
_KEEP_ALIVE = b"connection: keep-alive\r\n"
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}


class _Date:
    """The Date field (RFC 9110 §6.6.1), made once a second."""

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
    """What an exchange needs of its connection.

    Attributes:
        client, server: the addresses of both ends, None on a Unix socket.
        writer: the way out.
        answering: a response has begun and is not complete.
        closed: the socket is.
    """

    client: SocketAddress | None
    server: SocketAddress | None
    writer: Writer
    answering: bool
    closed: bool

    @property
    def is_last(self) -> bool:
        """The connection ends with this response."""
        ...

    def fresh_state(self) -> ConnectionState:
        """The lifespan's state, for one request."""
        ...

    async def wait_more(self) -> bool:
        """Wait until more of the request has come; False when no more will.

        Cancellation loses nothing that has come.
        """
        ...

    def took_body(self) -> None:
        """Pieces of the body were taken: there is room for more."""
        ...


class Exchange:
    """A request that is being answered.

    Args:
        connection: on which.
        request: at least its head has come.

    Attributes:
        started: the head of the response has left.
        last: the connection ends with this response.
    """

    __slots__ = ("connection", "last", "request", "started")

    def __init__(self, connection: Client, request: Request) -> None:
        self.connection = connection
        self.request = request
        self.started = False
        self.last = False

    async def receive(self) -> tuple[bytes, bool]:
        """The next piece of the body, and whether more follows; as `Incoming.receive`.

        Raises:
            CutShort: the client is gone, or too slow.

        Cancellation loses nothing.
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

    def start(self, status: int, headers: Headers, *, chunked: bool = False) -> bytes:
        """The head of the response, to be written together with the first piece of its body.

        Args:
            status: 200 to 599.
            headers: (lower-case name, value); Connection, Date and Transfer-Encoding are ours.
            chunked: the length is not known.
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
    """Send a response of the pipeline; returns when the socket has taken it.

    Args:
        exchange: not started yet.
        outgoing: with Content-Length where there is a body.

    Returns:
        False when nothing was sent, because more would wait than may (`unsent.py`): only where nothing has changed
        that the client has to be told of.

    Cancellation leaves the response incomplete; the connection has to be closed then.
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
    async for piece in pieces(part):
        connection.writer.write(piece)
        left -= len(piece)
        await connection.writer.wait_clear()
        if connection.closed:
            return
    if left:
        exchange.last = True  # the file was cut shorter; only the end of the connection can tell now
