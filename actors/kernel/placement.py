"""Which node may write which actor: the one place that would change for more than one process.

Actors are divided into shards by kind and id. A node holds a shard by a lease in the database and writes under the
lease's fence, a number that rises with each owner; the writer checks it in every transaction, so that a node which
has lost a shard without noticing cannot write. That safety does not depend on time: leases run out only so that a
dead node's shards can be taken over.

Today one process holds all shards. A second node would be another `Placement`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol
from zlib import crc32

import structlog
import trio

from actors.kernel.store import Leases, Store
from persistence.errors import DatabaseUnavailable, Fenced, PersistenceError
from persistence.journal import journal

_log = structlog.get_logger(__name__)

# Enough to spread over as many nodes as one database can feed, few enough to renew in one statement.
SHARDS = 16

# How long a dead node's shards stay without an owner. Renewed three times within it, so two renewals may fail.
LEASE_SECONDS = 15.0
RENEW_SECONDS = LEASE_SECONDS / 3


class Placement(Protocol):
    """Says where an actor lives and under which fence it is written."""

    def shard_of(self, kind: str, id: str, /) -> int:
        """Return the shard of an actor; the same on every node and for ever."""
        ...

    def fence(self, shard: int, /) -> int:
        """Return the fence under which this node writes the shard; raises Fenced when another node owns it."""
        ...

    def owner(self, shard: int, /) -> str | None:
        """Return the node that owns the shard, as far as this node knows; None when it knows of none."""
        ...

    def on_lost(self, listener: Callable[[int], None], /) -> None:
        """Have `listener(shard)` called when this node finds out that it has lost a shard."""
        ...


class LocalPlacement:
    """All shards on this node; made by `open_local_placement`."""

    def __init__(self, store: Store, leases: Leases, node: str) -> None:
        self._store = store
        self._leases = leases
        self._node = node
        self._fences: dict[int, int] = {}  # by shard
        self._listeners: list[Callable[[int], None]] = []

    def shard_of(self, kind: str, id: str) -> int:
        """Return the CRC-32 of kind and id modulo `SHARDS`: stable across versions of Python, unlike `hash`."""
        return crc32(f"{kind}:{id}".encode()) % SHARDS

    def fence(self, shard: int) -> int:
        """Return the fence of this node's lease.

        Raises:
            Fenced: the lease is lost.
        """
        try:
            return self._fences[shard]
        except KeyError:
            raise Fenced(f"shard {shard} is not held by {self._node}") from None

    def owner(self, shard: int) -> str | None:
        """Return this node, or None when the shard was lost: which node took it is not known here."""
        return self._node if shard in self._fences else None

    def on_lost(self, listener: Callable[[int], None]) -> None:
        """Have `listener(shard)` called when a renewal shows that a shard was taken by another node."""
        self._listeners.append(listener)

    async def take(self) -> None:
        """Take every shard that neither this node nor another holds.

        Cancellation may leave leases that are not recorded here; the next call takes them again under a new fence.
        """
        wanted = [shard for shard in range(SHARDS) if shard not in self._fences]
        if wanted:
            self._fences |= await self._store.transact(
                self._leases.take_leases, self._node, wanted, LEASE_SECONDS
            )

    async def renew(self) -> None:
        """Extend the leases, and call the listeners for each shard that is lost.

        Cancellation may leave the leases extended; a lost shard is then found at the next renewal.
        """
        if not self._fences:
            return
        kept = await self._store.transact(
            self._leases.renew_leases, self._node, dict(self._fences), LEASE_SECONDS
        )
        for shard in [shard for shard in self._fences if shard not in kept]:
            _log.error("shard_lost", shard=shard, node=self._node)
            del self._fences[shard]
            for listener in self._listeners:
                listener(shard)

    async def release(self) -> None:
        """Give all leases back, so that the next process need not wait for them to run out.

        After a cancellation or failure they run out; this node holds none of them in any case.
        """
        fences, self._fences = self._fences, {}
        await self._store.transact(self._leases.release_leases, self._node, list(fences))

    async def complete(self) -> bool:
        """Take what can be taken; True when this node holds all shards.

        Cancellation may leave leases that are not recorded here; the next call takes them again.
        """
        await self.take()
        return len(self._fences) == SHARDS

    async def keep(self) -> None:
        """Renew until cancelled. A failure waits for the next round: the writer checks every fence anyway."""
        while True:
            await trio.sleep(RENEW_SECONDS)
            try:
                await self.renew()
                await self.take()
            except PersistenceError as failure:
                _log.warning("lease_renewal_failed", node=self._node, why=type(failure).__name__)


@asynccontextmanager
async def open_local_placement(
    store: Store, *, node: str, leases: Leases = journal
) -> AsyncIterator[LocalPlacement]:
    """Hold all shards while the block runs.

    Where a dead node's leases have not run out, this waits for them, at most twice their length.

    Cancellation inside the block gives the leases back, as leaving it does; before the block, they run out.

    Args:
        store: the database.
        node: the name of this process; one that was killed and comes back under its name need not wait.
        leases: the statements, `persistence.journal.journal`.

    Raises:
        DatabaseUnavailable: another process holds shards of this database, or the database cannot be reached.
    """
    placement = LocalPlacement(store, leases, node)
    with trio.move_on_after(2 * LEASE_SECONDS):
        while not await placement.complete():
            _log.warning("waiting_for_leases", node=node, seconds=LEASE_SECONDS)
            await trio.sleep(1.0)
    if any(placement.owner(shard) is None for shard in range(SHARDS)):
        raise DatabaseUnavailable(
            "another process holds this database; stop it, or give this one a database of its own"
        )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(placement.keep)
        try:
            yield placement
        finally:
            nursery.cancel_scope.cancel()
            with trio.move_on_after(LEASE_SECONDS / 3, shield=True):
                try:
                    await placement.release()
                except PersistenceError as failure:
                    _log.warning("leases_not_released", node=node, why=type(failure).__name__)
