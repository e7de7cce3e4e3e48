"""Reads of single keys that are made together where many are asked for at once.

When thousands of clients come back at once, a statement for each is mostly the way into the database's thread and back.
So at most `AT_ONCE` reads are under way; keys that are asked for meanwhile wait, and are read together by the next one.
Where little happens, nothing ever waits.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

import trio

from actors.kernel.single_flight import SingleFlight

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

AT_ONCE = 2
"""Reads under way: while one is answered, the next is on its way."""

MOST_TOGETHER = 64
"""Most keys in one read, so that its time is bounded."""


class _Batch(Generic[Key]):
    """Keys that are read together; compared by identity."""

    __slots__ = ("keys",)

    def __init__(self) -> None:
        self.keys: dict[Key, None] = {}


class JointReads(Generic[Key, Value]):
    """Reads single keys, many of them in one query when many are wanted.

    Args:
        read_many: reads the given keys, each given once; returns {key: value}, without keys that have no value.
        most: how many keys are read together at most, 1 and up.
    """

    def __init__(
        self, read_many: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]], most: int = MOST_TOGETHER
    ) -> None:
        self._read_many = read_many
        self._most = most
        self._room = trio.Semaphore(AT_ONCE)
        self._gathering: _Batch[Key] = _Batch()
        self._flights: SingleFlight[_Batch[Key], Mapping[Key, Value]] = SingleFlight()

    async def read(self, key: Key) -> Value | None:
        """The value of a key, by a read that begins after this call; None when the key has none.

        Raises what `read_many` raises, for the keys that were read together. Cancellation ends the read only where
        nobody else waits for it.
        """
        batch = self._gathering
        batch.keys[key] = None
        if len(batch.keys) == self._most:
            self._gathering = _Batch()
        return (await self._flights.run(batch, partial(self._read, batch))).get(key)

    async def _read(self, batch: _Batch[Key]) -> Mapping[Key, Value]:
        async with self._room:  # lets all others run first, so that what they ask for is read as well
            if batch is self._gathering:
                self._gathering = _Batch()
            return await self._read_many(tuple(batch.keys))
