"""Objects that are left to the collector, as they refer to each other in a circle, and nothing else frees them.

The collector looks at old objects so seldom (`routes/process.py`) that objects which live long and are replaced often
must not be in a circle.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType


@contextmanager
def left_to_the_collector() -> Iterator[Counter[str]]:
    """Count the objects that the block leaves to the collector; the counts are there once the block has ended.

    Yields:
        {type, or name of a function: how many}
    """
    found: Counter[str] = Counter()
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found.update(map(_named, gc.garbage))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was_on:
            gc.enable()


def ours(left: Counter[str]) -> dict[str, int]:
    """The counts of what the kernel and its tests have left, without what libraries leave at their first use."""
    return {name: count for name, count in left.items() if name.startswith(("actors.", "tests."))}


def _named(one: object) -> str:
    named = one if isinstance(one, FunctionType) else type(one)
    return f"{named.__module__}.{named.__qualname__}"
