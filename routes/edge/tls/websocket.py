"""The WebSocket of one TLS connection: Hypercorn's stream, without the faults that any client can trigger.

Faults of Hypercorn 0.18 that are fixed here:
- A byte after the handshake, before the application accepted, ended the process; here it waits for the 101.
- A non-ASCII byte in a handshake header ended the process; here it is a 400 (`transport/handshake.py`), like every
  other malformed handshake, and the connection is closed after the refusal.
- permessage-deflate was always negotiated, and messages decompressed before any check; here no extension is accepted,
  so that a compressed frame violates the protocol (1002).
- The bound of a message counted characters, and data after the closing handshake ended the process.
"""

from dataclasses import replace

import trio
import wsproto.events
from hypercorn.protocol.events import Body, Data, EndBody, Event, Request, Response, StreamClosed
from hypercorn.protocol.ws_stream import ASGIWebsocketState, WSStream
from hypercorn.typing import ASGIReceiveEvent, WebsocketAcceptEvent
from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage

from routes.edge.errors import EdgeRefused
from routes.edge.transport.handshake import EARLY_MAX_BYTES, handshake_refusal
from routes.edge.transport.refusals import farewell
from routes.edge.transport.settings import EdgeContext
from routes.edge.websocket.close_codes import CloseCode

PING_SECONDS = 30.0
"""Time between two pings, sent here because the registry of live sockets cannot send any over ASGI."""


class SocketStream(WSStream):
    """One WebSocket; takes the arguments of `WSStream`."""

    context: EdgeContext
    _early: bytearray | None = None
    _deaf = False

    # -- from the connection

    async def handle(self, event: Event) -> None:
        """Take an event of the connection (`WSStream`). Cancellation closes the connection if it interrupts a send."""
        if self.closed:
            return
        if isinstance(event, Request):
            await self._open(event)
        elif isinstance(event, Body | Data):
            await self._receive(event.data)
        elif isinstance(event, StreamClosed):
            self._ended.set()
            await super().handle(event)

    async def _open(self, request: Request) -> None:
        headers = [(name.lower(), text) for name, text in request.headers]
        refused = handshake_refusal(request.http_version, headers)
        self._early = bytearray()
        self._ended = trio.Event()
        self._parts: list[bytes] = []
        self._size = 0
        self._frame_meter = self.context.settings.frame_meter()
        if refused is not None:
            await self._refuse(refused)
            return
        headers = [(name, text) for name, text in headers if name != b"sec-websocket-extensions"]
        await super().handle(replace(request, headers=headers))

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
        if self._early:
            # In a task of its own, because this is the application's, which may have to receive first to make room.
            self.task_group.spawn(self._feed_early)
        else:
            self._early = None

    async def _feed_early(self) -> None:
        while self._early:
            data, self._early = bytes(self._early), bytearray()
            await self._parse(data)
        self._early = None

    async def _receive(self, data: bytes) -> None:
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

    def _within_rate(self) -> bool:
        return not self._frame_meter.take(self.context.settings.clock.now_ms())

    async def _react(self, event: wsproto.events.Event) -> bool:
        """Handle one event; False when everything that follows is to be ignored."""
        if isinstance(event, TextMessage | BytesMessage):
            if event.message_finished or not event.frame_finished or self._within_rate():
                return await self._take(event)
            return await self._flooded()
        if not self._within_rate():
            return await self._flooded()
        if isinstance(event, Ping):
            await self._send_wsproto_event(event.response())
        elif isinstance(event, CloseConnection):
            await self._peer_closed(event)
            return False
        return True

    async def _take(self, event: TextMessage | BytesMessage) -> bool:
        """Take one piece of a message; complete messages go to the application. Returns as `_react` does."""
        piece = event.data.encode() if isinstance(event, TextMessage) else bytes(event.data)
        self._size += len(piece)
        if self._size > self.config.websocket_max_message_size:
            return await self._give_up(CloseCode.TOO_BIG, "the message is too big")
        self._parts.append(piece)
        if not event.message_finished:
            return True
        message = b"".join(self._parts)
        self._parts, self._size = [], 0
        if self.app_put is not None:
            await self.app_put(_asgi_message(message, text=isinstance(event, TextMessage)))
        return True

    async def _flooded(self) -> bool:
        return await self._give_up(CloseCode.FLOOD, "too many control frames and fragments")

    async def _give_up(self, code: int, reason: str) -> bool:
        """Close, because the client violated a rule. Returns False, for `_react`."""
        self._parts = []
        await self._send_wsproto_event(CloseConnection(code=code, reason=reason))
        self.state = ASGIWebsocketState.CLOSED
        await self.send(StreamClosed(stream_id=self.stream_id))
        return False

    async def _peer_closed(self, event: CloseConnection) -> None:
        if self.connection.state is ConnectionState.REMOTE_CLOSING:
            await self._send_wsproto_event(event.response())
        elif self.connection.state is ConnectionState.OPEN:
            # Not a close frame of the client: the parser reports a violation this way.
            await self._send_wsproto_event(CloseConnection(code=event.code))
        self.state = ASGIWebsocketState.CLOSED
        await self.send(StreamClosed(stream_id=self.stream_id))

    async def _send_pings(self) -> None:
        # Stock sleeps on after the end of the connection, and so keeps it for up to an interval.
        while not self.closed:
            await self._send_wsproto_event(Ping())
            with trio.move_on_after(PING_SECONDS):
                await self._ended.wait()


def _asgi_message(message: bytes, *, text: bool) -> ASGIReceiveEvent:
    if text:
        return {"type": "websocket.receive", "bytes": None, "text": message.decode()}
    return {"type": "websocket.receive", "bytes": message, "text": None}
