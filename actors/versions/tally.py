"""What clients say about releases, counted in memory until it is written."""

from collections.abc import Iterator
from contextlib import contextmanager

from persistence.versions.counts import VersionCount, VersionEvent
from persistence.versions.releases import Platform

KEYS_MAX = 50_000
"""How many releases, events, platforms and days are told apart between two writes; what comes beyond is not counted."""

Key = tuple[int, str, VersionEvent, Platform]


class Tally:
    """Counts that were not written yet."""

    def __init__(self) -> None:
        self._counts: dict[Key, int] = {}

    def add(self, day: int, release_id: str, event: VersionEvent, platform: Platform) -> None:
        """Count one event; `day` is days since 1970 (UTC)."""
        key = (day, release_id, event, platform)
        if key in self._counts or len(self._counts) < KEYS_MAX:
            self._counts[key] = self._counts.get(key, 0) + 1

    @contextmanager
    def taken(self) -> Iterator[list[VersionCount]]:
        """The counts so far, to be written in the block; where that fails, they are counted again."""
        counts, self._counts = self._counts, {}
        try:
            yield [VersionCount(*key, count) for key, count in counts.items()]
        except BaseException:
            for key, count in counts.items():
                self._counts[key] = self._counts.get(key, 0) + count
            raise
