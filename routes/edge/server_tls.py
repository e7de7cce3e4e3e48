"""A connection over TLS: Hypercorn's send path, with the sends bounded in time.

Writing to the socket beneath a TLS stream would corrupt it, so live sockets here are `QueuedSocket`s. Stock
Hypercorn shields its sends from cancellation, so that a client that never reads could hold one for ever; here
the sweeper ends it, and a cancelled send ends the connection, because half a TLS record cannot be taken back.
"""

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.tcp_server import MAX_RECV
from hypercorn.typing import AppWrapper, ConnectionState, LifespanState

from routes.edge.errors import contained
from routes.edge.server_connection import Address, EdgeConnection, ends_of
from routes.edge.server_http import Http1, Http2
from routes.edge.server_settings import EdgeContext

SILENCE_SECONDS = 90.0
"""Hypercorn pings WebSockets each 30 s here; one from which nothing comes for three of them is dead."""


class TlsConnection(EdgeConnection):
    """A connection over TLS, HTTP/1.1 or HTTP/2 as negotiated.

    Args:
        as in `EdgeConnection`.
    """

    silence_seconds = SILENCE_SECONDS

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: EdgeContext,
        state: LifespanState,
        stream: trio.SSLStream[trio.SocketStream],
    ) -> None:
        super().__init__(app, config, context, state, stream)
        self._tls = stream
        self._sending_since: float | None = None

    async def run(self) -> None:
        """Shake hands and serve the connection to its end."""
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

    def _speak(self, client: Address | None, server: Address | None) -> Http1 | Http2:
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
        """What Hypercorn's protocols send: bytes, the end, or whether they are idle."""
        if isinstance(event, RawData):
            if event.data and not self.closing:
                await self._send_all(event.data)
        elif isinstance(event, Closed):
            await self._closed()
        elif isinstance(event, Updated):
            self._updated(event)

    async def _send_all(self, data: bytes) -> None:
        async with self.send_lock:
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

    async def _receive(self) -> bytes:
        return bytes(await self._tls.receive_some(MAX_RECV))

    def stalled(self, now: float) -> bool:
        """As in `EdgeConnection`."""
        return self._sending_since is not None and now - self._sending_since >= self.settings.stall_seconds

    def abort(self) -> None:
        """As in `EdgeConnection`."""
        self.closing = True
        self._tls.transport_stream.socket.close()
