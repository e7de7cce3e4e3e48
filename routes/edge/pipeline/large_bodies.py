"""How many large bodies are worked on at once: each costs several times its size while it is decoded and stored.

A request takes its place once its body has arrived and has it until it is answered, so that nobody who sends slowly
holds up others; what arrives meanwhile is bounded in bytes (`incoming.py`). One caller has two places at most.
"""

import trio

AT_ONCE = 6
"""Large bodies of all callers: with the largest attachments they come to about 200 MB."""

AT_ONCE_EACH = 2
"""Of one caller."""

LARGE_BYTES = 256 * 1024
"""Bodies above this are large."""


class LargeBodies:
    """The places.

    Args:
        at_once: in all.
        at_once_each: of one caller.
    """

    def __init__(self, at_once: int = AT_ONCE, at_once_each: int = AT_ONCE_EACH) -> None:
        self._places = trio.Semaphore(at_once)
        self._each = at_once_each
        self._callers: dict[str, _Caller] = {}

    async def take(self, caller: str) -> "Place":
        """Wait for a place. Cancellation, as by the request's deadline: none is taken.

        Args:
            caller: whose places are counted together.
        """
        known = self._callers.setdefault(caller, _Caller(self._each))
        known.requests += 1
        try:
            await known.places.acquire()
            try:
                await self._places.acquire()
            except BaseException:
                known.places.release()
                raise
        except BaseException:
            self._leave(caller, known)
            raise
        return Place(self, caller)

    def give_back(self, caller: str) -> None:
        """Let the next one have a caller's place."""
        known = self._callers[caller]
        self._places.release()
        known.places.release()
        self._leave(caller, known)

    def _leave(self, caller: str, known: "_Caller") -> None:
        known.requests -= 1
        if known.requests == 0:
            del self._callers[caller]


class _Caller:
    """The places of one caller, and how many requests have or want one."""

    __slots__ = ("places", "requests")

    def __init__(self, at_once: int) -> None:
        self.places = trio.Semaphore(at_once)
        self.requests = 0


class Place:
    """A place that was taken.

    Args:
        bodies: where.
        caller: by whom.
    """

    __slots__ = ("_bodies", "_caller")

    def __init__(self, bodies: LargeBodies, caller: str) -> None:
        self._bodies = bodies
        self._caller = caller

    def give_back(self) -> None:
        """To be called once."""
        self._bodies.give_back(self._caller)
