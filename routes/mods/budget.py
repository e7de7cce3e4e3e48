"""How many requests may be sent to a catalogue: fewer than it takes from one address, and fewer still if others at the
same address have used some of them up. Nodes that serve together share the number."""

import re
from collections.abc import Callable

from routes.edge.buckets import Bucket

PER_MINUTE = 240
"""Most requests a minute. Modrinth takes 300 from one address; the rest is for others at the same address."""

UNDERWAY_MAX = 40
"""Most requests that are under way or wait for a connection."""

RESET_SECONDS_MAX = 300

_MINUTE_MS = 60_000
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)


class Budget:
    """The requests to one catalogue.

    Args:
        now_ms: epoch milliseconds.
        nodes: returns how many nodes send requests to the catalogue, at least 1; they may all have one address.
    """

    def __init__(self, now_ms: int, nodes: Callable[[], int] = lambda: 1) -> None:
        self._nodes = nodes
        self._bucket = Bucket(PER_MINUTE * _MINUTE_MS, now_ms)
        self._closed_until_ms = 0

    def take(self, now_ms: int) -> int:
        """Take one request; returns 0, or if none is left, the milliseconds until there is one.

        Args:
            now_ms: epoch milliseconds.
        """
        if now_ms < self._closed_until_ms:
            return self._closed_until_ms - now_ms
        share = max(1, PER_MINUTE // self._nodes())
        if self._bucket.take(share, _MINUTE_MS, now_ms):
            return 0
        return self._bucket.wait_ms(share, _MINUTE_MS)

    def learn(self, remaining: str | None, reset: str | None, now_ms: int) -> None:
        """Lower the number of requests that are left to what the catalogue says.

        Args:
            remaining: its header `X-Ratelimit-Remaining`; ignored if it is None or no number.
            reset: its header `X-Ratelimit-Reset`, seconds until it takes the full number again.
            now_ms: epoch milliseconds.
        """
        left = _number(remaining)
        if left is None:
            return
        self._bucket.level = min(self._bucket.level, left * _MINUTE_MS)
        if left == 0:
            seconds = min(_number(reset) or 0, RESET_SECONDS_MAX)
            self._closed_until_ms = max(self._closed_until_ms, now_ms + seconds * 1000)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None
