"""One task that waits for one value, given to it from a synchronous function.

This is the lean form of `Event` plus a variable: no list of waiters, no second task switch. It carries every
wait of the kernel: of a caller for the answer, of a turn for the writer, of a watcher for the state.
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
        """Give the value. The first one stands; a later one, or one that nobody waits for, is harmless."""
        if self._woken:
            return
        self._woken = True
        self._value = value
        task, self._task = self._task, None
        if task is not None:
            trio.lowlevel.reschedule(task)

    async def wait(self) -> Value:
        """The value, once it is there. On cancellation the task leaves, and a later `wake` goes nowhere."""
        if self._woken:
            await trio.lowlevel.checkpoint()
        else:
            self._task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._leave)
        return self._value

    def _leave(self, _: object) -> trio.lowlevel.Abort:
        self._task = None
        return trio.lowlevel.Abort.SUCCEEDED
