"""SIGTERM to a command: the command ends as at Ctrl-C, and then by the signal."""

import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar, TypeVarTuple

Args = TypeVarTuple("Args")
Result = TypeVar("Result")


class _Interrupting:
    """What interrupts the program while Ctrl-C is ignored: Python's own way, or that of trio while it runs."""

    handler: Callable[[int, FrameType | None], object] = staticmethod(signal.default_int_handler)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have SIGTERM end the block as Ctrl-C does, so that no half-written files and no child processes are left behind.

    The process ends by the signal once the block is left, as the sender of the signal expects. A handler that the block
    installs itself, as a server does, stays; outside the main thread nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_told = False

    def told(_number: int, frame: FrameType | None) -> None:
        nonlocal is_told
        is_told = True
        if callable(signal.getsignal(signal.SIGINT)):
            # Sent on as Ctrl-C, which trio delivers to where the program waits, so that nothing else is interrupted.
            signal.raise_signal(signal.SIGINT)
        else:
            _Interrupting.handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_told:
            signal.raise_signal(signal.SIGTERM)


@contextmanager
def heard_by_trio() -> Iterator[bool]:
    """Have trio hear of SIGTERM, if it runs in the block, also where Ctrl-C is ignored, as in a script's background.

    trio listens only where Python does when it starts. Yields whether `still_ignored` has to run what is to be done.
    """
    is_ignored = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    )
    if is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield is_ignored
    finally:
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


async def still_ignored(work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
    """Await some work, and ignore Ctrl-C as before. Cancellation is that of the work."""
    trios = signal.signal(signal.SIGINT, signal.SIG_IGN)
    if callable(trios):
        _Interrupting.handler = staticmethod(trios)
    try:
        return await work(*args)
    finally:
        _Interrupting.handler = staticmethod(signal.default_int_handler)
