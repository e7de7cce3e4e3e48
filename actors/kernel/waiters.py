"""One value, handed from a synchronous function to all tasks that wait for it; `one_shot.py` for any number of them.

Invariant: a task that has left, or was woken, is not counted any more; it must not keep an actor from retiring. While
nobody waits there is no list, because there are thousands of these.
"""

from typing import Generic, TypeVar

from actors.kernel.one_shot import OneShot

Value = TypeVar("Value")


class Waiters(Generic[Value]):
    """The tasks that wait for the next value."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[OneShot[Value]] | None = None

    def __len__(self) -> int:
        return 0 if self._waiting is None else len(self._waiting)

    def wake(self, value: Value) -> None:
        """Wake all that wait now, and hand them the value."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            for waiter in waiting:
                waiter.wake(value)

    async def wait(self) -> Value:
        """Wait for the next value. Cancellation: the task leaves."""
        waiter: OneShot[Value] = OneShot()
        if self._waiting is None:
            self._waiting = [waiter]
        else:
            self._waiting.append(waiter)
        try:
            return await waiter.wait()
        finally:
            self._forget(waiter)

    def _forget(self, waiter: OneShot[Value]) -> None:
        if self._waiting is not None and waiter in self._waiting:
            self._waiting.remove(waiter)
