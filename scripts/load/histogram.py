"""Latencies in logarithmic buckets: 32 to each doubling (3 % wide), of a fixed size."""

from collections.abc import Sequence

_STEPS = 32  # buckets to each doubling
_DOUBLINGS = 30  # the last bucket begins above two hours
SIZE = _STEPS * _DOUBLINGS


class Histogram:
    """Counts of latencies, mergeable over processes."""

    def __init__(self, counts: Sequence[tuple[int, int]] = ()) -> None:
        self.counts = [0] * SIZE
        self.add_all(counts)

    def add(self, nanoseconds: int) -> None:
        """Count one latency; less than a microsecond counts as one."""
        microseconds = nanoseconds // 1000
        if microseconds < _STEPS:
            self.counts[max(microseconds, 0)] += 1
            return
        shift = microseconds.bit_length() - 6
        self.counts[min((shift << 5) + (microseconds >> shift), SIZE - 1)] += 1

    def add_all(self, counts: Sequence[tuple[int, int]]) -> None:
        """Take in what another histogram's `take` returned."""
        for bucket, count in counts:
            self.counts[bucket] += count

    def take(self) -> list[tuple[int, int]]:
        """The buckets that hold something, as (bucket, count); the histogram is empty afterwards."""
        taken = [(bucket, count) for bucket, count in enumerate(self.counts) if count]
        self.counts = [0] * SIZE
        return taken

    @property
    def total(self) -> int:
        """How many latencies were counted."""
        return sum(self.counts)

    def quantile_ms(self, share: float) -> float | None:
        """Milliseconds that `share` (0 to 1) of the latencies do not exceed; None when there are none."""
        total = self.total
        if not total:
            return None
        wanted, seen = max(1, round(total * share)), 0
        for bucket, count in enumerate(self.counts):
            seen += count
            if seen >= wanted:
                return _middle_us(bucket) / 1000
        raise AssertionError("the counts add up to the total")


def _middle_us(bucket: int) -> float:
    """The middle of a bucket, microseconds."""
    if bucket < 2 * _STEPS:
        return float(bucket)
    shift, step = (bucket >> 5) - 1, (bucket & 31) + _STEPS
    return float(((step << 1) + 1) << shift) / 2
