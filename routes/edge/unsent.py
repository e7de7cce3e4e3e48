"""How many bytes wait for clients that do not take them, by address and in all: a bound for slow readers.

A byte counts as long as this process holds it: a response of 7 MB of which the last 10 KB wait is 7 MB. What lives
anyway, such as the documentation (`SharedBytes`), counts nothing, however many are slow to read it.

    connection   one response at a time: the next request is not looked at while something of the last one waits
    address      above its bound its requests are refused, and its live sockets are owed what they would be sent
    process      a response that does not fit is refused; live sockets are owed from three quarters on; what is above
                 the bound nevertheless, because it could not be refused any more, is cut, the slowest first

Nothing here is asked, and nothing is counted, while clients take what they are sent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakValueDictionary

MAX_BYTES = 256 * 1024 * 1024
"""Of all connections."""

MAX_ADDRESS_BYTES = 32 * 1024 * 1024
"""Of all connections of one address: 32 responses of a megabyte, none of which is taken."""

_OWED_FROM = 0.75
"""Share of the bound from which on live sockets are owed; the rest is for answers, which cannot be."""


class SharedBytes(bytes):
    """Bytes that live as long as the service, whoever is sent them."""

    __slots__ = ()


class Slow(Protocol):
    """A connection for which bytes wait.

    Attributes:
        paid_until: trio's time up to which the client has taken as much as it must; the earlier, the slower.
    """

    paid_until: float

    def cut(self) -> None:
        """Close the connection, and forget what waits for it."""
        ...


class Unsent:
    """The bytes that wait in this process.

    Args:
        max_bytes: in all.
        max_address_bytes: for one address.

    Attributes:
        total_bytes: that wait now.
        refused: requests that were refused because of it.
        cut: connections that were closed because of it.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_address_bytes: int = MAX_ADDRESS_BYTES) -> None:
        self.max_bytes = max_bytes
        self.owed_from_bytes = int(max_bytes * _OWED_FROM)
        self.total_bytes = 0
        self.refused = 0
        self.cut = 0
        self._max_address_bytes = max_address_bytes
        self._slow: dict[Slow, None] = {}
        self._tabs: WeakValueDictionary[str, Tab] = WeakValueDictionary()
        self._uncounted = Tab(self, max_bytes)

    @property
    def slow(self) -> int:
        """Connections for which bytes wait now."""
        return len(self._slow)

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

    def relieve(self) -> None:
        """Cut the slowest until the bound is kept; to be called once a second or so."""
        if self.total_bytes <= self.max_bytes:
            return
        for slow in sorted(self._slow, key=lambda slow: slow.paid_until):
            slow.cut()
            self.cut += 1
            if self.total_bytes <= self.max_bytes:
                return

    def began(self, slow: Slow) -> None:
        """Bytes wait for this connection from now on."""
        self._slow[slow] = None

    def ended(self, slow: Slow) -> None:
        """None wait for it any more."""
        del self._slow[slow]


class Tab:
    """The bytes that wait for one address.

    Args:
        unsent: of the process.
        max_bytes: for this address.

    Attributes:
        unsent_bytes: that wait for it now.
    """

    __slots__ = ("__weakref__", "_max_bytes", "unsent", "unsent_bytes")

    def __init__(self, unsent: Unsent, max_bytes: int) -> None:
        self.unsent = unsent
        self._max_bytes = max_bytes
        self.unsent_bytes = 0

    @property
    def spent(self) -> bool:
        """Nothing that could be large is begun for this address."""
        return self.unsent_bytes >= self._max_bytes

    @property
    def crowded(self) -> bool:
        """What may be sent later is not queued now."""
        return self.unsent_bytes >= self._max_bytes or self.unsent.total_bytes >= self.unsent.owed_from_bytes

    def fits(self, count: int) -> bool:
        """Whether so many bytes may wait, should the client take none of them."""
        return (
            self.unsent_bytes + count <= self._max_bytes
            and self.unsent.total_bytes + count <= self.unsent.max_bytes
        )

    @contextmanager
    def holding(self, count: int) -> Iterator[None]:
        """So many bytes wait as long as the block runs."""
        self.add(count)
        try:
            yield
        finally:
            self.add(-count)

    def add(self, count: int) -> None:
        """So many bytes more wait, or, where it is negative, fewer."""
        self.unsent_bytes += count
        self.unsent.total_bytes += count


def held_bytes(piece: bytes | memoryview) -> int:
    """How much memory a piece that waits keeps: all of what it is a part of.

    Args:
        piece: bytes, or a part of them.
    """
    owner = piece.obj if isinstance(piece, memoryview) else piece
    return len(owner) if isinstance(owner, bytes) and not isinstance(owner, SharedBytes) else 0
