"""How many bytes wait for clients that do not take them, by address and in all: a bound for slow readers.

A byte counts as long as this process holds it: a response of 7 MB of which the last 10 KB wait is 7 MB. What lives
anyway, such as the documentation (`SharedBytes`), counts nothing, however many are slow to read it.

    connection   one response at a time: the next request is not looked at while something of the last one waits
    address      above its bound its requests are refused, and its live sockets are owed what they would be sent
    process      a response that does not fit is refused; live sockets are owed from three quarters on; what is above
                 the bound nevertheless, because it could not be refused any more, is cut, the slowest first

Nothing here is asked, and nothing is counted, while clients take what they are sent.
"""

from typing import Protocol

from routes.edge.tabs import Tab, Tabs

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


class Unsent(Tabs):
    """The bytes that wait in this process.

    Args:
        max_bytes: in all.
        max_address_bytes: for one address.

    Attributes:
        cut: connections that were closed because of it.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_address_bytes: int = MAX_ADDRESS_BYTES) -> None:
        super().__init__(max_bytes, max_address_bytes)
        self.cut = 0
        self._owed_from_bytes = int(max_bytes * _OWED_FROM)
        self._slow: dict[Slow, None] = {}

    @property
    def slow(self) -> int:
        """Connections for which bytes wait now."""
        return len(self._slow)

    def crowds(self, tab: Tab) -> bool:
        """Whether what may be sent later is not queued now.

        Args:
            tab: of the address that it is for.
        """
        return tab.spent or self.total_bytes >= self._owed_from_bytes

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


def held_bytes(piece: bytes | memoryview) -> int:
    """How much memory a piece that waits keeps: all of what it is a part of.

    Args:
        piece: bytes, or a part of them.
    """
    owner = piece.obj if isinstance(piece, memoryview) else piece
    return len(owner) if isinstance(owner, bytes) and not isinstance(owner, SharedBytes) else 0
