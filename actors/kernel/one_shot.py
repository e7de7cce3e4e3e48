"""One value, handed from a synchronous function to the one task that waits for it.

A leaner form of `Event` plus a variable: no list of waiters, no second task switch. Every wait of the kernel uses it:
of a caller for the answer, of an idle scheduler for work, of a watcher for the state.
"""

from typing import Generic, TypeVar

import trio

Value = TypeVar("Value")


class OneShot(Generic[Value]):
    """A place for one value and for the one task that waits for it."""

    __slots__ = ("_task", "_value", "_woken")

    _value: Value

    def __init__(self) -> None:
        self._task: trio.lowlevel.Task | None = None
        self._woken = False

    def wake(self, value: Value) -> None:
        """Set the value and wake the task that waits, if any. Only the first call has an effect."""
        if self._woken:
            return
        self._woken = True
        self._value = value
        task, self._task = self._task, None
        if task is not None:
            trio.lowlevel.reschedule(task)

    async def wait(self) -> Value:
        """Wait for the value. Cancellation: the task leaves, and a later `wake` reaches no task."""
        if self._woken:
            await trio.lowlevel.checkpoint()
        else:
            self._task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._leave)
        return self._value

    def _leave(self, _: object) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED
