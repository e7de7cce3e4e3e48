"""CPU time of a call, for bounds on the work that a stranger's file may cause."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of a call, in this thread: the least of three runs, without the collector, so that no other work
    counts."""
    with without_collector():
        return least_seconds(work)


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect once what was there before, and nothing during the block: for many measurements at once."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def decodes_of_rules() -> Iterator[list[str]]:
    """Note each call within the block by which a module of `actors/` decodes anything in this thread; yields the list
    of the callers' files."""
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

    A bound in this unit limits the work, on whatever machine.
    """
    return cpu_seconds(work) / cpu_seconds(_yardstick)


def _yardstick() -> None:
    for number in range(250_000):
        number * number


def least_seconds(work: Callable[[], object]) -> float:
    """The same as `cpu_seconds`, for use within `without_collector`."""
    return min(_run(work) for _ in range(3))


def _run(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
