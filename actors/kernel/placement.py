"""Which node may write which actor.

Actors are divided into shards by kind and id. A node holds a shard by a lease in the database and writes under the
lease's fence, a number that rises with each owner; the writer checks it in every transaction, so that a node which
has lost a shard without noticing cannot write. That safety does not depend on time: a node's row runs out only so that
a dead node's shards can be taken over.

A process that serves alone holds all shards (`LocalPlacement`); among other nodes `nodes/whereabouts.py` says what is
held.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Protocol

import structlog
import trio

from actors.kernel.store import Nodes, Store
from persistence.errors import DatabaseUnavailable, Fenced, OutcomeUnknown, PersistenceError
from persistence.nodes import nodes as persistent_nodes
from persistence.nodes.shards import shard_of, shard_of_job

_log = structlog.get_logger()

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

    def held(self) -> Collection[int]:
        """Return the shards that this node owns, as far as it knows."""
        ...

    def does(self, job: str, /) -> bool:
        """Return whether this node runs the job with this name, of those that one node runs for all."""
        ...

    def on_lost(self, listener: Callable[[Collection[int]], None], /) -> None:
        """Have `listener(shards)` called when this node finds out that it has lost shards."""
        ...


class LocalPlacement:
    """All shards, for a process that serves alone; made by `open_local_placement`."""

    def __init__(self, store: Store, nodes: Nodes, node: str) -> None:
        self._store = store
        self._nodes = nodes
        self._node = node
        self._life = 0
        self._fences: dict[int, int] = {}  # by shard; of all, or none
        self._listeners: list[Callable[[Collection[int]], None]] = []

    def shard_of(self, kind: str, id: str) -> int:
        """Return the shard of an actor (`persistence/nodes/shards.py`)."""
        return shard_of(kind, id)

    def fence(self, shard: int) -> int:
        """Return the fence of this node's lease.

        Raises:
            Fenced: the lease is lost.
        """
        try:
            return self._fences[shard]
        except KeyError:
            raise Fenced(f"shard {shard} is not held by {self._node}") from None

    def held(self) -> Collection[int]:
        """Return all shards, or none while another node may have them."""
        return self._fences.keys()

    def does(self, job: str) -> bool:
        """Return whether the shards are held: this node does everything that one node does for all."""
        return shard_of_job(job) in self._fences

    def on_lost(self, listener: Callable[[Collection[int]], None]) -> None:
        """Have `listener(shards)` called when a renewal shows that this node was declared dead."""
        self._listeners.append(listener)

    async def take(self) -> bool:
        """Take every shard, unless they are held already; returns whether they are held now.

        Cancellation may leave leases that are not recorded here; the next call takes them again under new fences.
        """
        if not self._fences:
            try:
                taken = await self._store.transact(
                    self._nodes.hold_alone, self._node, LEASE_SECONDS, self._life
                )
            except (OutcomeUnknown, trio.Cancelled):
                self._life = 0  # the other process under this name may be this one
                raise
            if taken is not None:
                self._life, self._fences = taken
        return bool(self._fences)

    async def renew(self) -> None:
        """Extend this node's row, and call the listeners if it has been declared dead.

        Cancellation may leave the row extended; a death is then found at the next renewal.
        """
        if not self._fences or await self._store.transact(
            self._nodes.renew, self._node, self._life, LEASE_SECONDS
        ):
            return
        _log.error("shards_lost", node=self._node)
        lost, self._fences = self._fences, {}
        for listener in self._listeners:
            listener(lost.keys())

    async def release(self) -> None:
        """Give all leases back, so that the next process need not wait for this one to be declared dead.

        After a cancellation or failure it has to; this node holds nothing in any case.
        """
        self._fences = {}
        await self._store.transact(self._nodes.leave, self._node, self._life)

    async def keep(self) -> None:
        """Renew until cancelled. A failure waits for the next round: the writer checks every fence anyway."""
        while True:
            await trio.sleep(RENEW_SECONDS)
            try:
                await self.renew()
                if not await self.take():
                    _log.error(
                        "another process serves this database; was the data folder copied? stop one of them",
                        node=self._node,
                    )
            except PersistenceError as failure:
                _log.warning("lease_renewal_failed", node=self._node, why=type(failure).__name__)


@asynccontextmanager
async def open_local_placement(
    store: Store, *, node: str, nodes: Nodes = persistent_nodes
) -> AsyncIterator[LocalPlacement]:
    """Hold all shards while the block runs.

    Where another node's row has not run out, this waits for it, at most twice its length.

    Cancellation inside the block gives the leases back, as leaving it does; before the block, others have to wait for
    this node's row to run out.

    Args:
        store: the database.
        node: the name of this process; one that was killed and comes back under its name need not wait.
        nodes: the functions that read and write the rows of nodes (`persistence.nodes.nodes`).

    Raises:
        DatabaseUnavailable: another process serves this database, or the database cannot be reached.
    """
    placement = LocalPlacement(store, nodes, node)
    with trio.move_on_after(2 * LEASE_SECONDS):
        while not await placement.take():
            _log.warning("waiting_for_leases", node=node, seconds=LEASE_SECONDS)
            await trio.sleep(1.0)
    if not placement.held():
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
