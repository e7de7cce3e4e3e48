"""The server: our loop around Hypercorn's parts (its `Config`, its `Lifespan`, its protocols).

Stock Hypercorn serves the same application (`hypercorn -k trio 'routes:create_app()'`); this seam exists for
four faults that a stranger can trigger there (architecture.md; cured in `server_*.py`, each proven in
`tests/edge/test_server_faults.py`), for bounds on what is connected, and so that prepared frames go straight
to the sockets. Nothing of Hypercorn is assigned to: it is subclassed and composed.
"""

import socket as stdlib_socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.typing import ASGIFramework, LifespanState
from hypercorn.utils import repr_socket_addr

from routes.edge.errors import EdgeRefused
from routes.edge.server_admission import Connections
from routes.edge.server_connection import CleartextConnection, ends_of
from routes.edge.server_refusals import raw
from routes.edge.server_settings import EdgeContext, ServerSettings
from routes.edge.server_tls import TlsConnection

__all__ = ["CannotListen", "ServerSettings", "serve"]

AnyStream: TypeAlias = trio.SSLStream[trio.SocketStream] | trio.SocketStream
AnyListener: TypeAlias = trio.SSLListener[trio.SocketStream] | trio.SocketListener


class CannotListen(Exception):
    """An address cannot be bound: taken, not ours, or not allowed; the text is one line for the operator."""


def _unheard(addresses: Sequence[str]) -> None:
    """Nobody asked where we listen."""


async def serve(
    app: ASGIFramework,
    settings: ServerSettings,
    *,
    stop: trio.Event,
    started: Callable[[Sequence[str]], None] = _unheard,
) -> None:
    """Serve an ASGI application until `stop`, then drain and return (contract §11, Stopping).

    Draining: listeners close at once, idle connections too; requests in flight are answered with `Connection:
    close`; WebSockets go when somebody closes them (`Sockets.drain`). What is left after `drain_seconds` is
    cut. Cancellation cuts everything at once.

    Args:
        app: the application; its lifespan is started before the first connection and ended after the last.
        settings: bounds and addresses.
        stop: set it to stop.
        started: told the bound addresses, as URLs, once connections are accepted.

    Raises:
        CannotListen: an address cannot be bound; nothing was started then.
        hypercorn.utils.LifespanFailureError: the application did not start.
    """
    config = settings.hypercorn()
    context = EdgeContext(settings)
    state: LifespanState = {}
    wrapped = ASGIWrapper(app)
    lifespan = Lifespan(wrapped, config, state)
    listeners, addresses = _listen(config)
    async with trio.open_nursery() as lifespan_nursery:
        await lifespan_nursery.start(lifespan.handle_lifespan)
        await lifespan.wait_for_startup()
        connections = Connections(settings)
        async with trio.open_nursery() as nursery:
            reception = Reception(wrapped, config, context, state, connections)
            nursery.start_soon(connections.sweep)
            nursery.start_soon(reception.accept, listeners, nursery)
            started(addresses)
            await stop.wait()
            reception.close()
            await context.terminated.set()
            connections.retire()
            with trio.move_on_after(settings.drain_seconds):
                await connections.wait_none()
            nursery.cancel_scope.cancel()
        await lifespan.wait_for_shutdown()
        lifespan_nursery.cancel_scope.cancel()


def _listen(config: Config) -> tuple[list[AnyListener], list[str]]:
    try:
        sockets = config.create_sockets()
    except OSError as error:
        raise CannotListen(f"cannot listen on {', '.join(config.bind)}: {error.strerror or error}") from error
    listeners: list[AnyListener] = []
    addresses = []
    ssl_context = config.create_ssl_context()
    for scheme, bound in (("https", sockets.secure_sockets), ("http", sockets.insecure_sockets)):
        for sock in bound:
            sock.listen(config.backlog)
            # Hypercorn hands its sockets down to workers; children of ours (PostgreSQL) must not hold a port.
            sock.set_inheritable(False)
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(sock))
            if scheme == "https" and ssl_context is not None:
                listeners.append(trio.SSLListener(listener, ssl_context, https_compatible=True))
            else:
                listeners.append(listener)
            addresses.append(f"{scheme}://{repr_socket_addr(sock.family, sock.getsockname())}")
    return listeners, addresses


class Reception:
    """Takes accepted streams: admission, then the connection that fits.

    Args:
        app: wrapped for Hypercorn.
        config: Hypercorn's.
        context: ours.
        state: of the lifespan; each connection gets a copy.
        connections: everything that is connected.
    """

    def __init__(
        self,
        app: ASGIWrapper,
        config: Config,
        context: EdgeContext,
        state: LifespanState,
        connections: Connections,
    ) -> None:
        self._app = app
        self._config = config
        self._context = context
        self._state = state
        self._connections = connections
        self._accepting = trio.CancelScope()

    async def accept(self, listeners: Sequence[AnyListener], nursery: trio.Nursery) -> None:
        """Accept until `close`; connections run in the nursery."""
        with self._accepting:
            await trio.serve_listeners(self._receive, list(listeners), handler_nursery=nursery)

    def close(self) -> None:
        """Accept no more; the listeners close."""
        self._accepting.cancel()

    async def _receive(self, stream: AnyStream) -> None:
        """One accepted connection, from admission to its end."""
        state = self._state.copy()
        if isinstance(stream, trio.SSLStream):
            await self._connections.admit(
                _peer(stream.transport_stream),
                refuse=partial(_drop, stream),
                connect=partial(TlsConnection, self._app, self._config, self._context, state, stream),
            )
        else:
            await self._connections.admit(
                _peer(stream),
                refuse=partial(_turn_away, stream),
                connect=partial(CleartextConnection, self._app, self._config, self._context, state, stream),
            )


def _peer(stream: trio.SocketStream) -> str | None:
    ends = ends_of(stream.socket)
    return ends[0][0] if ends is not None and ends[0] is not None else None


async def _drop(stream: trio.SSLStream[trio.SocketStream], refused: EdgeRefused) -> None:  # noqa: ARG001
    """Nothing can be said before the handshake, and a handshake is what we have no room for."""
    await trio.aclose_forcefully(stream)


async def _turn_away(stream: trio.SocketStream, refused: EdgeRefused) -> None:
    """Say why not, without waiting: a socket that was just accepted takes this much."""
    theirs = stream.socket
    family, kind, protocol = theirs.family, theirs.type, theirs.proto
    # The client may have gone in the meantime, which is all that was wanted.
    with stdlib_socket.socket(family, kind, protocol, fileno=theirs.detach()) as sock, suppress(OSError):
        sock.send(raw(refused))
        sock.shutdown(stdlib_socket.SHUT_WR)
