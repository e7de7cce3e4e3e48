"""A live socket in the hands of a test, and the ways in which it can be connected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import trio
import trio.testing

from routes.edge.websocket.close_codes import Ending
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application, plain
from tests.support.server import running
from tests.support.waiting import patience

Way = Literal["handed over", "by ASGI", "stock"]

WAYS: tuple[Way, ...] = ("handed over", "by ASGI", "stock")
"""How a live socket can be connected: the last two are `QueuedSocket`s."""


@asynccontextmanager
async def served(app: Application, way: Way) -> AsyncIterator[str]:
    """Serve the application so that its sockets are connected this way."""
    asked = plain(app) if way == "by ASGI" else app
    async with running(asked, edge="stock" if way == "stock" else "lean") as base_url:
        yield base_url


class Held:
    """A handler that hands its socket to the test, and collects what the client says; implements `Listener`."""

    def __init__(self) -> None:
        self.sockets: list[LiveSocket] = []
        self.said: list[bytes] = []
        self._ready = trio.Event()
        self._ended = trio.Event()

    async def __call__(self, socket: LiveSocket) -> "Held":
        self.sockets.append(socket)
        socket.on_close(self._ended.set)
        self._ready.set()
        return self

    def heard(self, message: bytes) -> None:
        self.said.append(message)

    async def socket(self) -> LiveSocket:
        with patience():
            await self._ready.wait()
        return self.sockets[-1]

    async def end(self) -> Ending:
        with patience():
            await self._ended.wait()
        ending = self.sockets[-1].ending
        assert ending is not None
        return ending
