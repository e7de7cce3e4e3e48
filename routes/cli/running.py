"""Runs the asynchronous part of a command."""

import signal
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


def run_trio(work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
    """Do what `trio.run` does, but raise KeyboardInterrupt only where `work` waits, and have SIGTERM cancel it.

    Raised between two other lines, it would leave the database's thread with an answer for a task that waits for
    something else by then. Once work that was told so has ended, the signal goes on to whatever stands around this.

    Raises: what `work` raises, and KeyboardInterrupt.
    """
    import trio  # noqa: PLC0415 — commands that wait for nothing do without it

    if threading.current_thread() is not threading.main_thread():  # which alone hears signals
        return trio.run(work, *args)
    is_told = False
    ended: list[Result] = []

    async def until_told() -> None:
        scope, token = trio.CancelScope(), trio.lowlevel.current_trio_token()

        def told(*_: object) -> None:
            nonlocal is_told
            is_told = True
            token.run_sync_soon(scope.cancel)

        before = signal.signal(signal.SIGTERM, told)
        try:
            with scope:
                ended.append(await work(*args))
        finally:
            signal.signal(signal.SIGTERM, before)

    try:
        trio.run(until_told, restrict_keyboard_interrupt_to_checkpoints=True)
    finally:
        if is_told:
            signal.raise_signal(signal.SIGTERM)
    return ended[0]
