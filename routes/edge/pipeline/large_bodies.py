"""Whose large body comes next: each costs several times its size while it arrives, is decoded and stored.

A caller who is known sends one after the other, so that the worst that one can do at once is one body, however many
connections they have; with four at once, everybody else's 99th percentile was twice as high. A small body does not wait
for a large one of the same caller, which may be long in coming. Strangers are not known well enough to wait for each
other: who sends slowly would hold up others at the same address.

What has arrived is worked on in so many places for all callers together. The place is taken then and not before, so
that nobody who sends slowly holds up others; what arrives meanwhile is bounded in bytes (`incoming.py`).
"""

from contextlib import AsyncExitStack

import trio

from actors.kernel.turnstile import Turnstile

AT_ONCE = 6
"""Large bodies of all callers that are worked on: with the largest attachments they come to about 200 MB."""

LARGE_BYTES = 256 * 1024
"""Bodies above this are large."""


class LargeBodies:
    """The places, and who waits for them.

    Args:
        at_once: large bodies that are worked on.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.places = trio.Semaphore(at_once)
        self.turns = Turnstile()


class DecodingSlot:
    """What a request has of the places, until `give_back`, which is to be called by the same task.

    Args:
        bodies: where.
        caller: who sends one after the other; None for a stranger.
    """

    __slots__ = ("_bodies", "_caller", "_taken")

    def __init__(self, bodies: LargeBodies, caller: str | None) -> None:
        self._bodies = bodies
        self._caller = caller
        self._taken = AsyncExitStack()

    async def expect(self, size_bytes: int) -> None:
        """Wait until the caller's bodies before this one are answered. Cancellation: nothing is taken.

        Args:
            size_bytes: what was declared, or the largest that is let in.
        """
        if self._caller is not None:
            turn = self._bodies.turns.turn((self._caller, size_bytes > LARGE_BYTES))
            await self._taken.enter_async_context(turn)

    async def work(self) -> None:
        """Wait for one of the places that are there for all. Cancellation: none is taken."""
        await self._taken.enter_async_context(self._bodies.places)

    async def give_back(self) -> None:
        """Let the next one have what was taken, whatever it was; waits for nobody.

        Cancellation cannot happen within: it does not wait.
        """
        await self._taken.aclose()
