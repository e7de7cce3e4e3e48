"""One cleartext connection while it speaks HTTP/1.1: reading, deadlines, and how it ends.

One task (`server/requests.py`) awaits the application, request after request, and sleeps in between; the reactor reads
for it. What it waits for, and how long, is the table in `phases.py`.

A connection ends in this order: the last byte of the response, FIN, then everything that still arrives is read and
dropped until the client closes too. Closing at once would answer unread bytes with a reset, by which the client may
lose the response (RFC 9112 §9.6). An error in one connection ends that connection only.
"""

import socket
from math import inf

import trio
from hypercorn.typing import ConnectionState
from hypercorn.utils import parse_socket_addr

from routes.edge.contained import contained
from routes.edge.errors import EdgeRefused
from routes.edge.server.admission import Slot
from routes.edge.server.handover import Handover, Swept, hand_over
from routes.edge.server.parser import UNREAD_PIECES, RequestParser
from routes.edge.server.phases import ABANDON_SECONDS, Phase
from routes.edge.server.request import Request
from routes.edge.server.requests import Requests
from routes.edge.server.shared import Shared
from routes.edge.transport.handshake import EARLY_MAX_BYTES
from routes.edge.transport.reactor import SocketAddress
from routes.edge.transport.refusals import RequestTimeout, raw
from routes.edge.transport.writer import Writer


class HttpConnection:
    """One accepted connection; implements `Watched`, `Swept` and the writer's `Owner`.

    Args:
        shared: what all cleartext connections of the server share.
        sock: the connection's non-blocking socket.
        slot: counts this connection.
        client: the address of the other end, None on a Unix socket.

    Attributes:
        answering: whether a response has begun and is not complete.
        closed: whether the socket is closed.
        writer: sends everything that leaves the connection.
    """

    __slots__ = (
        "_closing",
        "_deadline",
        "_eof",
        "_handed",
        "_parser",
        "_phase",
        "_reading",
        "_rested_at",
        "_running",
        "_scope",
        "_shared",
        "_slot",
        "_sock",
        "_waiter",
        "answering",
        "client",
        "closed",
        "writer",
    )

    def __init__(
        self,
        shared: Shared,
        sock: socket.socket,
        slot: Slot,
        client: SocketAddress | None,
    ) -> None:
        self._shared = shared
        self._sock = sock
        self._slot = slot
        self.client = client
        unsent = shared.settings.unsent
        self.writer = Writer(sock, self, unsent.tab(slot.key), unsent)
        self.answering = self.closed = False
        self._parser = RequestParser(shared.settings.max_head_bytes)
        self._phase = Phase.HEAD
        self._deadline = trio.current_time() + shared.settings.head_seconds
        self._scope = trio.CancelScope()
        self._waiter: trio.lowlevel.Task | None = None
        self._closing = self._eof = self._handed = False
        self._reading = self._running = True
        self._rested_at = 0.0

    async def run(self) -> None:
        """Answer requests until the connection ends or is handed over. Cancellation leaves the socket to `abort`."""
        requests = Requests(self, self._shared)
        with self._scope, contained(self._shared.report):
            await requests.run()
        self._running = False
        if not self._handed:
            requests.conclude()
        self._parser.part()
        if self.closed:
            self._slot.leave()

    # -- called by `Requests`

    async def next_request(self) -> Request | None:
        """The next request whose head is complete; None at the end, or if `refused` is set. Cancellation loses none."""
        parser, settings = self._parser, self._shared.settings
        while not parser.requests:
            if parser.refused is not None or self.ending:
                return None
            if self._phase is Phase.APPLICATION or self._phase is Phase.BODY:
                if parser.in_head:
                    self._wait_for(Phase.HEAD, settings.head_seconds)
                else:
                    self._wait_for(Phase.IDLE, settings.keep_alive_seconds)
                    self._slot.rest(self)
            await self.wait_more()
        request = parser.requests.popleft()
        if self._closing or (parser.refused is not None and not request.complete):
            return None  # the application never sees a body that is malformed
        if parser.waits:
            parser.resume()
            self._regulate()
        if self._eof:
            self._wait_for(Phase.APPLICATION, ABANDON_SECONDS)
        elif request.complete:
            self._phase, self._deadline = Phase.APPLICATION, inf
        else:
            self._wait_for(Phase.BODY, settings.body_seconds)
        return request

    @property
    def refused(self) -> EdgeRefused | None:
        """The error in the client's bytes after which no more is parsed, or None."""
        return self._parser.refused

    @property
    def ending(self) -> bool:
        """Whether either side has finished sending, so that no request is begun."""
        return self._closing or self._eof

    def handover(self, request: Request) -> Handover:
        """The connection's parts, for the WebSocket that takes its place.

        Args:
            request: the handshake.
        """
        return hand_over(
            self._sock,
            self.writer,
            self._shared,
            request,
            early=bytes(self._parser.early or b""),
            reads=self._reading,
            slot=self._slot,
        )

    def taken(self, by: Swept) -> None:
        """Give the socket to another connection object, which owns it from now on.

        Args:
            by: the new owner.
        """
        self._handed = True
        self._slot.holder = by

    # -- called by exchanges

    @property
    def is_last(self) -> bool:
        """Whether the server is stopping, so that every response is the last of its connection."""
        return self._shared.retiring

    @property
    def server(self) -> SocketAddress | None:
        """The address of this end; None on a Unix socket, and once the socket is closed."""
        return None if self.closed else parse_socket_addr(self._sock.family, self._sock.getsockname())

    def fresh_state(self) -> ConnectionState:
        """A copy of the lifespan's state, as ASGI requires for each request."""
        return ConnectionState(self._shared.state.copy())

    async def wait_more(self) -> bool:
        """Wait until bytes were read; False when no more will come. Cancellation loses none."""
        if self.ending:
            return False
        self._waiter = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._forget_waiter)
        return not self.ending

    def took_body(self) -> None:
        """Resume reading if there is room, because the application took a part of the body."""
        self._regulate()

    def _forget_waiter(self, _: object) -> trio.lowlevel.Abort:
        self._waiter = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            trio.lowlevel.reschedule(waiter)

    # -- called by the reactor

    def readable(self) -> None:
        """Read and parse what has arrived, and wake the task; called by the reactor, and before retiring."""
        shared = self._shared
        try:
            count = self._sock.recv_into(shared.buffer)
        except BlockingIOError:
            return
        except OSError:
            self.abort()
            return
        if count == 0:
            self._ended()
        elif not self._closing:
            self._parser.feed(shared.view[:count])
            self._came(count)
            self._regulate()
            self._wake()

    def writable(self) -> None:
        """Send what waits; called by the reactor."""
        self.writer.flush()

    def _ended(self) -> None:
        """Note that the client has finished sending. It may still read, so the request in progress is answered."""
        self._eof = True
        if self._closing and self.writer.waiting is None:
            self.abort()
            return
        self._regulate()
        self._parser.end()
        if self._phase is Phase.BODY and self._parser.refused is not None:
            self._break_off(self._parser.refused)
        elif self._phase is not Phase.LINGER:
            self._wait_for(Phase.APPLICATION, ABANDON_SECONDS)
            self._wake()

    def _came(self, count: int) -> None:
        phase, parser, settings = self._phase, self._parser, self._shared.settings
        if phase is Phase.IDLE and parser.in_head:
            self._wait_for(Phase.HEAD, settings.head_seconds)
        elif phase is Phase.BODY:
            if parser.refused is not None:
                self._break_off(parser.refused)
            elif parser.is_body_open:
                self._deadline += count / settings.body_bytes_per_second
            else:
                self._phase, self._deadline = Phase.APPLICATION, inf
        if parser.early is not None and len(parser.early) > EARLY_MAX_BYTES:
            self.begin_close()

    def _regulate(self) -> None:
        """Pause or resume reading, depending on what waits for the application."""
        parser = self._parser
        reading = not self._eof and (
            self._closing or not (parser.waits or parser.unread_pieces > UNREAD_PIECES)
        )
        if reading is not self._reading and not (self.closed or self._handed):
            self._reading = reading
            self._shared.reactor.want(
                self._sock.fileno(), read=reading, write=self.writer.waiting is not None
            )
            if reading:
                self._deadline += trio.current_time() - self._rested_at
            else:
                self._rested_at = trio.current_time()

    # -- called by the writer

    def watch(self, waiting: bool) -> None:
        """Have the reactor report when the socket takes more, while bytes wait (`Owner.watch`)."""
        if self.closed:
            return
        self._shared.reactor.want(self._sock.fileno(), read=self._reading, write=waiting)
        if not waiting and self._closing and self._eof:
            self.abort()

    def broken(self) -> None:
        """Close the socket, which has failed (`Owner.broken`)."""
        self.abort()

    # -- deadlines, and the end

    def _wait_for(self, phase: Phase, seconds: float) -> None:
        self._phase = phase
        self._deadline = trio.current_time() + seconds

    def sweep(self, now: float) -> None:
        """Enforce the deadline and the client's reading rate; `now` is trio's time."""
        settings = self._shared.settings
        if self.writer.lags(
            now, grace_seconds=settings.stall_seconds, bytes_per_second=settings.take_bytes_per_second
        ):
            self.abort()
        elif now >= self._deadline and (self._reading or self._phase is not Phase.BODY):
            self._expire()

    def _expire(self) -> None:
        if self._phase is Phase.LINGER:
            self.abort()
        elif self._phase is Phase.APPLICATION:
            self._deadline = inf
            self._scope.cancel()
        elif self._phase is Phase.IDLE:
            self.begin_close()
        else:
            self._break_off(RequestTimeout())

    def _break_off(self, refused: EdgeRefused) -> None:
        """Refuse a request that stays incomplete, unless its response has begun, and close."""
        if not self.answering:
            self.writer.write(raw(refused))
        self.begin_close()

    def retire(self) -> None:
        """Close if idle, because the server is stopping. A request that has begun to arrive is still answered.

        What was sent arrives even so, and nobody waits for a client that may rest for minutes: it learns of the end by
        our FIN, as with every idle connection that ends.
        """
        if self._phase is Phase.IDLE or self._phase is Phase.HEAD:
            self.readable()
            if not (self._parser.in_head or self._parser.requests):
                self.begin_close()
                if self.writer.waiting is None:
                    self.abort()

    def give_way(self) -> bool:
        """Close if idle with nothing to read or to send, to make room for another connection (`Resting`)."""
        if self._phase is Phase.IDLE and self.writer.waiting is None:
            self.retire()
        return self.closed

    def begin_close(self) -> None:
        """Send what waits and FIN, then drop what arrives until the client closes."""
        if self._closing or self.closed:
            return
        self._closing = True
        self._regulate()
        self._wait_for(Phase.LINGER, self._shared.settings.linger_seconds)
        self.writer.finish()
        if self._eof and self.writer.waiting is None:
            self.abort()
        self._wake()

    def abort(self) -> None:
        """Close the socket at once. The task ends by itself, or is cancelled after `ABANDON_SECONDS`."""
        if self.closed or self._handed:
            return
        self.closed = self._closing = True
        self._shared.reactor.remove(self._sock.fileno())
        self._sock.close()
        self.writer.abandon()
        if self._running:
            self._deadline = trio.current_time() + ABANDON_SECONDS
            self._phase = Phase.APPLICATION
            self._wake()
        else:
            self._slot.leave()
