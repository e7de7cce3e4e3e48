"""Counts the reads of owners that are not live, to activate those that are read often.

Reading rows costs several times what reading a live state does. A single read activates nothing, so that a client that
reads thousands of owners, one after the other, does not fill the memory.
"""

from typing import TypeAlias

Key: TypeAlias = tuple[str, str]
"""(kind's name, id) of an owner."""

WAKING_READS = 5
WAKING_MS = 10_000
"""This many reads within this time activate an owner."""

MAX_KNOWN = 1_000
"""Most owners counted at once; beyond that all counts start again."""


class HotReads:
    """Counts the reads of owners that are not live."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Key, tuple[int, int]] = {}  # {owner: (epoch ms of the first read, reads)}

    def wake(self, key: Key, now_ms: int) -> bool:
        """Count one read; True when the owner should be activated.

        Args:
            key: (kind's name, id) of the owner.
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
