"""Admission of connections with its bounds, and the one task that checks their deadlines.

Where all room is taken, the HTTP connection that has waited longest for its next request is closed for the new one:
clients expect that at any time, and keep such connections for minutes.

Invariant: a connection is counted from before its first byte is read until it has ended, however it ends.
"""

from collections import Counter, OrderedDict
from typing import Protocol

import trio

from routes.edge.address import UNKNOWN, normal, rate_key
from routes.edge.errors import EdgeRefused
from routes.edge.server.handover import Swept
from routes.edge.transport.refusals import Full, TooManyConnections
from routes.edge.transport.settings import ServerSettings

_SLICE = 200
"""Connections checked between two checkpoints; each costs half a microsecond."""


class Resting(Protocol):
    """A connection that waits for the next request of its client."""

    def give_way(self) -> bool:
        """Close if there is nothing to read, to answer or to send; returns whether it has closed."""
        ...


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

    def rest(self, connection: Resting) -> None:
        """Note that a request was answered and no other has come, so that the connection may have to give way.

        Args:
            connection: the connection, which may do something else by the time that it is asked.
        """
        self._connections.rest(self, connection)

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
        self._resting: OrderedDict[Slot, Resting] = OrderedDict()  # who has rested longest comes first
        self._by_address: Counter[str] = Counter()
        self._none_left = trio.Event()
        self._none_left.set()

    def __len__(self) -> int:
        return len(self._slots)

    def admit(self, peer: str | None) -> Slot:
        """Admit a connection, and count it until `Slot.leave`. Closes another one that rests, where there is no room.

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

    def rest(self, slot: Slot, connection: Resting) -> None:
        """Let a connection be the last of those that may have to give way (`Slot.rest`)."""
        self._resting[slot] = connection
        self._resting.move_to_end(slot)

    def leave(self, slot: Slot) -> None:
        """Count a connection no longer. Harmless when repeated."""
        self._resting.pop(slot, None)
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
        limit = self._settings.max_per_address
        if key is not None and limit is not None and self._by_address[key] >= limit:
            return TooManyConnections()
        if len(self._slots) >= self._settings.max_connections and not self._make_room():
            return Full()
        return None

    def _make_room(self) -> bool:
        """Close one connection, which is counted until its task has ended; returns whether there was one to close."""
        while self._resting:
            _, connection = self._resting.popitem(last=False)
            if connection.give_way():
                return True
        return False
