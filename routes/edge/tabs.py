"""Accounts of the bytes held in memory for clients, per address and in all, which bound memory better than counts.

Tabs     one kind of bytes in this process: unsent (`unsent.py`), or arriving (`incoming.py`)
  Tab    the account of one address, for as long as it is referenced
"""

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class Tabs:
    """The accounts of one kind of bytes.

    Args:
        max_bytes: the most bytes held in all.
        max_address_bytes: the most bytes held for one address.

    Attributes:
        total_bytes: how many bytes are held now.
        refused: how many requests were refused because of a bound.
    """

    def __init__(self, max_bytes: int, max_address_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.total_bytes = 0
        self.refused = 0
        self._max_address_bytes = max_address_bytes
        self._tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()
        self._uncounted = Tab(self, max_bytes)

    def tab(self, key: str | None) -> "Tab":
        """The account of an address: the same object for as long as one is referenced.

        Args:
            key: the address's rate key; None where only the bound of the process counts, as for a trusted proxy.
        """
        if key is None:
            return self._uncounted
        tab = self._tabs.get(key)
        if tab is None:
            tab = self._tabs[key] = Tab(self, self._max_address_bytes)
        return tab


class Tab:
    """The bytes held for one address.

    Args:
        all: the accounts of the process.
        max_bytes: the most bytes held for this address.

    Attributes:
        held_bytes: how many bytes are held for this address now.
    """

    __slots__ = ("__weakref__", "_max_bytes", "all", "held_bytes")

    def __init__(self, all: Tabs, max_bytes: int) -> None:
        self.all = all
        self._max_bytes = max_bytes
        self.held_bytes = 0

    @property
    def spent(self) -> bool:
        """Whether the address has reached its bound, so that none of its requests may begin."""
        return self.held_bytes >= self._max_bytes

    def fits(self, count: int) -> bool:
        """Whether `count` more bytes fit both bounds."""
        return (
            self.held_bytes + count <= self._max_bytes and self.all.total_bytes + count <= self.all.max_bytes
        )

    @contextmanager
    def holding(self, count: int) -> Iterator[None]:
        """Count `count` bytes as held while the block runs."""
        self.add(count)
        try:
            yield
        finally:
            self.add(-count)

    def add(self, count: int) -> None:
        """Count `count` bytes as held from now on; a negative number releases them. Enforces no bound."""
        self.held_bytes += count
        self.all.total_bytes += count
