"""Timestamps: ISO 8601 in UTC with milliseconds and `Z` on the wire, epoch milliseconds everywhere inside.

Pure, and without a clock: the current time is injected (`actors/kernel/clock.py`).
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

DAY_MS = 24 * 3_600_000

LAST_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z: the last moment that four digits of a year can say."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# `fromisoformat` alone also takes week dates, ordinals and commas, and a bare date. Java and Go write nanoseconds, so a
# plugin of a game server sends nine digits where it says nothing else.
ISO_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def iso(ms: int) -> str:
    """Format epoch milliseconds, say as `2026-11-21T03:20:34.123Z` (contract, opening).

    Args:
        ms: epoch milliseconds, 0 to `LAST_MS`; anything outside is clamped, since it can only come from stored rows.
    """
    if ms < 0:
        ms = 0
    elif ms > LAST_MS:
        ms = LAST_MS
    seconds, rest = divmod(ms, 1000)
    return f"{_second(seconds)}{rest:03d}Z"


def iso_or_none(ms: int | None) -> str | None:
    """Format epoch milliseconds as `iso` does; None stays None."""
    return None if ms is None else iso(ms)


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    # Messages of one page, and all current events, share their seconds: caching them saves the slow part.
    return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}."


def parse_iso(text: str) -> int:
    """Parse a timestamp with a zone to epoch milliseconds; finer fractions are cut off.

    Args:
        text: `YYYY-MM-DDThh:mm:ss[.f]` followed by `Z` or an offset, with at most nine digits of a fraction.

    Raises:
        ValueError: it is not such a timestamp, or before 1970; its text goes on after "the timestamp is".
    """
    if ISO_FORM.fullmatch(text) is None:
        raise ValueError("not an ISO 8601 timestamp with a zone")
    try:
        elapsed = datetime.fromisoformat(text) - EPOCH
    except ValueError:
        raise ValueError("of a day, a time or a zone that does not exist") from None
    ms = elapsed // timedelta(milliseconds=1)
    if ms < 0:
        raise ValueError("before 1970")
    return ms
