"""A connection over TLS: Hypercorn's send path, with a bound on the duration of sends.

Writing to the socket below a TLS stream would corrupt it, so live sockets here are `QueuedSocket`s. Stock Hypercorn
shields its sends from cancellation, so that a client that never reads could block one for ever. Here the sweep ends
it, and a cancelled send ends the connection, because half a TLS record cannot be taken back.

Deadlines are those of `server/phases.py`, and a connection ends in the order of `server/connection.py`.
"""

from contextlib import suppress
from math import inf

import structlog
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState
from hypercorn.utils import parse_socket_addr

from routes.edge.contained import contained
from routes.edge.server.admission import Slot
from routes.edge.server.phases import ABANDON_SECONDS
from routes.edge.tls.http import Http1, Http2, Phase
from routes.edge.tls.tasks import ConnectionTasks
from routes.edge.transport.reactor import SocketAddress
from routes.edge.transport.settings import EdgeContext

log = structlog.get_logger()

SILENCE_SECONDS = 90.0
"""Hypercorn pings WebSockets each 30 s here; one that is silent for three of them is dead."""


def ends_of(sock: trio.socket.SocketType) -> tuple[SocketAddress | None, SocketAddress | None] | None:
    """The addresses of client and server (each None on a Unix socket); None when the client is gone."""
    try:
        return (
            parse_socket_addr(sock.family, sock.getpeername()),
            parse_socket_addr(sock.family, sock.getsockname()),
        )
    except OSError:
        return None


class TlsConnection(TCPServer):
    """A connection over TLS, HTTP/1.1 or HTTP/2 as negotiated; implements `Swept`.

    Args:
        app, config, state, stream: as for Hypercorn's `TCPServer`.
        context: Hypercorn's context, with the server's settings.
        slot: counts this connection.

    Attributes:
        deadline: trio's time at which `_expire` is due, `inf` for none.
        closing: whether the server has finished sending, so that what arrives is dropped.
    """

    context: EdgeContext

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: EdgeContext,
        state: LifespanState,
        stream: trio.SSLStream[trio.SocketStream],
        *,
        slot: Slot,
    ) -> None:
        super().__init__(app, config, context, state, stream)
        self.settings = context.settings
        self.deadline = trio.current_time() + self.settings.head_seconds
        self.closing = False
        self._tls = stream
        self._slot = slot
        self._sending_since: float | None = None
        self._phase = Phase.HEAD
        self._phase_deadline = self.deadline
        self._http: Http1 | Http2 | None = None
        self._hears = False  # whether the client may still ask; afterwards the nursery closes
        self._tasks = ConnectionTasks(self._report)

    async def run(self) -> None:
        """Serve the connection from TLS handshake to end; exceptions are reported. Cancellation closes the socket at
        once.
        """
        with contained(self._report):
            try:
                addresses = ends_of(self._tls.transport_stream.socket)
                if addresses is not None and await self._shake_hands():
                    async with self._tasks:
                        await self._converse(self._speak(*addresses))
            finally:
                self.abort()

    async def _shake_hands(self) -> bool:
        with trio.move_on_after(self.settings.head_seconds):
            try:
                await self._tls.do_handshake()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return False
            return True
        return False

    def _speak(self, client: SocketAddress | None, server: SocketAddress | None) -> Http1 | Http2:
        protocol = Http2 if self._tls.selected_alpn_protocol() == "h2" else Http1
        return protocol(
            self.app,
            self.config,
            self.context,
            self._tasks,
            ConnectionState(self.state),
            True,
            client,
            server,
            self.protocol_send,
        )

    async def protocol_send(self, event: Event) -> None:
        """Carry out an event of Hypercorn's protocols: send bytes, close, or note whether they are idle.

        Cancellation during a send closes the connection, because part of a TLS record may have been sent.
        """
        if isinstance(event, RawData):
            if event.data and not self.closing:
                await self._send_all(event.data)
        elif isinstance(event, Closed):
            await self._closed()
        elif isinstance(event, Updated):
            self._updated(event)

    async def _send_all(self, data: bytes) -> None:
        async with self.send_lock:
            if self.closing:
                return
            self._sending_since = trio.current_time()
            try:
                await self._tls.send_all(data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                self.abort()
            except trio.Cancelled:
                self.abort()
                raise
            finally:
                self._sending_since = None
            self._finish()

    async def _receive(self) -> bytes:
        return bytes(await self._tls.receive_some(MAX_RECV))

    def _report(self, error: BaseException) -> None:
        log.error("connection failed", exc_info=error)

    async def _converse(self, http: Http1 | Http2) -> None:
        """Serve the connection until the client ends it, within its nursery."""
        self._http = http
        await http.initiate()
        self._hears = True
        try:
            await self._read_until_end(http)
        finally:
            self._hears = False
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
        """Set the deadline of the current phase, after everything received was handled."""
        now, settings = trio.current_time(), self.settings
        phase = http.phase
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
        if phase is Phase.SOCKET:
            self._phase_deadline = now + SILENCE_SECONDS
        self.deadline = self._phase_deadline

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
            self._slot.rest(self)

    # -- deadlines, and the end

    def sweep(self, now: float) -> None:
        """Close a connection that has passed its deadline, or whose client takes nothing; `now` is trio's time."""
        since = self._sending_since
        if since is not None and now - since >= self.settings.stall_seconds:
            self.abort()
        elif now >= self.deadline:
            self._expire()

    def _expire(self) -> None:
        if isinstance(self._http, Http1) and not self.closing:
            self.begin_close()
        else:
            self._end()

    def retire(self) -> None:
        """Close if idle, because the server is stopping. A request that has begun to arrive is still answered."""
        http = self._http
        if http is None or http.phase is Phase.IDLE:
            self._end()

    def give_way(self) -> bool:
        """Close if idle with nothing to send, to make room for another connection (`Resting`).

        Also over HTTP/2 without a word, as waiting for it to be sent would leave no room meanwhile.
        """
        http = self._http
        unsent = self._sending_since is not None or (isinstance(http, Http2) and http.stream_buffers)
        if self.closing or unsent or http is None or http.phase is not Phase.IDLE:
            return False
        self.abort()
        return True

    def _end(self) -> None:
        """Close the socket, over HTTP/2 once the client was told so."""
        if isinstance(self._http, Http2) and self._hears and not self.closing:
            self.deadline = trio.current_time() + self.settings.linger_seconds
            self._tasks.nursery.start_soon(self._part, self._http)
        else:
            self.abort()

    async def _part(self, http: Http2) -> None:
        if await http.part():
            self.abort()

    def begin_close(self) -> None:
        """Send FIN after what is being sent, drop what arrives from now on, and close once the client has, or after
        `linger_seconds`.
        """
        if not self.closing:
            self.closing = True
            self.deadline = trio.current_time() + self.settings.linger_seconds
            self._finish()

    def _finish(self) -> None:
        """Send FIN if the connection is being closed and nothing is being sent."""
        if self.closing and self._sending_since is None:
            # Without a close_notify: trio sends one only with the end of both directions, and each answer says its own
            # length.
            with suppress(OSError):
                self._tls.transport_stream.socket.shutdown(trio.socket.SHUT_WR)

    def abort(self) -> None:
        """Close the socket at once."""
        self.closing = True
        self._tls.transport_stream.socket.close()
