"""The lines of the table."""

from statistics import median
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the table.

    Args:
        what: what is measured.
        found: the figure, as it is printed.
        goal: what the figure should be; empty where there is no goal.
        is_met: whether the goal is met.
    """

    what: str
    found: str
    goal: str
    is_met: bool


def timed(what: str, took_ms: list[float], most_ms: float) -> Row:
    """A line about times in milliseconds, whose median is at most `most_ms`."""
    found = median(took_ms)
    return Row(what, f"{found:,.0f} ms", f"≤ {most_ms:,.0f} ms", found <= most_ms)
