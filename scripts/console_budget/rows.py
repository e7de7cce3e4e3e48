"""The lines of the table."""

from statistics import median
from typing import NamedTuple


class Row(NamedTuple):
    """A line of the table.

    Args:
        what: is measured.
        found: the figure, as it is printed.
        goal: what it should be; empty where it is only told.
        is_met: whether it is.
    """

    what: str
    found: str
    goal: str
    is_met: bool


def timed(what: str, took_ms: list[float], most_ms: float) -> Row:
    """A line about times of which the median counts, in milliseconds."""
    found = median(took_ms)
    return Row(what, f"{found:,.0f} ms", f"≤ {most_ms:,.0f} ms", found <= most_ms)
