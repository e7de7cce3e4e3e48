"""The bytes that wait for slow clients, by address and in all, with bounds.

A byte counts as long as this process holds it: a response of 7 MB of which the last 10 KB wait is 7 MB. What lives
anyway, such as the documentation (`SharedBytes`), counts nothing, however many clients read it slowly; over TLS the
piece that is being framed and encrypted does, since it is copied.

    connection   one response at a time: the next request is not read while part of the last response waits
    address      above its bound its requests are refused, and its live sockets lag: updates are skipped, not queued
    process      a response that does not fit is refused; live sockets lag from three quarters on; if the bound is
                 exceeded nevertheless, by what could not be refused any more, the slowest connections are cut first

Nothing is counted while clients take what they are sent.
"""

from typing import Protocol

from routes.edge.tabs import Tab, Tabs

MAX_BYTES = 256 * 1024 * 1024
"""Most unsent bytes of all connections together."""

MAX_ADDRESS_BYTES = 32 * 1024 * 1024
"""Most unsent bytes of all connections of one address: 32 responses of a megabyte, none of which is taken."""

_LAGGING_FROM = 0.75
"""Share of the bound from which on live sockets lag; the rest is for responses, which cannot be sent later."""


class SharedBytes(bytes):
    """Bytes that live as long as the service and so cost no memory per client."""

    __slots__ = ()


class Slow(Protocol):
    """A connection that has unsent bytes."""

    @property
    def paid_until(self) -> float:
        """Trio's time up to which the client has read at the required rate; the earlier, the slower."""
        ...

    def cut(self) -> None:
        """Close the connection at once, and drop what waits for it."""
        ...


class Unsent(Tabs):
    """The unsent bytes of this process.

    Args:
        max_bytes: the most unsent bytes in all.
        max_address_bytes: the most unsent bytes for one address.

    Attributes:
        cut: how many connections were closed to keep the bound.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_address_bytes: int = MAX_ADDRESS_BYTES) -> None:
        super().__init__(max_bytes, max_address_bytes)
        self.cut = 0
        self._lagging_from_bytes = int(max_bytes * _LAGGING_FROM)
        self._slow: dict[Slow, None] = {}

    @property
    def slow(self) -> int:
        """How many connections have unsent bytes now."""
        return len(self._slow)

    def crowds(self, tab: Tab) -> bool:
        """Whether updates that can be sent later must not be queued now.

        Args:
            tab: the account of the client's address.
        """
        return tab.spent or self.total_bytes >= self._lagging_from_bytes

    def relieve(self) -> None:
        """Cut the slowest connections until the bound is kept; to be called about once a second."""
        if self.total_bytes <= self.max_bytes:
            return
        for slow in sorted(self._slow, key=lambda slow: slow.paid_until):
            slow.cut()
            self.cut += 1
            if self.total_bytes <= self.max_bytes:
                return

    def began(self, slow: Slow) -> None:
        """Register a connection that now has unsent bytes."""
        self._slow[slow] = None

    def ended(self, slow: Slow) -> None:
        """Remove a registered connection that has none any more."""
        del self._slow[slow]


def held_bytes(piece: bytes | memoryview) -> int:
    """How many bytes of memory an unsent piece keeps alive: a view keeps the whole object that it is a part of;
    `SharedBytes` count 0.

    Args:
        piece: bytes, or a view of bytes.
    """
    owner = piece.obj if isinstance(piece, memoryview) else piece
    return len(owner) if isinstance(owner, bytes) and not isinstance(owner, SharedBytes) else 0
