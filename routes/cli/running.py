"""How a command runs what waits."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


def run_trio(work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
    """`trio.run`, where Ctrl-C comes out of what waits and nowhere else.

    Between two lines of ours it would leave the database's thread with an answer for somebody who waits for something
    else by then.

    Raises: what `work` raises, and KeyboardInterrupt.
    """
    import trio  # noqa: PLC0415 — commands that wait for nothing do without it

    return trio.run(work, *args, restrict_keyboard_interrupt_to_checkpoints=True)
