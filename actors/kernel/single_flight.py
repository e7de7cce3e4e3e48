"""One load for many who ask for the same thing at once.

The first caller of a key loads; the others wait and share its outcome. A load that was made void while it ran
(the rows changed under it) is repeated before anybody is answered. A leader that is cancelled hands the key
to the next waiter: nobody waits for a load that no longer runs. Of errors only `PersistenceError` is shared
(everybody would meet it); after any other the waiters try for themselves.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from persistence.errors import PersistenceError

Key = TypeVar("Key")
Value = TypeVar("Value")

REPEATS = 5
"""How often a load is repeated because its rows changed meanwhile; then the last answer stands, for this call
only."""


class _Flight(Generic[Value]):
    __slots__ = ("error", "landed", "value", "void")

    def __init__(self) -> None:
        self.landed = trio.Event()
        self.void = False
        self.value: list[Value] = []
        self.error: PersistenceError | None = None


class SingleFlight(Generic[Key, Value]):
    """Loads that share one outcome per key."""

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Value]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def run(
        self, key: Key, load: Callable[[], Awaitable[Value]], keep: Callable[[Value], None] | None = None
    ) -> Value:
        """What `load` returns or raises, whoever's `load` of this key it was.

        Args:
            key: what is loaded; hashable.
            load: called by the first caller only.
            keep: called with the value, synchronously, before anybody is answered and only if it was not made
                void.

        Cancellation: a waiter just leaves; where the leader leaves, the next waiter loads.
        """
        while flight := self._flights.get(key):
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            if flight.value:
                return flight.value[0]
        flight = self._flights[key] = _Flight()
        try:
            return await self._lead(flight, load, keep)
        finally:
            del self._flights[key]
            flight.landed.set()

    async def _lead(
        self,
        flight: _Flight[Value],
        load: Callable[[], Awaitable[Value]],
        keep: Callable[[Value], None] | None,
    ) -> Value:
        for _ in range(REPEATS):
            flight.void = False
            try:
                value = await load()
            except PersistenceError as error:
                flight.error = error
                raise
            if not flight.void:
                if keep is not None:
                    keep(value)
                break
        flight.value.append(value)
        return value

    def void(self, key: Key) -> None:
        """What is being loaded under this key has changed: load it again before anybody is answered."""
        flight = self._flights.get(key)
        if flight is not None:
            flight.void = True

    def void_all(self) -> None:
        """As `void`, for every key."""
        for flight in self._flights.values():
            flight.void = True
