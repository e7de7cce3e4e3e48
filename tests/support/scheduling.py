"""Has trio run tasks in an order that a seed decides, so that a test is repeatable to the letter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trio


@contextmanager
def in_order(seed: int) -> Iterator[None]:
    """Have trio shuffle tasks that can run at the same moment by the seed, from an order that is always the same."""
    scheduler: Any = trio._core._run
    before = scheduler._ALLOW_DETERMINISTIC_SCHEDULING
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(seed)
    try:
        yield
    finally:
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING = before
