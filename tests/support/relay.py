"""A relay before a server, which cuts its clients off as a network does, and lets them through again."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum
from functools import partial

import trio

_CHUNK_BYTES = 65_536


class Cut(Enum):
    """How clients are cut off."""

    SILENT = (
        "nothing passes and nothing is closed, as where a cable is pulled; later all goes on where it was"
    )
    ABRUPT = "connections are closed, and new ones at once"


class Relay:
    """Says whether clients are cut off.

    Args:
        port: the port of 127.0.0.1 at which it listens.
        dial: opens a connection to the server.
    """

    def __init__(self, port: int, dial: Callable[[], Awaitable[trio.SocketStream]]) -> None:
        self.port = port
        self._dial = dial
        self._cut: Cut | None = None
        self._passes = trio.Event()
        self._passes.set()
        self._connections: set[trio.CancelScope] = set()

    def cut(self, how: Cut) -> None:
        """From now on nothing passes."""
        self._cut = how
        if how is Cut.SILENT:
            self._passes = trio.Event()
        else:
            for connection in self._connections:
                connection.cancel()

    def heal(self) -> None:
        """Let everything pass again."""
        self._cut = None
        self._passes.set()

    async def serve(self, client: trio.SocketStream) -> None:
        """Carry one connection, until either side or an abrupt cut ends it."""
        with trio.CancelScope() as scope, suppress(OSError, trio.BrokenResourceError):
            self._connections.add(scope)
            try:
                async with client:
                    if self._cut is not Cut.ABRUPT:
                        await self._passes.wait()
                        await self._between(client)
            finally:
                self._connections.discard(scope)

    async def _between(self, client: trio.SocketStream) -> None:
        async with await self._dial() as server, trio.open_nursery() as nursery:

            async def carry(source: trio.SocketStream, target: trio.SocketStream) -> None:
                with suppress(trio.BrokenResourceError):
                    while data := await source.receive_some(_CHUNK_BYTES):
                        await self._passes.wait()
                        await target.send_all(data)
                await self._passes.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(carry, client, server)
            nursery.start_soon(carry, server, client)


@asynccontextmanager
async def open_relay(dial: Callable[[], Awaitable[trio.SocketStream]]) -> AsyncIterator[Relay]:
    """A relay on a port of 127.0.0.1, for the block.

    Args:
        dial: opens a connection to the server.
    """
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    relay = Relay(listener.socket.getsockname()[1], dial)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.serve_listeners, relay.serve, [listener]))
        yield relay
        relay.heal()
        nursery.cancel_scope.cancel()
