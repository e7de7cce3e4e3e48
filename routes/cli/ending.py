"""SIGTERM to a command: the command ends as at Ctrl-C, and then by the signal."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have SIGTERM end the block as Ctrl-C does, so that no half-written files and no child processes are left behind.

    The process ends by the signal once the block is left, as the sender of the signal expects. What waits in trio hears
    of it there (`routes.cli.running`), and a handler that the block installs itself, as a server does, stays; outside
    the main thread nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_told = False

    def told(number: int, frame: FrameType | None) -> None:
        nonlocal is_told
        is_told = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGTERM, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_told:
            signal.raise_signal(signal.SIGTERM)
