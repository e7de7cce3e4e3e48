"""Requests answered through plain ASGI: for other applications, and for routes that Quart serves itself.

The application is awaited in the connection's task; `receive` reads from the socket, and `send` writes to it.
"""

from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveEvent,
    ASGISendEvent,
    HTTPResponseBodyEvent,
    HTTPScope,
    WebsocketScope,
)

from routes.edge.errors import CutShort
from routes.edge.outgoing import Headers
from routes.edge.server.exchange import Client, Exchange
from routes.edge.server.request import Request

_WITHOUT_BODY = {204, 304}
"""RFC 9110 §15.3.5, §15.4.5: these responses have no body and need no Content-Length."""


class AsgiExchange(Exchange):
    """One request and its response as ASGI messages; takes the arguments of `Exchange`."""

    __slots__ = ("_chunked", "_ended", "_headers", "_left", "_status")

    def __init__(self, connection: Client, request: Request) -> None:
        super().__init__(connection, request)
        self._status = 0
        self._headers: Headers = []
        self._chunked = False
        self._left: int | None = None
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the whole response was sent."""
        return self._ended

    async def run(self, app: ASGIFramework) -> None:
        """Let the application answer. Raises what it raises. Cancellation may leave the response incomplete."""
        await app(http_scope(self.connection, self.request), self._receive, self._send)

    async def _receive(self) -> ASGIReceiveEvent:
        if self._ended:
            return {"type": "http.disconnect"}
        try:
            piece, more = await self.receive()
        except CutShort:
            return {"type": "http.disconnect"}
        if not piece and not more and self.request.body_told:
            # The body is complete: a further `receive` waits until the client disconnects.
            await self.until_gone()
            return {"type": "http.disconnect"}
        self.request.body_told = not more
        return {"type": "http.request", "body": piece, "more_body": more}

    async def _send(self, message: ASGISendEvent) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(name.lower(), text) for name, text in message["headers"]]
        elif message["type"] == "http.response.body":
            await self._send_body(message)

    @property
    def _is_bodiless(self) -> bool:
        return self._status in _WITHOUT_BODY or self.request.method == "HEAD"

    async def _send_body(self, message: HTTPResponseBodyEvent) -> None:
        piece, more = message.get("body", b""), message.get("more_body", False)
        if self._ended:
            raise ValueError("the response is complete already")
        if not self.started:
            if more and not piece:
                return
            self._frame(len(piece), more=more)
        data = self._framed(piece, more=more)
        if not self.started:
            data = self.start(self._status, self._headers, chunked=self._chunked) + data
        writer = self.connection.writer
        if data:
            writer.write(data)
            await writer.wait_clear()
        self._ended = not more

    def _framed(self, piece: bytes, *, more: bool) -> bytes:
        if self._is_bodiless:
            return b""
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0 or (self._left and not more):
                raise ValueError("the body is not as long as Content-Length says")
        if not self._chunked:
            return piece
        chunk = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
        return chunk if more else chunk + b"0\r\n\r\n"

    def _frame(self, size: int, *, more: bool) -> None:
        """Decide how the response's length is indicated (RFC 9112 §6.3)."""
        headers = [field for field in self._headers if field[0] not in {b"connection", b"transfer-encoding"}]
        if any(name == b"connection" and b"close" in text.lower() for name, text in self._headers):
            self.request.persistent = False
        if not _writable(headers):
            raise ValueError("a response header holds a line break")
        declared = [text for name, text in headers if name == b"content-length"]
        if declared:
            self._left = int(declared[0])
        elif not more and self._status not in _WITHOUT_BODY:
            headers.append((b"content-length", b"%d" % size))
        elif self._is_bodiless:
            pass
        elif self.request.version == "1.1":
            self._chunked = True
        else:
            # An HTTP/1.0 client takes the end of the connection for the end of the body.
            self.request.persistent = False
        self._headers = headers


def http_scope(connection: Client, request: Request) -> HTTPScope:
    """The ASGI scope of a request."""
    path, _, query = request.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"spec_version": "2.3", "version": "3.0"},
        "http_version": request.version,
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": request.headers,
        "client": connection.client,
        "server": connection.server,
        "extensions": {},
        "state": connection.fresh_state(),
    }


def websocket_scope(connection: Client, request: Request) -> WebsocketScope:
    """The ASGI scope of a WebSocket handshake; the caller fills in subprotocols and extensions."""
    path, _, query = request.target.partition(b"?")
    return {
        "type": "websocket",
        "asgi": {"spec_version": "2.3", "version": "3.0"},
        "http_version": request.version,
        "scheme": "ws",
        "path": request.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": request.headers,
        "client": connection.client,
        "server": connection.server,
        "subprotocols": [],
        "extensions": {},
        "state": connection.fresh_state(),
    }


def _writable(headers: Headers) -> bool:
    """Whether no header contains a line break, which would end the head early (RFC 9110 §5.5)."""
    return not any(b"\n" in text or b"\r" in text or b"\n" in name or b"\r" in name for name, text in headers)
