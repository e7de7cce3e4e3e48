"""The WebSocket of one connection: Hypercorn's stream with what strangers can break taken out.

Cures of Hypercorn 0.18 that live here:
- A byte after the handshake, before the application accepted, ended the process; here it waits for the 101.
- A non-ASCII byte in a handshake header ended the process; here it is a 400. So does every other broken
  handshake, and the connection is closed behind the refusal.
- permessage-deflate was always negotiated, and inflated before any check; here no extension is ever offered,
  so that a compressed frame breaks the protocol (1002).
- The bound of a message counted characters, and data after the closing handshake ended the process.
"""

import base64
import binascii
from dataclasses import replace
from typing import Protocol

import trio
import wsproto.events
from hypercorn.protocol.events import Body, Data, EndBody, Event, Request, Response, StreamClosed
from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream
from hypercorn.typing import ASGIReceiveEvent, WebsocketAcceptEvent
from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.utilities import LocalProtocolError

from routes.edge.close_codes import CloseCode
from routes.edge.errors import EdgeRefused
from routes.edge.server_refusals import BadRequest, UpgradeRequired, farewell
from routes.edge.server_writer import Writer
from routes.edge.socket_direct import DirectSocket, Link

EARLY_MAX_BYTES = 64 * 1024
"""What a client may send on the heels of its handshake (RFC 6455 §4.1 lets it send nothing)."""

PING_SECONDS = 30.0
"""Between two pings over TLS, where the registry cannot reach the socket."""


class Direct(Protocol):
    """What a cleartext connection lends to its WebSocket, as `connection` in the state that is passed on."""

    writer: Writer

    def become_socket(self) -> None:
        """The handshake is being answered with 101."""
        ...

    def expect_close(self) -> None:
        """Our close frame is sent; end the connection when the peer does not answer it in time."""
        ...


class SocketStream(WSStream, Link):
    """One WebSocket; arguments as in `WSStream`. It is a `Link` where the connection lends its writer."""

    direct: Direct | None = None
    _socket: DirectSocket | None = None
    _early: bytearray | None = None
    _deaf = False

    # -- Link

    def attach(self, socket: DirectSocket) -> None:
        """As in `Link`."""
        self._socket = socket
        if self.closed:
            # The client was gone before the application came to accept it.
            socket.lost(CloseCode.ABNORMAL)

    def say_goodbye(self, code: int, reason: str) -> None:
        """As in `Link`."""
        if self.state is not ASGIWebsocketState.CONNECTED or self.direct is None:
            return
        try:
            frame = self.connection.send(CloseConnection(code=code, reason=reason or None))
        except LocalProtocolError:
            # The peer was quicker.
            return
        self.state = ASGIWebsocketState.CLOSED
        self.writer.write(bytes(frame))
        self.direct.expect_close()

    # -- from the connection

    async def handle(self, event: Event) -> None:
        """As in `WSStream`."""
        if self.closed:
            return
        if isinstance(event, Request):
            await self._open(event)
        elif isinstance(event, Body | Data):
            await self._receive(event.data)
        elif isinstance(event, StreamClosed):
            self._ended.set()
            if self._socket is not None:
                self._socket.lost(CloseCode.ABNORMAL)
            await super().handle(event)

    async def _open(self, request: Request) -> None:
        refused = _refusal(request)
        self._early = bytearray()
        self._ended = trio.Event()
        self._parts: list[bytes] = []
        self._size = 0
        if refused is not None:
            await self._refuse(refused)
            return
        state = dict(request.state)
        self.direct = state.pop("connection", None)
        if self.direct is not None:
            self.writer = self.direct.writer
            state["connection"] = self
        headers = [(name, text) for name, text in request.headers if name != b"sec-websocket-extensions"]
        await super().handle(replace(request, headers=headers, state=type(request.state)(state)))

    async def _refuse(self, refused: EdgeRefused) -> None:
        self.closed = True
        response = farewell(refused)
        await self.send(
            Response(stream_id=self.stream_id, status_code=response.status, headers=response.headers)
        )
        await self.send(Body(stream_id=self.stream_id, data=response.body))
        await self.send(EndBody(stream_id=self.stream_id))
        await self.send(StreamClosed(stream_id=self.stream_id))

    async def _accept(self, message: WebsocketAcceptEvent) -> None:
        await super()._accept(message)
        if self.direct is not None:
            self.direct.become_socket()
        if self._early:
            # In a task of its own: the application, whose task this is, may have to make room in its inbox
            # first.
            self.task_group.spawn(self._feed_early)
        else:
            self._early = None

    async def _feed_early(self) -> None:
        while self._early:
            data, self._early = bytes(self._early), bytearray()
            await self._parse(data)
        self._early = None

    async def _receive(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.heard = True
        if self._early is None:
            await self._parse(data)
            return
        self._early += data
        if len(self._early) > EARLY_MAX_BYTES:
            await self.send(StreamClosed(stream_id=self.stream_id))

    async def _parse(self, data: bytes) -> None:
        if self._deaf or self.connection.state in {ConnectionState.CLOSED, ConnectionState.REMOTE_CLOSING}:
            return
        self.connection.receive_data(data)
        for event in self.connection.events():
            if not await self._react(event):
                self._deaf = True
                return

    async def _react(self, event: wsproto.events.Event) -> bool:
        """Do what one event asks for; False when nothing that follows has a meaning."""
        if isinstance(event, TextMessage | BytesMessage):
            return await self._take(event)
        if isinstance(event, Ping):
            await self._send_wsproto_event(event.response())
        elif isinstance(event, CloseConnection):
            await self._peer_closed(event)
            return False
        return True

    async def _take(self, event: TextMessage | BytesMessage) -> bool:
        """One piece of a message; whole messages go to the live socket, or else to the application."""
        piece = event.data.encode() if isinstance(event, TextMessage) else bytes(event.data)
        self._size += len(piece)
        if self._size > self.config.websocket_max_message_size:
            return await self._give_up(CloseCode.TOO_BIG, "the message is too big")
        self._parts.append(piece)
        if not event.message_finished:
            return True
        message = b"".join(self._parts)
        self._parts, self._size = [], 0
        if self._socket is None:
            if self.app_put is not None:
                await self.app_put(_asgi_message(message, text=isinstance(event, TextMessage)))
        elif isinstance(event, TextMessage):
            await self._socket.deliver(message)
        else:
            return await self._give_up(CloseCode.BAD_FRAME, "binary frames are not taken")
        return True

    async def _give_up(self, code: int, reason: str) -> bool:
        """Close, because the client broke a rule; False, as for `_react`."""
        self._parts = []
        if self._socket is not None:
            self._socket.close(code, reason)
        else:
            await self._send_wsproto_event(CloseConnection(code=code, reason=reason))
            self.state = ASGIWebsocketState.CLOSED
            await self.send(StreamClosed(stream_id=self.stream_id))
        return False

    async def _peer_closed(self, event: CloseConnection) -> None:
        if self.connection.state is ConnectionState.REMOTE_CLOSING:
            await self._send_wsproto_event(event.response())
        elif self.connection.state is ConnectionState.OPEN:
            # Not a close frame: the parser's verdict on what came.
            await self._send_wsproto_event(CloseConnection(code=event.code))
        if self._socket is not None:
            self._socket.lost(event.code, event.reason or "")
        self.state = ASGIWebsocketState.CLOSED
        await self.send(StreamClosed(stream_id=self.stream_id))

    async def _send_pings(self) -> None:
        # The registry of live sockets pings those it can reach, and knows which are silent.
        if self.direct is not None:
            return
        # Stock sleeps through the end of the connection, and holds it for up to an interval.
        while not self.closed:
            await self._send_wsproto_event(Ping())
            with trio.move_on_after(PING_SECONDS):
                await self._ended.wait()


def _asgi_message(message: bytes, *, text: bool) -> ASGIReceiveEvent:
    if text:
        return {"type": "websocket.receive", "bytes": None, "text": message.decode()}
    return {"type": "websocket.receive", "bytes": message, "text": None}


def _refusal(request: Request) -> EdgeRefused | None:
    """What is wrong with a handshake (RFC 6455 §4.2.1), or None."""
    fields: dict[bytes, list[bytes]] = {}
    for name, text in request.headers:
        fields.setdefault(name.lower(), []).append(text)
    for name in (b"connection", b"sec-websocket-protocol", b"sec-websocket-key", b"sec-websocket-version"):
        if not all(text.isascii() for text in fields.get(name, ())):
            return BadRequest("a handshake header holds a byte that is not ASCII")
    if request.http_version != "1.1":
        return BadRequest("a WebSocket needs HTTP/1.1")
    if fields.get(b"sec-websocket-version") != [b"13"]:
        return UpgradeRequired()
    keys = fields.get(b"sec-websocket-key", [])
    if len(keys) != 1 or not _is_key(keys[0]):
        return BadRequest("Sec-WebSocket-Key must be 16 bytes in base64")
    return None


def _is_key(text: bytes) -> bool:
    try:
        return len(base64.b64decode(text.strip(), validate=True)) == 16
    except binascii.Error:
        return False
