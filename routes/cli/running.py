"""Runs the asynchronous part of a command."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

from routes.cli.ending import heard_by_trio, still_ignored

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


def run_trio(work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
    """Do what `trio.run` does, but raise KeyboardInterrupt only where `work` waits.

    Raised between two other lines, it would leave the database's thread with an answer for a task that waits for
    something else by then.

    Where Ctrl-C is ignored, SIGTERM alone raises it (`ended_in_order`).

    Raises: what `work` raises, and KeyboardInterrupt.
    """
    import trio  # noqa: PLC0415 — commands that wait for nothing do without it

    with heard_by_trio() as is_ignored:
        if is_ignored:
            return trio.run(still_ignored, work, *args, restrict_keyboard_interrupt_to_checkpoints=True)
        return trio.run(work, *args, restrict_keyboard_interrupt_to_checkpoints=True)
