"""One load shared by all that ask for the same key at once.

The first caller of a key loads; the others wait and share its outcome. A load that was voided while it ran (the rows
changed under it) is repeated before any caller is answered. When the caller that loads is cancelled, the next waiter
loads in its place, so that none waits for a load that no longer runs. Of errors only `PersistenceError` is shared
(all would meet it); after any other the waiters try for themselves.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from persistence.errors import PersistenceError

Key = TypeVar("Key")
Value = TypeVar("Value")

REPEATS = 5
"""How often a load is tried while its rows keep changing; then the last value is returned, but not kept."""


class _Flight(Generic[Value]):
    __slots__ = ("error", "landed", "value", "void")

    def __init__(self) -> None:
        self.landed = trio.Event()
        self.void = False
        self.value: list[Value] = []
        self.error: PersistenceError | None = None


class SingleFlight(Generic[Key, Value]):
    """Runs at most one load per key at a time, and shares its outcome."""

    def __init__(self) -> None:
        self._flights: dict[Key, _Flight[Value]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def run(
        self, key: Key, load: Callable[[], Awaitable[Value]], keep: Callable[[Value], None] | None = None
    ) -> Value:
        """Return what `load` returns, or raise what it raises, sharing a load of this key that is already running.

        Args:
            key: names what is loaded; hashable.
            load: called only when no load of this key runs.
            keep: called with the value, synchronously, before any caller is answered; not if the load was voided.

        Cancellation of a waiting caller has no other effect; if it is the caller that loads, the next waiter loads.
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
        """Have a running load of this key repeated before its callers are answered, because its rows have changed."""
        flight = self._flights.get(key)
        if flight is not None:
            flight.void = True

    def void_all(self) -> None:
        """Have every running load repeated before its callers are answered."""
        for flight in self._flights.values():
            flight.void = True
