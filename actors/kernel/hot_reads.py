"""Who is read again and again although it sleeps: reading from rows costs several times what reading a live state does.

A single read wakes nobody, so that whoever walks through thousands of owners does not fill the memory with them.
"""

from typing import TypeAlias

Key: TypeAlias = tuple[str, str]
"""(kind, id)."""

WAKING_READS = 5
WAKING_MS = 10_000
"""So many reads in so much time wake an owner."""

MAX_KNOWN = 1_000
"""Owners counted at once; beyond that counting begins anew."""


class HotReads:
    """Counts the reads of sleeping owners."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Key, tuple[int, int]] = {}  # {owner: (since when, how many)}

    def wake(self, key: Key, now_ms: int) -> bool:
        """Count one read; True when the owner should be woken.

        Args:
            key: of the owner.
            now_ms: epoch milliseconds.
        """
        since_ms, count = self._known.get(key, (now_ms, 0))
        if now_ms - since_ms > WAKING_MS:
            since_ms, count = now_ms, 0
        count += 1
        if count >= WAKING_READS:
            del self._known[key]
            return True
        if len(self._known) >= MAX_KNOWN and key not in self._known:
            self._known.clear()
        self._known[key] = since_ms, count
        return False
