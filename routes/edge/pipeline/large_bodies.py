"""Whose large body comes next: each costs several times its size while it arrives, is decoded and stored.

A caller who is known sends one after the other, so that the worst that one can do at once is one body, however many
connections they have; with four at once, everybody else's 99th percentile was twice as high. A small body does not wait
for a large one of the same caller, which may be long in coming. Strangers are not known well enough to wait for each
other: who sends slowly would hold up others at the same address.

What has arrived is worked on in so many places for all callers together. The place is taken then and not before, so
that nobody who sends slowly holds up others; what arrives meanwhile is bounded in bytes (`incoming.py`).
"""

import trio

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
        self.queues: dict[tuple[str, bool], _Queue] = {}

    def place(self, caller: str | None) -> "Place":
        """A place for a body that is about to come; nothing is taken yet.

        Args:
            caller: who sends one after the other; None for a stranger.
        """
        return Place(self, caller)


class _Queue:
    """One caller's bodies of one class: the one that arrives or is worked on, and how many there are in all."""

    __slots__ = ("bodies", "turn")

    def __init__(self) -> None:
        self.turn = trio.Semaphore(1)
        self.bodies = 0


class Place:
    """What a request has of the places, until `give_back`.

    Args:
        bodies: where.
        caller: as in `LargeBodies.place`.
    """

    __slots__ = ("_bodies", "_caller", "_key", "_works")

    def __init__(self, bodies: LargeBodies, caller: str | None) -> None:
        self._bodies = bodies
        self._caller = caller
        self._key: tuple[str, bool] | None = None
        self._works = False

    async def expect(self, size_bytes: int) -> None:
        """Wait until the caller's bodies before this one are answered. Cancellation: nothing is taken.

        Args:
            size_bytes: what was declared, or the largest that is let in.
        """
        if self._caller is None:
            return
        key = (self._caller, size_bytes > LARGE_BYTES)
        queue = self._bodies.queues.setdefault(key, _Queue())
        queue.bodies += 1
        try:
            await queue.turn.acquire()
        except BaseException:
            self._leave(key)
            raise
        self._key = key

    async def work(self) -> None:
        """Wait for one of the places that are there for all. Cancellation: none is taken."""
        await self._bodies.places.acquire()
        self._works = True

    def give_back(self) -> None:
        """Let the next one have what was taken. To be called once, whatever was."""
        if self._works:
            self._bodies.places.release()
        if self._key is not None:
            self._bodies.queues[self._key].turn.release()
            self._leave(self._key)

    def _leave(self, key: tuple[str, bool]) -> None:
        queue = self._bodies.queues[key]
        queue.bodies -= 1
        if queue.bodies == 0:
            del self._bodies.queues[key]
