"""Which connections are let in, and the one task that looks after all of them.

Invariant: a connection is counted from before its first byte is read until it has ended, however it ends.
"""

from collections import Counter
from collections.abc import Awaitable, Callable

import trio

from routes.edge.address import UNKNOWN, normal, rate_key
from routes.edge.errors import EdgeRefused
from routes.edge.server_connection import EdgeConnection
from routes.edge.server_refusals import Full, TooManyConnections
from routes.edge.server_settings import ServerSettings


class Connections:
    """Everything that is connected.

    Args:
        settings: of the server.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._open: set[EdgeConnection] = set()
        self._by_address: Counter[str] = Counter()
        self._admitted = 0
        self._none_left = trio.Event()
        self._none_left.set()

    def __len__(self) -> int:
        return self._admitted

    async def admit(
        self,
        peer: str | None,
        *,
        refuse: Callable[[EdgeRefused], Awaitable[None]],
        connect: Callable[[], EdgeConnection],
    ) -> None:
        """Serve a connection to its end, or refuse it; always returns with nothing counted any more.

        Args:
            peer: the address at the other end, None when there is none (a Unix socket).
            refuse: tells the client why not.
            connect: makes the connection.
        """
        key = self._key(peer)
        refused = self._refusal(key)
        if refused is not None:
            await refuse(refused)
            return
        self._admitted += 1
        self._none_left = trio.Event() if self._none_left.is_set() else self._none_left
        if key is not None:
            self._by_address[key] += 1
        connection = connect()
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)
            self._leave(key)

    async def sweep(self) -> None:
        """End what has passed its deadline, again and again; ends by cancellation only."""
        while True:
            await trio.sleep(self._settings.sweep_seconds)
            now = trio.current_time()
            for connection in tuple(self._open):
                connection.sweep(now)

    def retire(self) -> None:
        """The server stops: idle connections end now, the others as soon as they are answered."""
        for connection in tuple(self._open):
            connection.retire()

    async def wait_none(self) -> None:
        """Wait until nothing is connected."""
        await self._none_left.wait()

    def _key(self, peer: str | None) -> str | None:
        """What the address is counted by, or None where it is not counted."""
        if self._settings.max_per_address is None or peer is None:
            return None
        address = normal(peer)
        if address == UNKNOWN or self._settings.trusted(address):
            return None
        return rate_key(address)

    def _refusal(self, key: str | None) -> EdgeRefused | None:
        if self._admitted >= self._settings.max_connections:
            return Full()
        limit = self._settings.max_per_address
        if key is not None and limit is not None and self._by_address[key] >= limit:
            return TooManyConnections()
        return None

    def _leave(self, key: str | None) -> None:
        self._admitted -= 1
        if self._admitted == 0:
            self._none_left.set()
        if key is not None:
            self._by_address[key] -= 1
            if self._by_address[key] <= 0:
                del self._by_address[key]
