"""What is left to the collector: objects that know each other in a circle, which nothing else frees.

Its turn for what is old comes so seldom (`routes/__main__.py`) that whatever lives long and dies often must not be one.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType


@contextmanager
def left_to_the_collector() -> Iterator[Counter[str]]:
    """Counts what the block leaves to the collector; has it once the block has ended.

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
    """What the kernel and its tests have left, without what libraries leave behind at their first use."""
    return {name: count for name, count in left.items() if name.startswith(("actors.", "tests."))}


def _named(one: object) -> str:
    named = one if isinstance(one, FunctionType) else type(one)
    return f"{named.__module__}.{named.__qualname__}"
