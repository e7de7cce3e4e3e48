"""Bounds on what strangers take up: connections in all, and connections of one address that have not been carried
yet."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from routes.edge.address import Network, rate_key
from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.proxy_protocol import Place

OPENING_PER_ADDRESS = 64
"""Most connections of one address (IPv6: of one /64) that have not been carried yet."""


class Door:
    """Counts connections, and turns away those beyond the bounds.

    Args:
        capacity: most connections at the same time, carried or not.
        trusted: networks of proxies that are believed about where a connection comes from.
    """

    def __init__(self, capacity: int, trusted: tuple[Network, ...]) -> None:
        self._capacity = capacity
        self._trusted = trusted
        self._inside = 0
        self._opening: Counter[str] = Counter()

    @property
    def opening(self) -> int:
        """Connections that have not been carried yet."""
        return self._opening.total()

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Count a connection for the block.

        Raises:
            TurnedAway: there are as many connections as there may be.
        """
        if self._inside >= self._capacity:
            raise TurnedAway("full")
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    @contextmanager
    def hold(self, source: Place) -> Iterator[None]:
        """Count a connection as one that has not been carried yet, for the block.

        Args:
            source: where it comes from.

        Raises:
            TurnedAway: too many connections of its address have not been carried yet.
        """
        key = rate_key(source[0])
        if self._opening[key] >= OPENING_PER_ADDRESS:
            raise TurnedAway("address")
        self._opening[key] += 1
        try:
            yield
        finally:
            self._opening[key] -= 1
            if not self._opening[key]:
                del self._opening[key]

    def is_trusted(self, peer: Place) -> bool:
        """Whether a peer is a proxy that is believed about where a connection comes from."""
        address = ip_address(peer[0])
        return any(address in network for network in self._trusted)
