"""Token buckets in a table of bounded size, which cannot be flooded to get a caller a fresh, full bucket.

A bucket that was not used for a whole window is full again, so forgetting it changes nothing. Only such buckets are
evicted, the least recently used first. While the table is full of others, new callers share overflow buckets: one may
be refused because of the others, but no bucket is ever refilled by eviction.
"""

from collections import OrderedDict

MAX_BUCKETS = 32_768
"""Most buckets of one policy that are kept; each takes about 0.3 KB."""

MAX_SUFFIXES = 64
"""Most buckets of one caller with a suffix (`of_suffix`). Further suffixes count in the caller's own bucket."""

OWED_MAX = 8
"""How many full buckets a caller may owe, who has emptied one on each of many nodes at once."""

OVERFLOW = 256
"""Buckets that new callers share while the table is full, chosen by hash. The hash has a random seed, so an attacker
who wants to empty the bucket of one particular caller has to empty all of them."""


class Bucket:
    """The tokens of one caller.

    Args:
        level: tokens at `at_ms`, in units of 1/window_ms of a token; below 0 what the caller has spent beyond a full
            bucket, on other nodes or where the price was known too late.
        at_ms: epoch milliseconds of the last refill.

    Attributes:
        untold: tokens taken here that other nodes have not been told of (`spending.py`); None for a bucket that
            several callers share.
    """

    __slots__ = ("at_ms", "level", "untold")

    def __init__(self, level: int, at_ms: int) -> None:
        self.level = level
        self.at_ms = at_ms
        self.untold: int | None = 0

    @property
    def is_shared(self) -> bool:
        """Whether several callers share it, none of whom may owe anything for the others."""
        return self.untold is None

    def take(self, quota: int, window_ms: int, now_ms: int, tokens: int = 1) -> bool:
        """Refill the bucket, and take the tokens if there are enough; otherwise none are taken.

        Args:
            quota: tokens in a full bucket, at least 1.
            window_ms: time in which an empty bucket fills.
            now_ms: epoch milliseconds.
            tokens: how many to take, at least 1.

        Returns:
            Whether they were taken.
        """
        level = min(quota * window_ms, self.level + (now_ms - self.at_ms) * quota)
        self.at_ms = now_ms
        price = tokens * window_ms
        allowed = level >= price
        self.level = level - price if allowed else level
        return allowed

    def wait_ms(self, quota: int, window_ms: int) -> int:
        """Milliseconds from the last `take` until one token is there, at least 1; `quota` and `window_ms` as given to
        `take`.
        """
        return max(1, -(-(window_ms - self.level) // quota))


class Buckets:
    """The buckets of one policy.

    Args:
        window_ms: time in which an empty bucket fills.
        max_buckets: how many are kept.

    Attributes:
        overflows: how often a new caller was given a shared bucket.
    """

    __slots__ = ("_buckets", "_max_buckets", "_owing", "_shared", "_suffixes", "_window_ms", "overflows")

    def __init__(self, window_ms: int, max_buckets: int = MAX_BUCKETS) -> None:
        self.overflows = 0
        self._window_ms = window_ms
        self._max_buckets = max_buckets
        # {caller, or caller and suffix: Bucket}, least recently used first
        self._buckets: OrderedDict[str | tuple[str, str], Bucket] = OrderedDict()
        self._owing: dict[str | tuple[str, str], int] = {}  # {as above: when it is full}, of those that owed
        self._suffixes: dict[str, int] = {}  # {caller: buckets with a suffix}
        self._shared: dict[int, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets) + len(self._shared)

    def of(self, caller: str, full: int, now_ms: int) -> Bucket:
        """The bucket of a caller, created if it is missing.

        Args:
            caller: the key by which the caller is counted.
            full: the level of a new bucket, in the units of `Bucket`.
            now_ms: epoch milliseconds.
        """
        bucket = self._buckets.get(caller)
        if bucket is not None:
            self._buckets.move_to_end(caller)
            return bucket
        return self._made(caller, full, now_ms)

    def of_suffix(self, caller: str, suffix: str, full: int, now_ms: int) -> Bucket:
        """The bucket of a caller for one subject, such as one conversation; created if it is missing.

        Args:
            caller: the key by which the caller is counted.
            suffix: what names the subject, not empty.
            full: the level of a new bucket, in the units of `Bucket`.
            now_ms: epoch milliseconds.
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
        """The bucket of a caller, or None when none is kept."""
        return self._buckets.get(caller)

    def known_suffix(self, caller: str, suffix: str) -> Bucket | None:
        """The bucket of a `caller` for the subject named `suffix`, or None when none is kept."""
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
            shared.untold = None
        return shared

    def owe(self, caller: str, suffix: str, quota: int, tokens: int, now_ms: int) -> None:
        """Take tokens that a caller has spent already, whether they are there or not.

        Nothing is taken where the caller cannot have a bucket of their own, since others would pay from a shared one.

        Args:
            caller: the key by which the caller is counted.
            suffix: what names the subject; empty for none.
            quota: tokens in a full bucket, at least 1.
            tokens: at least 1.
            now_ms: epoch milliseconds.
        """
        full = quota * self._window_ms
        bucket = self.of_suffix(caller, suffix, full, now_ms) if suffix else self.of(caller, full, now_ms)
        key = (caller, suffix) if suffix else caller
        if self._buckets.get(key) is not bucket:
            return
        level = min(full, bucket.level + (now_ms - bucket.at_ms) * quota) - tokens * self._window_ms
        bucket.level = max(level, -OWED_MAX * full)
        bucket.at_ms = now_ms
        if level < 0:
            self._owing[key] = now_ms + -(-(full - bucket.level) // quota)

    def _forget_full(self, now_ms: int) -> None:
        """Evict up to two of the least recently used buckets, if they are full: two, because at most one is added
        after.
        """
        for _ in range(2):
            key = next(iter(self._buckets), None)
            if key is None or now_ms - self._buckets[key].at_ms < self._window_ms:
                return
            if self._owing.get(key, 0) > now_ms:
                self._buckets.move_to_end(key)
                continue
            self._owing.pop(key, None)
            del self._buckets[key]
            if isinstance(key, tuple):
                left = self._suffixes[key[0]] - 1
                if left:
                    self._suffixes[key[0]] = left
                else:
                    del self._suffixes[key[0]]
