"""Token buckets, bounded in number so that nobody gets a full one by having others forgotten.

A bucket that has not been used for a window is full, and a full bucket says nothing: only such are given up, the least
recently used first. Where the table is full of others, a newcomer shares a bucket with some other newcomers: it may be
refused for their sake, but nobody's empty bucket is ever filled by that.
"""

from collections import OrderedDict

MAX_BUCKETS = 32_768
"""Of one policy; about 0.3 KB each."""

MAX_SUFFIXES = 64
"""Buckets of one caller for one thing each; with what comes beyond, the caller shares with nobody else."""

OVERFLOW = 256
"""Buckets that newcomers share while the table is full: who wants to empty one for somebody has to empty them all."""


class Bucket:
    """One caller's tokens; `level` is in units of 1/window_ms of a token, at `at_ms`."""

    __slots__ = ("at_ms", "level")

    def __init__(self, level: int, at_ms: int) -> None:
        self.level = level
        self.at_ms = at_ms

    def take(self, quota: int, window_ms: int, now_ms: int, tokens: int = 1) -> bool:
        """Refill, and take tokens if there are so many.

        Args:
            quota: tokens in a full bucket, at least 1.
            window_ms: how long it takes to fill.
            now_ms: epoch milliseconds.
            tokens: at least 1.
        """
        level = min(quota * window_ms, self.level + (now_ms - self.at_ms) * quota)
        self.at_ms = now_ms
        price = tokens * window_ms
        allowed = level >= price
        self.level = level - price if allowed else level
        return allowed

    def wait_ms(self, quota: int, window_ms: int) -> int:
        """Milliseconds from the last `take` until there is a token, at least 1.

        Args:
            quota: tokens in a window.
        """
        return max(1, -(-(window_ms - self.level) // quota))


class Buckets:
    """The buckets of one policy.

    Args:
        window_ms: how long one takes to fill.
        max_buckets: how many are kept.

    Attributes:
        overflows: how often a newcomer shared one.
    """

    __slots__ = ("_buckets", "_max_buckets", "_shared", "_suffixes", "_window_ms", "overflows")

    def __init__(self, window_ms: int, max_buckets: int = MAX_BUCKETS) -> None:
        self.overflows = 0
        self._window_ms = window_ms
        self._max_buckets = max_buckets
        # {caller, or caller and suffix: Bucket}, least recently used first
        self._buckets: OrderedDict[str | tuple[str, str], Bucket] = OrderedDict()
        self._suffixes: dict[str, int] = {}  # {caller: buckets with a suffix}
        self._shared: dict[int, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets) + len(self._shared)

    def of(self, caller: str, full: int, now_ms: int) -> Bucket:
        """The bucket of a caller.

        Args:
            caller: whose.
            full: the level of a new one.
            now_ms: epoch milliseconds.
        """
        bucket = self._buckets.get(caller)
        if bucket is not None:
            self._buckets.move_to_end(caller)
            return bucket
        return self._made(caller, full, now_ms)

    def of_suffix(self, caller: str, suffix: str, full: int, now_ms: int) -> Bucket:
        """The bucket of a caller for one thing; arguments as for `of`, and the thing's name, not empty.

        Args:
            suffix: the name of the thing, not empty.
            full: tokens of a new bucket.
        """
        key = (caller, suffix)
        bucket = self._buckets.get(key)
        if bucket is not None:
            self._buckets.move_to_end(key)
            return bucket
        self._forget_full(now_ms)
        count = self._suffixes.get(caller, 0)
        if count >= MAX_SUFFIXES:
            return self.of(caller, full, now_ms)
        made = self._made(key, full, now_ms)
        if key in self._buckets:
            self._suffixes[caller] = count + 1
        return made

    def known(self, caller: str) -> Bucket | None:
        """The bucket of a caller, if it is kept."""
        return self._buckets.get(caller)

    def known_suffix(self, caller: str, suffix: str) -> Bucket | None:
        """The bucket of a caller for one thing, if it is kept.

        Args:
            suffix: the name of the thing, not empty.
        """
        return self._buckets.get((caller, suffix))

    def _made(self, key: str | tuple[str, str], full: int, now_ms: int) -> Bucket:
        self._forget_full(now_ms)
        if len(self._buckets) < self._max_buckets:
            bucket = self._buckets[key] = Bucket(full, now_ms)
            return bucket
        self.overflows += 1
        place = hash(key) % OVERFLOW
        shared = self._shared.get(place)
        if shared is None:
            shared = self._shared[place] = Bucket(full, now_ms)
        return shared

    def _forget_full(self, now_ms: int) -> None:
        """Give up the two that were not used for longest, if they are full: more than are ever added."""
        for _ in range(2):
            key = next(iter(self._buckets), None)
            if key is None or now_ms - self._buckets[key].at_ms < self._window_ms:
                return
            del self._buckets[key]
            if isinstance(key, tuple):
                left = self._suffixes[key[0]] - 1
                if left:
                    self._suffixes[key[0]] = left
                else:
                    del self._suffixes[key[0]]
