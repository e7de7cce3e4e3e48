"""Tasks that do one piece of work after the other, for what comes thousands of times a second: to start a task and to
end it costs as much as a small request.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from actors.kernel.one_shot import OneShot
from actors.kernel.supervisor import Contained

RESTING_MAX = 64
"""Most tasks that wait for work; what comes at once beyond them has tasks of its own, which end with it."""

_Work: TypeAlias = Callable[..., Awaitable[None]]


class TaskPool:
    """Tasks that wait for work.

    Args:
        doing: what the work does, for the log: a fault of a piece of work is logged, and ends that alone.
        spawn: starts a task.
    """

    def __init__(self, doing: str, spawn: Callable[..., object]) -> None:
        self._doing = doing
        self._spawn = spawn
        self._resting: list[OneShot[tuple[_Work, tuple[Any, ...]]]] = []

    def start(self, work: _Work, *args: object) -> None:
        """Have a task do a piece of work; it begins after the present step of the event loop.

        Args:
            work, args: the function, and the arguments that it is called with.
        """
        if self._resting:
            self._resting.pop().wake((work, args))
        else:
            self._spawn(self._go_on, work, args)

    async def _go_on(self, work: _Work, args: tuple[Any, ...]) -> None:
        while True:
            with Contained(self._doing):
                await work(*args)
            if len(self._resting) >= RESTING_MAX:
                return
            del work, args  # which may be a large request
            resting: OneShot[tuple[_Work, tuple[Any, ...]]] = OneShot()
            self._resting.append(resting)
            work, args = await resting.wait()
            del resting
