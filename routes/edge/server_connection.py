"""One connection: reading, deadlines, and how it ends.

The phases of a connection have deadlines, but no timers: `deadline` is a number that the server's one sweeper
compares with the clock once a second. It only runs while we wait for the client, never while the client waits
for us.

A connection ends in this order: our last byte, FIN, then everything that still comes is read and thrown away
until the client closes too, or `linger_seconds` are over. Closing at once would answer unread bytes with a
reset, which takes the response out of the client's hands (RFC 9112 §9.6).

Whatever goes wrong in one connection ends that connection (`contained`); Hypercorn's own would end the
process.
"""

import socket as stdlib_socket
from abc import abstractmethod
from math import inf
from typing import TypeAlias, cast

import structlog
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState
from hypercorn.utils import parse_socket_addr

from routes.edge.errors import contained
from routes.edge.server_http import Http1, Http2, Phase
from routes.edge.server_refusals import RequestTimeout, raw
from routes.edge.server_settings import EdgeContext
from routes.edge.server_tasks import ConnectionTasks
from routes.edge.server_writer import Writer

log = structlog.get_logger("partyline.server")

ABANDON_SECONDS = 10.0
"""What applications get to end after their client is gone; reads need none, writes go on without them."""

SOCKET_SEND_BYTES = 128 * 1024
"""Of a WebSocket, in the kernel (which doubles it). Left alone it grows to megabytes of stale snapshots for
one slow client; with this the client is skipped to the newest sooner, and 2 MB/s still fit through 100 ms of
distance."""

Address: TypeAlias = tuple[str, int]


class EdgeConnection(TCPServer):
    """One accepted connection, abstract over how bytes travel.

    Args:
        app, config, context, state, stream: as in `TCPServer`; the context is ours.

    Attributes:
        deadline: trio time at which `expire` is due, `inf` for none.
        closing: our side is done; what comes is thrown away.
    """

    context: EdgeContext

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: EdgeContext,
        state: LifespanState,
        stream: trio.abc.Stream,
    ) -> None:
        # Hypercorn's annotation is narrower than what it does: it takes both sorts, and so do our two
        # children.
        super().__init__(app, config, context, state, cast(trio.SSLStream[trio.SocketStream], stream))
        self.settings = context.settings
        self.deadline = trio.current_time() + self.settings.head_seconds
        self.closing = False
        self._phase = Phase.HEAD
        self._phase_deadline = self.deadline
        self._end_by = inf
        self._http: Http1 | Http2 | None = None
        self._tasks = ConnectionTasks(self._report)

    @abstractmethod
    async def _receive(self) -> bytes:
        """The next bytes, empty at the end; raises OSError or trio's resource errors when it is broken."""

    @abstractmethod
    def abort(self) -> None:
        """Close at once, whatever still waits; wakes everybody who waits on the socket."""

    @abstractmethod
    def stalled(self, now: float) -> bool:
        """The client has taken nothing for `stall_seconds`, although something waits for it."""

    def begin_close(self) -> None:
        """Our side is done; linger for the client's end."""
        if not self.closing:
            self.closing = True
            self.deadline = trio.current_time() + self.settings.linger_seconds

    def expect_close(self) -> None:
        """Our close frame is on its way; the client's must come in `linger_seconds`."""
        self._end_by = self.deadline = trio.current_time() + self.settings.linger_seconds

    def retire(self) -> None:
        """The server stops: an idle connection ends now, others with their response (or their socket)."""
        if self._phase in {Phase.IDLE, Phase.HEAD}:
            self.begin_close()

    def sweep(self, now: float) -> None:
        """Called by the server's sweeper, with trio's time."""
        if self.stalled(now):
            self.abort()
        elif now >= self.deadline:
            self.expire()

    def expire(self) -> None:
        """The client has not done in time what we waited for."""
        if self.closing or self._end_by < inf or not isinstance(self._http, Http1):
            self.abort()
        else:
            if self._phase in {Phase.HEAD, Phase.BODY} and self._http.answerable:
                self._refuse_late()
            self.begin_close()

    def _refuse_late(self) -> None:
        """Say 408, where it can be said."""

    def _report(self, error: BaseException) -> None:
        log.error("connection failed", exc_info=error)

    async def _converse(self, http: Http1 | Http2) -> None:
        """Read until the client ends, inside the nursery of this connection."""
        self._http = http
        await http.initiate()
        await self._read_until_end(http)
        self._tasks.nursery.cancel_scope.deadline = trio.current_time() + ABANDON_SECONDS
        await http.handle(Closed())

    async def _read_until_end(self, http: Http1 | Http2) -> None:
        while True:
            try:
                data = await self._receive()
            except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                return
            if not data:
                return
            if self.closing:
                continue
            self.deadline = inf
            await http.handle(RawData(data))
            if not self.closing:
                self._wait_for_client(http, len(data))

    def _wait_for_client(self, http: Http1 | Http2, came_bytes: int) -> None:
        """Set the deadline of the phase in which we are, now that everything that came has been handled."""
        now, settings = trio.current_time(), self.settings
        phase = http.phase if isinstance(http, Http1) else Phase.APPLICATION
        if phase is not self._phase:
            self._phase = phase
            grace = {
                Phase.IDLE: settings.keep_alive_seconds,
                Phase.HEAD: settings.head_seconds,
                Phase.BODY: settings.body_seconds,
            }
            self._phase_deadline = now + grace.get(phase, inf)
        elif phase is Phase.BODY:
            self._phase_deadline += came_bytes / settings.body_bytes_per_second
        if phase is Phase.SOCKET and self.silence_seconds is not None:
            self._phase_deadline = now + self.silence_seconds
        self.deadline = min(self._phase_deadline, self._end_by)

    silence_seconds: float | None = None
    """After how much silence a WebSocket is dead, where nobody else looks after it."""

    async def _closed(self) -> None:
        self.begin_close()
        if self._http is not None:
            await self._http.handle(Closed())

    def _updated(self, event: Updated) -> None:
        if not event.idle:
            self._phase = Phase.APPLICATION
            self._phase_deadline = self.deadline = inf
        elif not self.closing:
            self._phase = Phase.IDLE
            self._phase_deadline = trio.current_time() + self.settings.keep_alive_seconds
            self.deadline = self._phase_deadline


def ends_of(
    sock: stdlib_socket.socket | trio.socket.SocketType,
) -> tuple[Address | None, Address | None] | None:
    """The addresses of client and server (each None on a Unix socket); None when the client is gone."""
    try:
        return (
            parse_socket_addr(sock.family, sock.getpeername()),
            parse_socket_addr(sock.family, sock.getsockname()),
        )
    except OSError:
        return None


class CleartextConnection(EdgeConnection):
    """A connection without TLS: we own the socket, and everything leaves through one `Writer`.

    Args:
        as in `EdgeConnection`; the stream gives up its socket.
    """

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: EdgeContext,
        state: LifespanState,
        stream: trio.SocketStream,
    ) -> None:
        super().__init__(app, config, context, state, stream)
        theirs = stream.socket
        family, kind, protocol = theirs.family, theirs.type, theirs.proto
        self._socket = stdlib_socket.socket(family, kind, protocol, fileno=theirs.detach())
        self.writer = Writer(self._socket, spawn=self._tasks.start_soon, broken=self.abort)

    async def run(self) -> None:
        """Serve the connection to its end."""
        with contained(self._report):
            try:
                addresses = ends_of(self._socket)
                if addresses is not None:
                    async with self._tasks:
                        await self._converse(self._speak(*addresses))
            finally:
                self.abort()

    def _speak(self, client: Address | None, server: Address | None) -> Http1:
        state = ConnectionState({**self.state, "connection": self})
        return Http1(
            self.app,
            self.config,
            self.context,
            self._tasks,
            state,
            False,
            client,
            server,
            self.protocol_send,
        )

    async def protocol_send(self, event: Event) -> None:
        """What Hypercorn's protocols send: bytes, the end, or whether they are idle."""
        if isinstance(event, RawData):
            if event.data and not self.closing:
                self.writer.write(event.data)
                await self.writer.wait_clear()
        elif isinstance(event, Closed):
            await self._closed()
        elif isinstance(event, Updated):
            self._updated(event)

    async def _receive(self) -> bytes:
        while True:
            if self._socket.fileno() < 0:
                # Aborted while we were busy with what came before.
                raise trio.ClosedResourceError
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return self._socket.recv(MAX_RECV)
            except BlockingIOError:
                continue

    def begin_close(self) -> None:
        """As in `EdgeConnection`, and our FIN goes out behind what waits."""
        super().begin_close()
        self.writer.finish()

    def become_socket(self) -> None:
        """This is a WebSocket from now on: bound what the kernel buffers for it."""
        self._socket.setsockopt(stdlib_socket.SOL_SOCKET, stdlib_socket.SO_SNDBUF, SOCKET_SEND_BYTES)

    def stalled(self, now: float) -> bool:
        """As in `EdgeConnection`."""
        return self.writer.waiting is not None and now - self.writer.took_at >= self.settings.stall_seconds

    def abort(self) -> None:
        """As in `EdgeConnection`."""
        self.closing = True
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
        self.writer.abandon()

    def _refuse_late(self) -> None:
        self.writer.write(raw(RequestTimeout()))
