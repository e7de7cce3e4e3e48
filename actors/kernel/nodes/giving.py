"""Shards on their way from this node to others: their owners leave memory, then the rows say who has them."""

from collections.abc import Collection, Mapping
from typing import Protocol

import structlog
import trio

from actors.kernel.nodes.entries import Owns
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.shares import shares
from actors.kernel.nodes.whereabouts import Whereabouts
from actors.kernel.store import Members, Store
from persistence.nodes.members import Lease

_log = structlog.get_logger()

GIVEN_AT_ONCE = 32
"""Most shards on their way at a time."""

GIVE_SECONDS = 2.0
"""How long the owners of a shard have to finish what they do; after that it stays, and is given later."""


class PartWith(Protocol):
    """Has all owners in some shards finish and leave memory; no owner is loaded there meanwhile."""

    async def __call__(self, shards: Collection[int], seconds: float, /) -> Collection[int]:
        """Returns the shards that have no owners in memory now; the owners of the others stay and go on.

        Cancellation ends the wait; owners that were closing go on.
        """
        ...


class Giving:
    """Gives shards of this node to the nodes that should own them.

    Args:
        store: the database.
        rows: the functions that read and write the rows of nodes (`persistence.nodes.members`).
        where: which node owns which shard.
        peers: all other nodes.
    """

    def __init__(self, store: Store, rows: Members, where: Whereabouts, peers: Peers) -> None:
        self._store = store
        self._rows = rows
        self._where = where
        self._peers = peers
        self._turn = trio.Lock()

    async def give_some(self, up: Collection[str], part_with: PartWith) -> bool:
        """Give some shards to a node that should own them; returns whether there may be more to give now.

        Cancellation may leave them given; until the rows are read again, this node acts as if they were its own, and
        is refused.

        Args:
            up: the names of the nodes that may own shards.
            part_with: has the owners in given shards leave memory.

        Raises:
            PersistenceError: the database cannot be asked.
        """
        owners = shares(up)
        for node in sorted(self._peers.names):
            due = [shard for shard in self._where.fences if owners.get(shard) == node]
            if due and self._peers.hears(node):
                async with self._turn:
                    if await self._give(node, sorted(due)[:GIVEN_AT_ONCE], part_with):
                        return True
        return False

    def tell_owned(self, node: str, fences: Mapping[int, int]) -> None:
        """Tell this node and all others who owns some shards now.

        Args:
            node: the name of the new owner.
            fences: the shards and their new fences, {shard: fence}.
        """
        self._where.learn({shard: Lease(node, fence) for shard, fence in fences.items()})
        self._peers.tell_all(Owns(node, dict(fences)))

    async def _give(self, node: str, shards: Collection[int], part_with: PartWith) -> bool:
        where = self._where
        where.moving.update(shards)
        try:
            parted = await part_with(shards, GIVE_SECONDS)
            fences = {shard: where.fences[shard] for shard in parted if shard in where.fences}
            if not fences:
                return False
            given = await self._store.transact(self._rows.give, where.node, node, fences)
            self.tell_owned(node, given)
            _log.info("shards_given", node=where.node, to=node, shards=len(given))
            return bool(given)
        finally:
            where.moving.difference_update(shards)
            where.changed()
