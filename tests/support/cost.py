"""What a call costs, for bounds on the work that a stranger's file may cause."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this thread, the least of three runs and without the collector: no other's work is in it."""
    with without_collector():
        return least_seconds(work)


@contextmanager
def without_collector() -> Iterator[None]:
    """For many measurements at once: what was there before is collected once, and nothing is meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def decodes_of_rules() -> Iterator[list[str]]:
    """Within it, each call by which a module of `actors/` decodes anything in this thread: the caller's file."""
    found: list[str] = []

    def note(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and getattr(called, "__name__", "") in {"decode", "convert"}:
            file = frame.f_code.co_filename
            if "/actors/" in file:
                found.append(file)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def yardsticks(work: Callable[[], object]) -> float:
    """CPU time of a call, as a multiple of a fixed piece of work that takes 10 ms on an ordinary core of 2025.

    A bound in these is one of the work, on whatever machine.
    """
    return cpu_seconds(work) / cpu_seconds(_yardstick)


def _yardstick() -> None:
    for number in range(250_000):
        number * number


def least_seconds(work: Callable[[], object]) -> float:
    """As `cpu_seconds`, inside of `without_collector`."""
    return min(_run(work) for _ in range(3))


def _run(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
