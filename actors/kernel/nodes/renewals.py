"""When this node's row was renewed last, and what may be concluded from that.

A row that has run out means that its node is dead, but not right after a time in which no row could be renewed: the
database was away or stood still, its clock was set forward, or all machines slept. Whoever lives renews first then.
"""

from collections.abc import Callable

import structlog

_log = structlog.get_logger()

ROW_SECONDS = 5.0
"""How long a node's row lasts: a node that is silent for so long is dead."""

MISSED_SECONDS = ROW_SECONDS / 2
"""A database that was away for less has cost no other node its row: each renews once more before that runs out."""


class Renewals:
    """The renewals of one node's row.

    Args:
        node: the node's name, for the log.
        now: the seconds by which the row runs out, which go on while the machine sleeps.
    """

    def __init__(self, node: str, now: Callable[[], float]) -> None:
        self._node = node
        self._now = now
        self._renewed_at = self._sound_since = now()
        self._database_seconds: float | None = None  # None before the first renewal

    def is_sure(self) -> bool:
        """Whether this node was a member so lately that nobody can have declared it dead."""
        return self._now() - self._renewed_at < ROW_SECONDS

    @property
    def silent_seconds(self) -> float:
        """How long ago the row was renewed last."""
        return self._now() - self._renewed_at

    @property
    def are_sound(self) -> bool:
        """Whether none was missed for so long that every node that lives has renewed since."""
        return self._now() - self._sound_since >= ROW_SECONDS

    def begin(self) -> float:
        """Begin a renewal; returns what `end` needs."""
        return self._now()

    def end(self, began_at: float, database_seconds: float) -> None:
        """Note a renewal that the database has answered.

        Args:
            began_at: what `begin` has returned.
            database_seconds: the time by the database's clock, in seconds.
        """
        # To the end of the renewal: a database that stands still lets rows run out like one that is away. So does one
        # whose clock was set forward.
        passed = self.silent_seconds
        if passed > MISSED_SECONDS or self._was_set(database_seconds, passed):
            self._sound_since = self._now()
        self._renewed_at, self._database_seconds = began_at, database_seconds

    def _was_set(self, database_seconds: float, passed: float) -> bool:
        """Whether the database's clock has gone further since the last renewal than the seconds that have `passed`."""
        if self._database_seconds is None:
            return False
        ahead = database_seconds - self._database_seconds - passed
        if ahead <= MISSED_SECONDS:
            return False
        _log.warning("database_clock_set", node=self._node, ahead_seconds=round(ahead))
        return True
