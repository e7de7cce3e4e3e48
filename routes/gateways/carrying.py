"""The routes that gateways are given, read once for all waiting heartbeats when there is a new revision.

A new reading begins only after a rest of twice the time that the last one took. So 50,000 routes that change all the
time cost the database a third of a core, and many writes at once result in few tables.
"""

import trio

from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from persistence.gateways import carried
from persistence.gateways.carried import CarriedRows

REST_FACTOR = 2.0
"""The rest after a reading, as a multiple of the time that it took."""


class CarriedTable:
    """All routes at one revision, as the JSON of the answers to gateways.

    Args:
        rows: the routes, read in one snapshot, so that no gateway confirms a revision without having all its routes.
    """

    def __init__(self, rows: CarriedRows) -> None:
        self.revision = rows.revision
        self._rows = rows
        # the same bytes for all gateways without routes of their own
        self._shared = self._answer(rows.routes.get(None, ""))
        self._none = self._answer("")
        self.unchanged = b'{"routesRevision":%d}' % rows.revision
        """The answer to a gateway that has this revision already."""

    def answer(self, gateway_id: str) -> bytes:
        """The answer to a gateway that has another revision; a draining one is given no routes."""
        if gateway_id in self._rows.draining:
            return self._none
        own = self._rows.routes.get(gateway_id)
        if own is None:
            return self._shared
        return self._answer(",".join(filter(None, (self._rows.routes.get(None), own))))

    def _answer(self, routes: str) -> bytes:
        return b'{"routesRevision":%d,"routes":[%b]}' % (self.revision, routes.encode())


class Carrying:
    """Holds the newest table, and wakes the heartbeats that wait for a new revision.

    Args:
        store: the database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table: CarriedTable | None = None
        self._stale = True
        self._closing = False
        self._waiting = 0
        self._changed = trio.Event()
        self._rests_until = 0.0
        self._readings: SingleFlight[str, CarriedTable] = SingleFlight()

    @property
    def waiting(self) -> int:
        """How many heartbeats wait."""
        return self._waiting

    def changed(self) -> None:
        """Have the routes read again, for waiting and for later heartbeats, because there may be a new revision."""
        self._stale = True
        self._changed.set()
        self._changed = trio.Event()

    def close(self) -> None:
        """End the wait of all heartbeats."""
        self._closing = True
        self.changed()

    async def table(self) -> CarriedTable:
        """The newest table.

        Raises:
            PersistenceError: the database failed, so that it cannot be read.
        """
        if self._stale or self._table is None:
            return await self._readings.run("routes", self._read, self._keep)
        return self._table

    async def other_than(self, revision: int, seconds: float) -> CarriedTable:
        """The newest table, at once if it has another revision, else as soon as it has.

        Cancellation leaves a reading to the others that wait for it.

        Args:
            revision: the revision that the caller has.
            seconds: how long to wait; after that, a table with the same revision is returned.

        Raises:
            PersistenceError: the routes cannot be read.
        """
        changed = self._changed
        table = await self.table()
        if table.revision < revision:  # another node has told of routes that this one has not heard of yet
            self.changed()
            changed = self._changed
            table = await self.table()
        self._waiting += 1
        try:
            with trio.move_on_after(seconds):
                while table.revision == revision and not self._closing:
                    await changed.wait()
                    changed = self._changed
                    table = await self.table()
        finally:
            self._waiting -= 1
        return table

    async def look(self) -> None:
        """Compare the revision with the one in the database, because routes are also deleted with servers and users,
        and changes may have had unknown outcomes.

        Raises:
            PersistenceError: the database failed, so that it cannot be read.
        """
        known = self._table
        if known is None or self._stale:
            return
        if await self._store.read(carried.read_revision) != known.revision:
            self.changed()

    async def _read(self) -> CarriedTable:
        await trio.sleep_until(self._rests_until)
        began_at = trio.current_time()
        self._stale = False
        try:
            rows = await self._store.read(carried.read)
            return await trio.to_thread.run_sync(CarriedTable, rows)
        except BaseException:
            self._stale = True
            raise
        finally:
            ended_at = trio.current_time()
            self._rests_until = ended_at + REST_FACTOR * (ended_at - began_at)

    def _keep(self, table: CarriedTable) -> None:
        self._table = table
