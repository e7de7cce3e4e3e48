"""Quantiles of a histogram, as Prometheus estimates them: within a bucket, what is counted lies evenly."""

from collections.abc import Sequence


def quantile(share: float, bounds: Sequence[float], counts: Sequence[int]) -> float | None:
    """The value below which a share of what was counted lies; None where nothing was.

    Args:
        share: 0 to 1.
        bounds: upper bounds of the buckets, ascending.
        counts: how many were counted in each bucket, and at the end beyond the last bound, where the last bound is
            answered.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, before = share * total, 0
    for number, count in enumerate(counts[:-1]):
        if count and before + count >= wanted:
            lower = bounds[number - 1] if number else 0.0
            return lower + (bounds[number] - lower) * (wanted - before) / count
        before += count
    return bounds[-1]
