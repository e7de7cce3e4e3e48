"""The part of one HTTP/2 response that waits until its client has room for it."""

from collections.abc import Callable

from hypercorn.protocol.h2 import BUFFER_HIGH_WATER, BUFFER_LOW_WATER, BufferCompleteError, StreamBuffer
from hypercorn.typing import Event

__all__ = ["Waiting"]


class Waiting(StreamBuffer):
    """The bytes of one response that were not sent yet: a piece of it, and whatever else fits below a bound.

    Stock takes the next piece whenever it has looked at a stream, also where the client has no room for a byte; so
    whoever gave no room had the whole response put here, however long its file is.

    Args:
        event_class: of stock.
        sent: called with how many bytes leave.
    """

    def __init__(self, event_class: type[Event], sent: Callable[[int], None]) -> None:
        super().__init__(event_class)
        self._sent = sent

    async def push(self, data: bytes) -> None:
        """Add a piece; returns once there is room for another, or the stream has ended.

        Cancellation while it waits leaves the piece where it is.

        Raises:
            BufferCompleteError: the stream has ended.
        """
        if self._complete:
            raise BufferCompleteError
        self.buffer.extend(data)
        await self._is_empty.clear()
        if len(self.buffer) >= BUFFER_HIGH_WATER:
            await self._paused.clear()
            await self._paused.wait()

    async def pop(self, max_length: int) -> bytes:
        """Take the next bytes, at most so many; cancellation takes none."""
        data = bytes(self.buffer[:max_length])
        del self.buffer[:max_length]
        self._sent(len(data))
        if len(self.buffer) < BUFFER_LOW_WATER:
            await self._paused.set()
        if not self.buffer:
            await self._is_empty.set()
        return data
