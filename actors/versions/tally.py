"""What clients say about releases, counted in memory until it is written.

Counts are written in batches, each under an id of its own: a batch whose outcome is not known is written again as it
was, and rows that have it already take no notice.
"""

from persistence.versions.counts import CountBatch, VersionCount, VersionEvent
from persistence.versions.releases import Platform

KEYS_MAX = 50_000
"""Most combinations of release, event, platform and day that are counted between two writes; others are not counted."""

Key = tuple[int, str, VersionEvent, Platform]


class Tally:
    """Counts that were not written yet."""

    def __init__(self) -> None:
        self._counts: dict[Key, int] = {}
        self._batch: CountBatch | None = None

    def add(self, day: int, release_id: str, event: VersionEvent, platform: Platform) -> None:
        """Count one event; `day` is days since 1970 (UTC)."""
        key = (day, release_id, event, platform)
        if key in self._counts or len(self._counts) < KEYS_MAX:
            self._counts[key] = self._counts.get(key, 0) + 1

    def batch(self, id: str) -> CountBatch | None:
        """The batch to write next, which stays the same until `written` is called; None when nothing was counted.

        Args:
            id: a fresh objectId, for a new batch.
        """
        if self._batch is None and self._counts:
            self._batch = CountBatch(id, [VersionCount(*key, count) for key, count in self._counts.items()])
            self._counts = {}
        return self._batch

    def written(self) -> None:
        """Note that the batch is in rows."""
        self._batch = None
