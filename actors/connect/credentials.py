"""Credentials of game servers, cached: read when a server first calls, and updated as its actor commits changes.

It also keeps when each server called last, which is written now and then: a server silent for a day may be removed.
Other nodes are told of the first call since the last writing, of one from another address, and twice a minute.
"""

from collections.abc import Callable
from itertools import islice

from actors.connect import events
from actors.connect.events import ServerNews
from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from persistence.connect import servers
from persistence.connect.rows import ServerRow

SEEN_AT_ONCE = 2_000
"""How many servers' last calls are written in one transaction."""

TOLD_AGAIN_MS = 30_000
"""How far the last call that other nodes know of may lag behind, while a server goes on calling."""

CAPACITY = 20_000
"""How many servers are cached, 0.6 KB each; beyond it the one read longest ago is evicted."""


class Credentials:
    """A cache of the rows of servers that have called.

    Args:
        store: the database.
        capacity: how many servers are cached.
    """

    def __init__(self, store: Store, *, capacity: int = CAPACITY) -> None:
        self._store = store
        self._capacity = capacity
        self._rows: dict[str, ServerRow] = {}
        self._loads: SingleFlight[str, ServerRow | None] = SingleFlight()
        # {server id: (at_ms, address)}
        self._seen: dict[str, tuple[int, str]] = {}  # not yet written
        self._told: dict[str, tuple[int, str]] = {}  # what others know of them
        self._elsewhere: dict[str, tuple[int, str]] = {}  # on other nodes, which may not have written them
        self._before: dict[str, tuple[int, str]] = {}  # either, until the last writing
        self._listeners: list[Callable[[str, int, str], None]] = []

    def peek(self, server_id: str) -> ServerRow | None:
        """The server's row if it is cached, or None; never waits."""
        return self._rows.get(server_id)

    async def of(self, server_id: str) -> ServerRow | None:
        """The server's row, or None when there is no such server.

        Raises:
            DatabaseUnavailable: the row is not cached, and the database cannot be asked. Cancellation ends only the
                wait.
        """
        row = self._rows.get(server_id)
        if row is not None:
            return row
        return await self._loads.run(
            server_id, lambda: self._store.read(servers.read, server_id), self._remember
        )

    def hear(self, server_id: str, event: ServerNews) -> None:
        """Update the cache from an event that a server's actor has committed."""
        match event:
            case events.ServerChanged(row):
                self._loads.void(server_id)
                if server_id in self._rows:
                    self._rows[server_id] = row
            case events.ServerRemoved():
                self._loads.void(server_id)
                self._rows.pop(server_id, None)
                for calls in (self._seen, self._told, self._elsewhere, self._before):
                    calls.pop(server_id, None)
            case _:
                pass

    def distrust(self, server_id: str) -> None:
        """Drop a server from the cache because a change of its row may have been committed or not; it is read again."""
        self._loads.void(server_id)
        self._rows.pop(server_id, None)

    def distrust_owned(self, owner_id: str) -> None:
        """Drop a user's servers from the cache, because they may be nobody's now; they are read again."""
        self._loads.void_all()
        for server_id in [id for id, row in self._rows.items() if row.owner_id == owner_id]:
            del self._rows[server_id]

    def distrust_all(self) -> None:
        """Drop all servers from the cache because changes of their rows may not have been told; they are read again."""
        self._loads.void_all()
        self._rows.clear()

    def saw(self, server_id: str, now_ms: int, address: str) -> None:
        """Note that a server has called.

        Args:
            now_ms: epoch milliseconds.
            address: the server's IP address, normalised.
        """
        self._seen[server_id] = now_ms, address
        if not self._listeners:
            return
        told = self._told.get(server_id)
        if told is None or told[1] != address or now_ms - told[0] >= TOLD_AGAIN_MS:
            self._told[server_id] = now_ms, address
            for listener in self._listeners:
                listener(server_id, now_ms, address)

    def on_called(self, listener: Callable[[str, int, str], None]) -> None:
        """Call `listener(server id, at_ms, address)`, synchronously, with calls of which other nodes should know."""
        self._listeners.append(listener)

    def saw_elsewhere(self, server_id: str, at_ms: int, address: str) -> None:
        """Note that a server has called another node, which writes the call.

        Args:
            at_ms: when it called, epoch milliseconds.
            address: the server's IP address, normalised.
        """
        self._elsewhere[server_id] = at_ms, address

    def last_seen(self, server_id: str) -> tuple[int, str] | None:
        """(epoch milliseconds, address) of the server's last call on any node, where rows that were read a moment ago
        may lack it, because it was written by the last `flush` or is not written yet; else None."""
        known = (self._seen, self._elsewhere, self._before)
        return max((calls[server_id] for calls in known if server_id in calls), default=None)

    async def flush(self) -> None:
        """Write the calls since the last time, in batches; to be called every minute. On an error or cancellation the
        rest waits for the next time.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        self._before, self._elsewhere = self._elsewhere, {}
        self._told.clear()
        for _ in range(len(self._seen) // SEEN_AT_ONCE + 1):
            some = dict(islice(self._seen.items(), SEEN_AT_ONCE))
            if not some:
                return
            await self._store.transact(servers.save_last_seen, some)
            for server_id, call in some.items():
                self._before[server_id] = max(call, self._before.get(server_id, call))
                if self._seen.get(server_id) == call:  # it has not called again meanwhile
                    del self._seen[server_id]

    def is_silent(self, server_id: str) -> bool:
        """Whether the server has called no node since the `flush` before the last, so that its row has its last
        call."""
        return self.last_seen(server_id) is None

    def _remember(self, row: ServerRow | None) -> None:
        if row is None:
            return
        if len(self._rows) >= self._capacity:
            del self._rows[next(iter(self._rows))]
        self._rows[row.server_id] = row
