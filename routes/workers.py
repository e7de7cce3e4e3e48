"""Worker threads for what users send: few for all, and of each user one piece of work at a time.

A limiter alone is a queue, in which whoever sends fifty texts at once is served fifty times before the next user.
"""

from collections.abc import Callable
from typing import TypeVar

import trio

from actors.kernel.turnstile import Turnstile

T = TypeVar("T")


class Workers:
    """Runs blocking functions for users, each after the earlier ones of the same user.

    Args:
        at_once: how many run at the same time; others wait, at most until the deadline of their request.

    Attributes:
        places: what those that run hold.
    """

    def __init__(self, at_once: int) -> None:
        self.places = trio.CapacityLimiter(at_once)
        self._turns = Turnstile()

    async def run(self, caller: str, blocking: Callable[[], T], *, abandon: bool = False) -> T:
        """Run a function in a worker thread; returns its result.

        Args:
            caller: whose work it is: a user's id, or a client address.
            blocking: the function; whatever it raises is raised.
            abandon: whether cancellation leaves a function that has begun to its thread, which keeps its place until
                it is done; otherwise cancellation waits for it.

        Cancellation while it waits: nothing is run.
        """
        async with self._turns.turn(caller):
            return await trio.to_thread.run_sync(blocking, limiter=self.places, abandon_on_cancel=abandon)
