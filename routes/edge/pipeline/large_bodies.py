"""Turns and slots for large bodies, each of which takes several times its size while it is decoded and stored.

A known caller has one large body in progress at a time, on however many connections: with four at once, the 99th
percentile of all others was twice as high. Its small bodies do not wait for a large one, which may arrive slowly.
Callers without credentials have no such turns: a slow sender would block others at the same address.

Once a body has arrived, it is processed in one of a few slots that all callers share. The slot is taken only then, so
that slow senders hold none; what arrives meanwhile is bounded in bytes (`incoming.py`).
"""

from contextlib import AsyncExitStack

import trio

from actors.kernel.turnstile import Turnstile

AT_ONCE = 6
"""Large bodies of all callers that are processed at once; six of the largest attachments take about 200 MB."""

LARGE_BYTES = 256 * 1024
"""Bodies above this are large."""


class LargeBodies:
    """The slots, and the turns of the callers.

    Args:
        at_once: how many slots there are.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.places = trio.Semaphore(at_once)
        self.turns = Turnstile()


class DecodingSlot:
    """The turn and the slot of one request; `give_back` must be called by the task that took them.

    Args:
        bodies: the turns and slots of the service.
        caller: the principal's key; None for a caller without one, who has no turns.
    """

    __slots__ = ("_bodies", "_caller", "_taken")

    def __init__(self, bodies: LargeBodies, caller: str | None) -> None:
        self._bodies = bodies
        self._caller = caller
        self._taken = AsyncExitStack()

    async def expect(self, size_bytes: int) -> None:
        """Wait until the caller's earlier bodies are answered. Cancellation: no turn is taken.

        Args:
            size_bytes: the declared length, or the most that is accepted; small and large bodies have separate turns.
        """
        if self._caller is not None:
            turn = self._bodies.turns.turn((self._caller, size_bytes > LARGE_BYTES))
            await self._taken.enter_async_context(turn)

    async def work(self) -> None:
        """Wait for one of the shared slots. Cancellation: none is taken."""
        await self._taken.enter_async_context(self._bodies.places)

    async def give_back(self) -> None:
        """Release what was taken, if anything. Never blocks; cancellation does not prevent it."""
        await self._taken.aclose()
