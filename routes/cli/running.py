"""Runs the asynchronous part of a command."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


def run_trio(work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
    """Do what `trio.run` does, but raise KeyboardInterrupt only where `work` waits.

    Raised between two other lines, it would leave the database's thread with an answer for a task that waits for
    something else by then.

    Raises: what `work` raises, and KeyboardInterrupt.
    """
    import trio  # noqa: PLC0415 — commands that wait for nothing do without it

    return trio.run(work, *args, restrict_keyboard_interrupt_to_checkpoints=True)
