"""The last hour of the service in numbers: one ring buffer for each series, allocated once."""

from array import array
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import TypeVar

Number = TypeVar("Number", int, float)

EVERY_MS = 5_000
"""Time from one sample to the next."""

LENGTH = 720
"""How many samples are kept: those of an hour."""


class History:
    """The newest samples of some series, 8 bytes for each number.

    Args:
        names: the names of the series; a sample has a number or None for each.
        length: how many samples are kept.
    """

    def __init__(self, names: Sequence[str], length: int = LENGTH) -> None:
        self._length = length
        self._at_ms = array("q", bytes(8 * length))
        self._rings = {name: array("d", bytes(8 * length)) for name in names}
        self._taken = 0

    def add(self, at_ms: int, sample: Mapping[str, float | None]) -> None:
        """Keep a sample in place of the oldest.

        Args:
            at_ms: when it was taken, epoch milliseconds; later than the sample before.
            sample: a number for each series; None where there is none.
        """
        place = self._taken % self._length
        self._at_ms[place] = at_ms
        for name, ring in self._rings.items():
            number = sample[name]
            ring[place] = nan if number is None else number
        self._taken += 1

    def times(self, after_ms: int) -> list[int]:
        """The times of the samples after a time, oldest first; epoch milliseconds."""
        return [at_ms for at_ms in self._in_order(self._at_ms) if at_ms > after_ms]

    def numbers(self, name: str, count: int) -> list[float | None]:
        """The numbers of the series `name` in the newest `count` samples, oldest first; at least `count` must be
        kept."""
        newest = self._in_order(self._rings[name])[len(self) - count :]
        return [None if isnan(number) else number for number in newest]

    def __len__(self) -> int:
        """How many samples are kept."""
        return min(self._taken, self._length)

    def _in_order(self, ring: "array[Number]") -> "array[Number]":
        """The kept part of a ring, oldest first."""
        if self._taken <= self._length:
            return ring[: self._taken]
        first = self._taken % self._length
        return ring[first:] + ring[:first]
