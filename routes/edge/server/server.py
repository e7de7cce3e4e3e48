"""The server: an own loop for cleartext, Hypercorn's for TLS, with Hypercorn's configuration, lifespan and sockets.

    cleartext   Acceptor → HttpConnection (httptools) → DirectApplication or ASGI; WebSockets end up in the reactor
    TLS         SecureListener → TlsConnection → Hypercorn's HTTP/1.1 and HTTP/2 → ASGI

Stock Hypercorn serves the same application (`hypercorn -k trio 'routes:create_app()'`, `PARTYLINE_EDGE=stock`). This
server exists because it is ten times faster, bounds the number of connections, and fixes four faults that any client
can trigger there (each proven in `tests/edge/server/test_faults.py`). Hypercorn is subclassed and composed, never
patched.
"""

import socket as stdlib_socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.typing import ASGIFramework, LifespanState
from hypercorn.utils import repr_socket_addr

from routes.edge.contained import contained
from routes.edge.errors import EdgeRefused
from routes.edge.faults import CannotListen
from routes.edge.pipeline.application import DirectApplication
from routes.edge.server.acceptor import Acceptor
from routes.edge.server.admission import Connections
from routes.edge.server.binding import listen_on
from routes.edge.server.connection import HttpConnection
from routes.edge.server.shared import Shared
from routes.edge.tls.connection import TlsConnection, ends_of
from routes.edge.tls.listener import SecureListener
from routes.edge.transport.reactor import Reactor, SocketAddress
from routes.edge.transport.refusals import raw
from routes.edge.transport.settings import EdgeContext, ServerSettings

__all__ = ["CannotListen", "ServerSettings", "serve"]

log = structlog.get_logger()


async def _unheard(addresses: Sequence[str]) -> None:
    """The default of `started`: does nothing."""


async def serve(
    app: ASGIFramework,
    settings: ServerSettings,
    *,
    stop: trio.Event,
    parting: trio.Event | None = None,
    started: Callable[[Sequence[str]], Awaitable[None]] = _unheard,
) -> None:
    """Serve an ASGI application until `stop`, then drain and return (contract §11, Stopping).

    Draining: listeners and idle connections close at once; requests in flight are answered with `Connection: close`;
    WebSockets stay until they are closed (`Sockets.drain`). What is left after `drain_seconds` is cut. Cancellation
    cuts everything at once.

    Args:
        app: the application; asked directly if it is a `DirectApplication`. Its lifespan starts before the first
            connection and ends after the last.
        settings: bounds and addresses.
        stop: set it to stop the server.
        parting: set it some time before: from then on each response is the last of its connection, so that clients
            which ask all the time are elsewhere by then.
        started: awaited with the bound addresses, as URLs, before the first connection is accepted; those that come
            meanwhile wait.

    Raises:
        CannotListen: an address cannot be bound; nothing was started.
        hypercorn.utils.LifespanFailureError: the application did not start.
    """
    config = settings.hypercorn()
    state: LifespanState = {}
    lifespan = Lifespan(ASGIWrapper(app), config, state)
    with closing(_listen(settings, config.backlog)) as listening:
        async with trio.open_nursery() as lifespan_nursery:
            await lifespan_nursery.start(lifespan.handle_lifespan)
            await lifespan.wait_for_startup()
            await started(listening.addresses)
            async with trio.open_nursery() as nursery:
                listeners = Listeners(app, config, settings, state, nursery)
                try:
                    listeners.open(listening)
                    if parting is not None:
                        nursery.start_soon(listeners.part, parting)
                    await stop.wait()
                    await listeners.drain()
                finally:
                    listeners.cut()
                nursery.cancel_scope.cancel()
            await lifespan.wait_for_shutdown()
            lifespan_nursery.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class _Listening:
    """Bound sockets, for TLS and for cleartext, and their addresses as URLs."""

    secure: list[SecureListener]
    cleartext: list[stdlib_socket.socket]
    addresses: list[str]
    sockets: list[stdlib_socket.socket]

    def close(self) -> None:
        """Close the sockets that are still open."""
        for sock in self.sockets:
            sock.close()


def _listen(settings: ServerSettings, backlog: int) -> _Listening:
    tls_bind = settings.tls_bind if settings.certificate is not None else ()
    listening = _Listening([], [], [], listen_on((*tls_bind, *settings.bind), backlog))
    for number, sock in enumerate(listening.sockets):
        scheme = "https" if number < len(tls_bind) else "http"
        listening.addresses.append(f"{scheme}://{repr_socket_addr(sock.family, sock.getsockname())}")
        if scheme == "https" and settings.certificate is not None:
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(sock))
            listening.secure.append(SecureListener(listener, settings.certificate))
        else:
            listening.cleartext.append(sock)
    return listening


class Listeners:
    """Accepts connections, admits them, and starts the kind of connection that fits.

    Args:
        app: the application.
        config: Hypercorn's configuration.
        settings: the settings of this server.
        state: the lifespan's state.
        nursery: runs all connections.
    """

    def __init__(
        self,
        app: ASGIFramework,
        config: Config,
        settings: ServerSettings,
        state: LifespanState,
        nursery: trio.Nursery,
    ) -> None:
        self._config = config
        self._nursery = nursery
        self._settings = settings
        self._context = EdgeContext(settings)
        self._wrapped = ASGIWrapper(app)
        self._connections = Connections(settings)
        self._accepting = trio.CancelScope()
        self._acceptors: list[Acceptor] = []
        direct = app if isinstance(app, DirectApplication) else None
        self._shared = Shared(app, direct, settings, Reactor(_report), state, self._start, _report)

    def open(self, listening: _Listening) -> None:
        """Accept connections on these sockets from now on."""
        self._nursery.start_soon(self._connections.sweep)
        self._nursery.start_soon(self._shared.reactor.run)
        self._nursery.start_soon(self._settings.lateness.run, self._shared.reactor)
        self._acceptors = [
            Acceptor(sock, self._shared.reactor, self._accepted, self._start) for sock in listening.cleartext
        ]
        if self._acceptors:
            self._nursery.start_soon(self._resume_acceptors)
        if listening.secure:
            self._nursery.start_soon(self._accept_secure, listening.secure)

    async def part(self, parting: trio.Event) -> None:
        """Wait for an event, and from then on end each connection with its next response. Cancellation changes nothing.

        Args:
            parting: the event.
        """
        await parting.wait()
        self._shared.retiring = True
        await self._context.terminated.set()

    async def drain(self) -> None:
        """Stop accepting, and wait until all connections have ended, at most `drain_seconds`.

        Cancellation ends the waiting; connections stay until `cut`.
        """
        self._accept_no_more()
        self._shared.retiring = True
        await self._context.terminated.set()
        self._connections.retire()
        with trio.move_on_after(self._settings.drain_seconds):
            await self._connections.wait_none()

    def cut(self) -> None:
        """Stop accepting, and close every connection at once."""
        self._accept_no_more()
        self._connections.abort()

    def _accept_no_more(self) -> None:
        self._accepting.cancel()
        for acceptor in self._acceptors:
            acceptor.close()
        self._acceptors = []

    # -- cleartext

    def _accepted(self, sock: stdlib_socket.socket, client: SocketAddress | None) -> None:
        try:
            slot = self._connections.admit(client[0] if client is not None else None)
        except EdgeRefused as refused:
            _turn_away(sock, refused)
            return
        connection = HttpConnection(self._shared, sock, slot, client)
        slot.holder = connection
        self._shared.reactor.add(sock.fileno(), connection)
        self._nursery.start_soon(connection.run)

    async def _resume_acceptors(self) -> None:
        while True:
            await trio.sleep(self._settings.sweep_seconds)
            for acceptor in self._acceptors:
                acceptor.resume()

    # -- TLS

    async def _accept_secure(self, listeners: Sequence[SecureListener]) -> None:
        with self._accepting:
            await trio.serve_listeners(self._secured, list(listeners), handler_nursery=self._nursery)

    async def _secured(self, stream: trio.SSLStream[trio.SocketStream]) -> None:
        """Serve one TLS connection, from admission to its end."""
        ends = ends_of(stream.transport_stream.socket)
        try:
            slot = self._connections.admit(ends[0][0] if ends is not None and ends[0] is not None else None)
        except EdgeRefused:
            # A response would need a TLS handshake, which is too expensive for a connection that is refused.
            await trio.aclose_forcefully(stream)
            return
        connection = TlsConnection(
            self._wrapped, self._config, self._context, self._shared.state.copy(), stream, slot=slot
        )
        slot.holder = connection
        try:
            await connection.run()
        finally:
            slot.leave()

    # -- tasks

    def _start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        self._nursery.start_soon(_contained, run, *args)


async def _contained(run: Callable[..., Awaitable[None]], *args: object) -> None:
    with contained(_report):
        await run(*args)


def _report(fault: BaseException) -> None:
    log.error("connection failed", exc_info=fault)


def _turn_away(sock: stdlib_socket.socket, refused: EdgeRefused) -> None:
    """Send a refusal without blocking: the buffer of a new socket has room for it."""
    # If the client is gone already, there is nothing to report.
    with sock, suppress(OSError):
        sock.send(raw(refused))
        sock.shutdown(stdlib_socket.SHUT_WR)
