"""What a call costs, for bounds on the work that a stranger's file may cause."""

import gc
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this thread, the least of three runs and without the collector: no other's work is in it."""
    gc.collect()
    gc.disable()
    try:
        return min(_run(work) for _ in range(3))
    finally:
        gc.enable()


def _run(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started
