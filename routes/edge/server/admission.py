"""Admission of connections with its bounds, and the one task that checks their deadlines.

Invariant: a connection is counted from before its first byte is read until it has ended, however it ends.
"""

from collections import Counter

import trio

from routes.edge.address import UNKNOWN, normal, rate_key
from routes.edge.errors import EdgeRefused
from routes.edge.server.handover import Swept
from routes.edge.transport.refusals import Full, TooManyConnections
from routes.edge.transport.settings import ServerSettings

_SLICE = 200
"""Connections checked between two checkpoints; each costs half a microsecond."""


class Slot:
    """The count of one admitted connection.

    Args:
        connections: the registry that counts it.
        key: the rate key of the connection's address; None where connections are not counted by address.

    Attributes:
        holder: the connection, to be swept and retired; None before it exists and after its end.
    """

    __slots__ = ("_connections", "holder", "key")

    def __init__(self, connections: "Connections", key: str | None) -> None:
        self._connections = connections
        self.key = key
        self.holder: Swept | None = None

    def leave(self) -> None:
        """Stop counting the connection, which has ended."""
        self.holder = None
        self._connections.leave(self)


class Connections:
    """All connections of the server.

    Args:
        settings: the server's settings.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._slots: dict[Slot, None] = {}
        self._by_address: Counter[str] = Counter()
        self._none_left = trio.Event()
        self._none_left.set()

    def __len__(self) -> int:
        return len(self._slots)

    def admit(self, peer: str | None) -> Slot:
        """Admit a connection, and count it until `Slot.leave`.

        Args:
            peer: the address at the other end, None when there is none (a Unix socket).

        Raises:
            Full: there are too many connections in all.
            TooManyConnections: there are too many connections from this address.
        """
        key = self._key(peer)
        refused = self._refusal(key)
        if refused is not None:
            raise refused
        slot = Slot(self, key)
        if not self._slots:
            self._none_left = trio.Event()
        self._slots[slot] = None
        if key is not None:
            self._by_address[key] += 1
        return slot

    def leave(self, slot: Slot) -> None:
        """Count a connection no longer. Harmless when repeated."""
        if slot not in self._slots:
            return
        del self._slots[slot]
        if not self._slots:
            self._none_left.set()
        if slot.key is not None:
            self._by_address[slot.key] -= 1
            if self._by_address[slot.key] <= 0:
                del self._by_address[slot.key]

    async def sweep(self) -> None:
        """Check the deadlines of all connections every `sweep_seconds`, until cancelled. Cancellation closes none."""
        while True:
            await trio.sleep(self._settings.sweep_seconds)
            now = trio.current_time()
            for number, slot in enumerate(tuple(self._slots), 1):
                if slot.holder is not None:
                    slot.holder.sweep(now)
                if number % _SLICE == 0:
                    await trio.lowlevel.checkpoint()
            self._settings.unsent.relieve()

    def retire(self) -> None:
        """Close idle connections now, and the others once their response is sent, because the server is stopping."""
        for slot in tuple(self._slots):
            if slot.holder is not None:
                slot.holder.retire()

    def abort(self) -> None:
        """Close every connection that is left, at once."""
        for slot in tuple(self._slots):
            if slot.holder is not None:
                slot.holder.abort()

    async def wait_none(self) -> None:
        """Wait until there are no connections. Cancellation changes nothing."""
        await self._none_left.wait()

    def _key(self, peer: str | None) -> str | None:
        """The rate key of an address, or None for addresses that are not counted."""
        if self._settings.max_per_address is None or peer is None:
            return None
        address = normal(peer)
        if address == UNKNOWN or self._settings.trusted(address):
            return None
        return rate_key(address)

    def _refusal(self, key: str | None) -> EdgeRefused | None:
        if len(self._slots) >= self._settings.max_connections:
            return Full()
        limit = self._settings.max_per_address
        if key is not None and limit is not None and self._by_address[key] >= limit:
            return TooManyConnections()
        return None
