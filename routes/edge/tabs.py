"""Bytes that are held for clients, written down by address and in all: what bounds memory where counts do not.

Tabs     one kind of bytes in this process: what is unsent (`unsent.py`), what arrives
  Tab    those of one address, for as long as anybody holds it
"""

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class Tabs:
    """One kind of bytes that this process holds.

    Args:
        max_bytes: in all.
        max_address_bytes: for one address.

    Attributes:
        total_bytes: that are held now.
        refused: requests that were refused because of it.
    """

    def __init__(self, max_bytes: int, max_address_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.total_bytes = 0
        self.refused = 0
        self._max_address_bytes = max_address_bytes
        self._tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()
        self._uncounted = Tab(self, max_bytes)

    def tab(self, key: str | None) -> "Tab":
        """Where the bytes of an address are written down; the same one for as long as anybody holds it.

        Args:
            key: what the address is counted by; None where only the process counts (a proxy of ours).
        """
        if key is None:
            return self._uncounted
        tab = self._tabs.get(key)
        if tab is None:
            tab = self._tabs[key] = Tab(self, self._max_address_bytes)
        return tab


class Tab:
    """The bytes that are held for one address.

    Args:
        all: of the process.
        max_bytes: for this address.

    Attributes:
        held_bytes: for it, now.
    """

    __slots__ = ("__weakref__", "_max_bytes", "all", "held_bytes")

    def __init__(self, all: Tabs, max_bytes: int) -> None:
        self.all = all
        self._max_bytes = max_bytes
        self.held_bytes = 0

    @property
    def spent(self) -> bool:
        """Nothing that could be large is begun for this address."""
        return self.held_bytes >= self._max_bytes

    def fits(self, count: int) -> bool:
        """Whether so many bytes more may be held."""
        return (
            self.held_bytes + count <= self._max_bytes and self.all.total_bytes + count <= self.all.max_bytes
        )

    @contextmanager
    def holding(self, count: int) -> Iterator[None]:
        """So many bytes are held as long as the block runs."""
        self.add(count)
        try:
            yield
        finally:
            self.add(-count)

    def add(self, count: int) -> None:
        """So many bytes more are held, or, where it is negative, fewer."""
        self.held_bytes += count
        self.all.total_bytes += count
