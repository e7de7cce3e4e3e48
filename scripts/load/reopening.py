"""Opens lost sockets again, so that a long run goes on measuring as many clients as it began with.

A few are opened at a time, after pauses that grow: a server that comes back is not flooded, and one that stays away is
given up.
"""

import math
import random
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from scripts.load.clients.client import SubscribeRefused
from scripts.load.clients.event_loop import Wire
from scripts.load.clients.websocket import UpgradeRefused, WebSocket

AT_ONCE = 16
TRIES = 12
FIRST_SECONDS, MOST_SECONDS = 0.25, 8.0
OPEN_SECONDS = 30.0


class Reopening:
    """The lost sockets of one worker.

    Args:
        open_again: opens the socket of a place, and puts it where the lost one was; raises `UpgradeRefused`,
            `SubscribeRefused` or `OSError`.
    """

    def __init__(self, open_again: Callable[[int], Awaitable[Wire]]) -> None:
        self._open_again = open_again
        self._told, self._lost = trio.open_memory_channel[int](math.inf)
        self._under_way: set[int] = set()
        self._scope = trio.CancelScope()
        self._opened = 0

    def watch(self, place: int, wire: Wire) -> None:
        """Watch a socket that is open now, to open it again when it is lost.

        Args:
            place: the place of the socket, as `open_again` takes it.
            wire: the socket.
        """
        wire.on_loss = partial(self.lost, place)
        if wire.closed:
            self.lost(place)

    def lost(self, place: int) -> None:
        """Have the socket of a place opened again; does nothing where that is already under way."""
        if place not in self._under_way:
            self._under_way.add(place)
            self._told.send_nowait(place)

    def take(self) -> int:
        """How many sockets were opened again since the last call."""
        opened, self._opened = self._opened, 0
        return opened

    def stop(self) -> None:
        """Open no more sockets."""
        self._scope.cancel()

    async def run(self) -> None:
        """Open lost sockets again until stopped."""
        room = trio.CapacityLimiter(AT_ONCE)
        with self._scope:
            async with trio.open_nursery() as nursery:
                async for place in self._lost:
                    nursery.start_soon(self._open, place, room)

    async def _open(self, place: int, room: trio.CapacityLimiter) -> None:
        pause_seconds = FIRST_SECONDS
        for _ in range(TRIES):
            # A random pause, so that sockets which were lost together do not come back together.
            await trio.sleep(random.uniform(0.5, 1.0) * pause_seconds)
            pause_seconds = min(2 * pause_seconds, MOST_SECONDS)
            wire: Wire | None = None
            try:
                async with room:
                    with trio.move_on_after(OPEN_SECONDS):
                        wire = await self._open_again(place)
            except (UpgradeRefused, SubscribeRefused, OSError):
                continue
            if wire is not None and not wire.closed:
                self._under_way.discard(place)
                self._opened += isinstance(wire, WebSocket)
                self.watch(place, wire)
                return
