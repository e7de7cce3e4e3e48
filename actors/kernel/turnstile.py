"""A lock for each key, for rules over several owners, which neither one owner's turn nor one row can enforce."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

import trio


class Turnstile:
    """Blocks of the same key run one after the other, in the order in which they came, within this process."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, trio.Lock] = {}

    def __len__(self) -> int:
        """How many keys have a block that runs or waits."""
        return len(self._locks)

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait for all blocks that came before with this key, then run this one.

        Cancellation while waiting gives up the place in the queue; it does not hold up later blocks.
        """
        lock = self._locks.setdefault(key, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():  # none waits: the lock would have been handed on
                self._locks.pop(key, None)
