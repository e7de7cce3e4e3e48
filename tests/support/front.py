"""A front before a server, as a load balancer is: requests that a test wants refused it answers with 503 itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio

_CHUNK_BYTES = 65_536

_REFUSAL = b"HTTP/1.1 503 So\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

EVERYTHING = b""


class Front:
    """Says which requests pass; a test may change that at any time.

    Args:
        url: the front's address.

    Attributes:
        refused: requests that contain this text are refused; None for none.
        refusals: how many requests were refused.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.refused: bytes | None = None
        self.refusals = 0
        self._scopes: set[trio.CancelScope] = set()

    def go_away(self) -> None:
        """Refuse everything, and end the open connections."""
        self.refused = EVERYTHING
        for scope in list(self._scopes):
            scope.cancel()

    def come_back(self) -> None:
        """Let everything pass again."""
        self.refused = None

    async def carry(self, port: int, client: trio.SocketStream) -> None:
        """Carry one connection, until either side ends it, or a request on it is refused."""
        with trio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                async with (
                    client,
                    await trio.open_tcp_stream("127.0.0.1", port) as server,
                    trio.open_nursery() as nursery,
                ):
                    nursery.start_soon(self._pump, server, client, nursery.cancel_scope)
                    await self._take(client, server)
                    nursery.cancel_scope.cancel()
            except* (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            finally:
                self._scopes.discard(scope)

    async def _take(self, client: trio.SocketStream, server: trio.SocketStream) -> None:
        while data := await client.receive_some(_CHUNK_BYTES):
            if self.refused is not None and self.refused in data:
                self.refusals += 1
                await client.send_all(_REFUSAL)
                return
            await server.send_all(data)

    async def _pump(
        self, server: trio.SocketStream, client: trio.SocketStream, scope: trio.CancelScope
    ) -> None:
        while data := await server.receive_some(_CHUNK_BYTES):
            await client.send_all(data)
        scope.cancel()


@asynccontextmanager
async def front_of(url: str) -> AsyncIterator[Front]:
    """A front before a server on this machine."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    front = Front(f"http://127.0.0.1:{listener.socket.getsockname()[1]}")
    port = urlsplit(url).port or 80

    async def carry(client: trio.SocketStream) -> None:
        await front.carry(port, client)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, carry, [listener])
        yield front
        nursery.cancel_scope.cancel()
