"""SIGTERM to a command: it ends as at Ctrl-C, and then by the signal."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have SIGTERM end the block as Ctrl-C does, so that nothing half-written and no program of ours is left behind.

    The process ends by the signal once the block is left, as whoever has sent it expects. Where Ctrl-C is ignored,
    as in the background of a script, it ends on the spot. What installs a handler of its own meanwhile, as a server
    does, is not touched; nor is a block outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_told = False

    def told(*_: object) -> None:
        nonlocal is_told
        is_told = True
        if not callable(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)
        # What waits for Ctrl-C is in trio's hands: nothing else is interrupted where it can be.
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if is_told:
            signal.raise_signal(signal.SIGTERM)
