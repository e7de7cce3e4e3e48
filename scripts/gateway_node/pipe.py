"""Carry bytes between two streams, both ways, until both ends are done.

A side that ends is told to the other, which may still speak. What has come from a side is delivered, even where that
side takes nothing any more: a game server says why it ends a connection and closes it in one go.
"""

from collections.abc import Callable
from contextlib import suppress

import trio

CHUNK_BYTES = 64 * 1024
"""Most bytes of a direction that have been received and not delivered yet."""


class Way:
    """One direction of a carried connection.

    Args:
        source, target: the streams that bytes are carried from and to.
        tell: called with the size of each chunk that was delivered.
        first: bytes that have come from the source already.
    """

    def __init__(
        self,
        source: trio.SocketStream,
        target: trio.SocketStream,
        tell: Callable[[int], None],
        first: bytes = b"",
    ) -> None:
        self._source = source
        self._target = target
        self._tell = tell
        self._first = first
        self._scope = trio.CancelScope()

    async def carry(self, back: "Way") -> None:
        """Carry until the source has ended or the target takes nothing any more.

        Args:
            back: the other direction, which leads nowhere once the source is broken.
        """
        with self._scope:
            if not await self._pump():
                back._scope.cancel()
            with suppress(trio.BrokenResourceError):  # the target is gone, as the other direction finds out
                await self._target.send_eof()

    async def _pump(self) -> bool:
        """Carry bytes; returns whether the source may still take what comes back."""
        chunk = self._first
        while True:
            try:
                await self._target.send_all(chunk)
            except trio.BrokenResourceError:
                return True
            self._tell(len(chunk))
            try:
                chunk = await self._source.receive_some(CHUNK_BYTES)
            except trio.BrokenResourceError:
                return False
            if not chunk:
                return True


async def join(
    player: trio.SocketStream,
    backend: trio.SocketStream,
    first: bytes,
    *,
    idle_seconds: float,
    to_backend: Callable[[int], None],
    to_player: Callable[[int], None],
) -> bool:
    """Carry bytes both ways until both are done; returns False where the connection was ended because both sides were
    silent.

    Cancellation ends it at once; the streams stay open.

    Args:
        first: bytes that have come from the player already, which are delivered before all that follow.
        idle_seconds: how long nothing may be delivered in either direction.
        to_backend, to_player: called with the size of each chunk that was delivered there.
    """
    async with trio.open_nursery() as nursery:
        scope = nursery.cancel_scope

        def alive(tell: Callable[[int], None], size: int) -> None:
            scope.deadline = trio.current_time() + idle_seconds
            tell(size)

        there = Way(player, backend, lambda size: alive(to_backend, size), first)
        back = Way(backend, player, lambda size: alive(to_player, size))
        scope.deadline = trio.current_time() + idle_seconds
        nursery.start_soon(there.carry, back)
        nursery.start_soon(back.carry, there)
    return not scope.cancelled_caught
