"""Quantiles of a histogram, as Prometheus estimates them: the values within a bucket are taken to be spread evenly."""

from collections.abc import Sequence


def quantile(share: float, bounds: Sequence[float], counts: Sequence[int]) -> float | None:
    """The value below which a share of what was counted lies; None where nothing was counted.

    Args:
        share: the share, 0 to 1.
        bounds: the upper bounds of the buckets, ascending.
        counts: how many values were counted in each bucket, and, as the last number, beyond the last bound; a quantile
            that lies there is answered with the last bound.
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
