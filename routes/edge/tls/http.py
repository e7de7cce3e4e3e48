"""HTTP/1.1 and HTTP/2 of Hypercorn, without the faults that any client can trigger.

Faults of Hypercorn 0.18 that are fixed here:
- A response sent before the request's body has arrived has `Connection: close`; stock leaves the client believing
  that its next request will be read. Over HTTP/2, with stock, the next piece of the body ends the process.
- Once the connection is over, no task waits in `can_read` for the end of a response.
- Upgrades to cleartext HTTP/2 are not offered: RFC 9113 dropped them, and each entry to the parser needs guarding.
- WebSockets over HTTP/2 are not offered (RFC 8441); browsers then open one over HTTP/1.1.
- A target or method over HTTP/2 that is not ASCII, and a thousand PRIORITY frames, end the connection with a fault in
  the log; here the request is reset, and priorities are ignored.
- A response over HTTP/2 that breaks off resets its stream; stock leaves the client waiting for the rest.
- A response over HTTP/2 waits where it is made for a client that gives no room, or little; stock holds all of it.
- A read of frames is handled a few at a time, and those that neither ask nor bring anything are counted (`frames.py`);
  with stock, one client that sends nothing else holds up everybody for a quarter of a second each time.
- A request over HTTP/2 has no more fields, and no larger ones, than one over HTTP/1.1; stock decodes 2,000 fields that
  take two bytes each, which takes ten milliseconds.
- A server that stops, or says that it will, answers what comes over HTTP/2, and then ends the connection by a GOAWAY
  behind the last response; stock resets new requests as if they were done, and may cut the end off the last response.
Head and first piece of a response are sent together.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from typing import Any, cast

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import h11
import trio
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, Data, EndBody, Request, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol, H11WSConnection
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.typing import H11SendableEvent

from routes.edge.outgoing import Headers
from routes.edge.server.parser import MAX_FIELDS
from routes.edge.tls.frames import Frames
from routes.edge.tls.waiting import Waiting
from routes.edge.tls.websocket import SocketStream
from routes.edge.transport.refusals import farewell, refusal_of_status
from routes.edge.transport.settings import EdgeContext

__all__ = ["Http1", "Http2", "Phase"]

_PSEUDO_FIELDS = 4
"""`:method`, `:scheme`, `:authority` and `:path`."""

_FIELD_BYTES = 32
"""For how many more bytes than it has a field counts in a head (RFC 9113 §6.5.2)."""


class Phase(Enum):
    """What the server is waiting for on a connection."""

    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    APPLICATION = auto()
    SOCKET = auto()


class Http1(H11Protocol):
    """One HTTP/1.1 connection; takes the arguments of `H11Protocol`."""

    _over = False
    _head = b""

    @property
    def phase(self) -> Phase:
        """The current phase."""
        if isinstance(self.connection, H11WSConnection):
            return Phase.SOCKET
        state = self.connection.their_state
        if state is h11.IDLE:
            return Phase.HEAD if self.connection.trailing_data[0] else Phase.IDLE
        return Phase.BODY if state is h11.SEND_BODY else Phase.APPLICATION

    @property
    def answerable(self) -> bool:
        """Whether no part of the response to the current request was sent."""
        return self.connection.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not self._head

    async def handle(self, event: Event) -> None:
        """Take bytes or the end of the connection (`H11Protocol`); after `Closed` reading ends, and no task waits to
        read.

        Cancellation leaves the protocol unusable; the connection has to be closed.
        """
        if isinstance(event, Closed):
            self._over = True
            await self.can_read.set()
        await super().handle(event)

    async def stream_send(self, event: StreamEvent) -> None:
        """Send a part of a response (`H11Protocol`), with `Connection: close` if the connection cannot be used again.

        Cancellation leaves the response incomplete, and closes the connection if it interrupts a send.
        """
        if isinstance(event, Response) and event.status_code >= 200 and self._last():
            headers = [(name, text) for name, text in event.headers if name.lower() != b"connection"]
            event = replace(event, headers=[*headers, (b"connection", b"close")])
        await super().stream_send(event)

    def _last(self) -> bool:
        """Whether this response is the last on its connection."""
        return (
            self.context.terminated.is_set()
            or isinstance(self.connection, H11WSConnection)
            or self.connection.their_state is h11.SEND_BODY
        )

    async def _handle_events(self) -> None:
        while not self._over:
            if self.connection.they_are_waiting_for_100_continue:
                await self._send_h11_event(h11.InformationalResponse(status_code=100, headers=[]))
            try:
                event = self.connection.next_event()
            except h11.RemoteProtocolError as error:
                if self.answerable:
                    await self._send_error_response(error.error_status_hint)
                await self.send(Closed())
                return
            if event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
                return
            if event is h11.PAUSED:
                await self.can_read.clear()
                if not self._over:
                    await self.can_read.wait()
            elif isinstance(event, h11.Request):
                await self.send(Updated(idle=False))
                await self._create_stream(event)
            elif self.stream is None:
                return
            elif isinstance(event, h11.Data):
                await self.stream.handle(Body(stream_id=STREAM_ID, data=bytes(event.data)))
            elif isinstance(event, h11.EndOfMessage):
                await self.stream.handle(EndBody(stream_id=STREAM_ID))
            elif isinstance(event, Data):
                await self.stream.handle(event)

    async def _create_stream(self, request: h11.Request) -> None:
        if request.http_version not in {b"1.0", b"1.1"}:
            await self._send_error_response(505)
            await self.send(Closed())
            return
        stream: Callable[..., HTTPStream | SocketStream] = HTTPStream
        if _is_websocket(request):
            stream = SocketStream
            self.connection = H11WSConnection(cast(h11.Connection, self.connection))
        self.stream = stream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )

    async def _send_h11_event(self, event: H11SendableEvent) -> None:
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            # After a malformed request the application may still send a response to it, which is dropped.
            if self.connection.their_state is not h11.ERROR:
                raise
            return
        if isinstance(event, h11.Response):
            self._head = data or b""
        else:
            head, self._head = self._head, b""
            await self.send(RawData(data=head + (data or b"")))

    async def _send_error_response(self, status_code: int) -> None:
        response = farewell(refusal_of_status(status_code))
        headers: Headers = [*response.headers, *self.config.response_headers("h11")]
        await self._send_h11_event(h11.Response(status_code=response.status, headers=headers))
        await self._send_h11_event(h11.Data(data=response.body))
        await self._send_h11_event(h11.EndOfMessage())


def _is_websocket(request: h11.Request) -> bool:
    upgrade = b""
    tokens: list[bytes] = []
    for name, text in request.headers:
        if name == b"upgrade":
            upgrade = text.strip().lower()
        elif name == b"connection":
            tokens += [token.strip().lower() for token in text.split(b",")]
    return upgrade == b"websocket" and b"upgrade" in tokens and request.method == b"GET"


class Http2(H2Protocol):
    """One HTTP/2 connection, over TLS only; takes the arguments of `H2Protocol`."""

    context: EdgeContext

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._frames = Frames()
        self._allowance = self.context.settings.allowance()

    @property
    def phase(self) -> Phase:
        """The current phase: a connection without a request is idle, whatever frames it carries. The bodies of its
        requests have the deadlines of the pipeline (`pipeline/bodies.py`)."""
        return Phase.IDLE if self.idle else Phase.APPLICATION

    async def initiate(
        self, headers: list[tuple[bytes, bytes]] | None = None, settings: bytes | None = None
    ) -> None:
        """Begin the connection (`H2Protocol`), without offering WebSockets; `settings` are a client's in an upgrade.

        Cancellation closes the connection if it interrupts a send.
        """
        self.connection.local_settings[h2.settings.SettingCodes.ENABLE_CONNECT_PROTOCOL] = 0
        head_bytes = self.context.settings.max_head_bytes + MAX_FIELDS * _FIELD_BYTES
        self.connection.local_settings[h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE] = head_bytes
        self.connection.local_settings.acknowledge()
        self.connection.decoder.max_header_list_size = head_bytes
        await super().initiate(headers, settings)

    async def handle(self, event: Event) -> None:
        """Take bytes or the end of the connection (`H2Protocol`); others get their turn after a few frames.

        A client that sends too many frames that neither ask nor bring anything is told so, and its connection ends.
        Cancellation leaves the protocol unusable; the connection has to be closed.
        """
        if not isinstance(event, RawData):
            await super().handle(event)
            return
        for piece in self._frames.cut(event.data):
            if self.closed:
                return
            idle, self._frames.idle = self._frames.idle, 0
            if idle and not self._allowance.take(idle):
                await self._end(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
                return
            await super().handle(RawData(piece))
            await trio.lowlevel.checkpoint()

    async def stream_send(self, event: StreamEvent) -> None:
        """Send a part of a response (`H2Protocol`).

        One that ends before its body is complete has its stream reset (RFC 9113 §8.1): its client would wait for the
        rest, and what waits of it be kept. Cancellation leaves the response incomplete, and closes the connection if it
        interrupts a send.
        """
        if not isinstance(event, StreamClosed):
            await super().stream_send(event)
            return
        buffer = self.stream_buffers.get(event.stream_id)
        if buffer is not None and not buffer.complete:
            await self._break_off(event.stream_id)
        else:
            self._allowance.answered()
        await self._close_stream(event.stream_id)
        await self.send(Updated(idle=self.idle))
        await self._part_if_stopping()

    async def part(self) -> bool:
        """End the connection, unless something is being asked or answered; returns whether it has ended.

        Whoever asks meanwhile knows by the GOAWAY that nothing has looked at the request, and may repeat it elsewhere
        (RFC 9113 §6.8). Cancellation during the send closes the connection at once.
        """
        if self.idle and not (self.stream_buffers or self.closed):
            await self._end(h2.errors.ErrorCodes.NO_ERROR)
        return self.closed

    async def _end(self, why: h2.errors.ErrorCodes) -> None:
        self.connection.close_connection(why)
        await self._flush()
        await self.send(Closed())

    async def _break_off(self, stream_id: int) -> None:
        with suppress(h2.exceptions.ProtocolError):  # the client has ended it already
            self.connection.reset_stream(stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)
        await self._flush()
        await self._window_updated(stream_id)  # has the sending task look at it, which drops what waits

    async def _send_data(self, stream_id: int) -> None:
        await super()._send_data(stream_id)
        await self._part_if_stopping()

    async def _part_if_stopping(self) -> None:
        """End the connection of a server that stops, once all responses have left whole."""
        if self.context.terminated.is_set():
            await self.part()

    async def _handle_events(self, events: list[h2.events.Event]) -> None:
        for event in events:
            if isinstance(event, h2.events.RequestReceived):
                await self._create_stream(event)
            elif isinstance(event, h2.events.DataReceived) and event.stream_id not in self.streams:
                # Its response was sent before its body arrived; the rest still counts in the flow control.
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            else:
                await super()._handle_events([event])
        await self._flush()

    async def _create_stream(self, request: h2.events.RequestReceived) -> None:
        fields = request.headers or ()
        too_many = len(fields) > MAX_FIELDS + _PSEUDO_FIELDS
        refused = h2.errors.ErrorCodes.ENHANCE_YOUR_CALM if too_many else _refusal(dict(fields))
        if refused is not None:
            self.connection.reset_stream(request.stream_id, refused)
            return
        await super()._create_stream(request)
        # Nothing has been put into stock's: the application begins once this task waits, and it has not yet.
        self.stream_buffers[request.stream_id] = Waiting(self.context.event_class, self._allowance.sent)
        await self.send(Updated(idle=False))

    async def _priority_updated(self, event: h2.events.PriorityUpdated) -> None:
        """Does nothing: the priorities of RFC 7540 are deprecated (RFC 9113 §5.3)."""


def _refusal(fields: dict[bytes, bytes]) -> h2.errors.ErrorCodes | None:
    """Why a request is reset before anything looks at it (RFC 9113 §8.1.1), or None."""
    method, target = fields.get(b":method", b""), fields.get(b":path", b"")
    if method == b"CONNECT":
        return h2.errors.ErrorCodes.REFUSED_STREAM
    is_path = target.startswith(b"/") or (method, target) == (b"OPTIONS", b"*")  # §8.3.1
    if not (method.isascii() and target.isascii() and is_path) or b"#" in target:
        return h2.errors.ErrorCodes.PROTOCOL_ERROR
    return None
