"""The rows of nodes that serve together, in memory, by the rules of `persistence/nodes/members.py`.

What runs between two waits is a transaction by itself, so nothing has to be locked.
"""

from collections.abc import Collection
from dataclasses import dataclass

from persistence.nodes.members import (
    LATE_SECONDS,
    NOBODY,
    QUIET_SECONDS,
    Lease,
    Member,
    Said,
    State,
    View,
)
from tests.simulation.tables import Tables


@dataclass(slots=True)
class Row:
    """A node that lives, or has not been found dead yet."""

    life: int
    until: float
    said: Said


class MemberRows:
    """The kernel's `Members`, and how a node joins.

    Args:
        tables: with the leases; their clock decides who is dead.
    """

    def __init__(self, tables: Tables) -> None:
        self.rows: dict[str, Row] = {}
        self._tables = tables
        self._leases: dict[int, Lease] = {}
        tables.leases = self._leases  # type: ignore[assignment]

    async def join(self, _conn: object, node: str, ttl_seconds: float) -> int:
        """Begin a life of a node; what an earlier one owned is given up. Returns the number of the life."""
        self._bury(LATE_SECONDS)
        leases = self._leases
        leases.update(
            {shard: Lease(NOBODY, fence + 1) for shard, (owner, fence) in leases.items() if owner == node}
        )
        self._tables.lives += 1
        said = Said(State.JOINING, (), 0, 0)
        self.rows[node] = Row(self._tables.lives, self._tables.seconds() + ttl_seconds, said)
        return self._tables.lives

    async def renew(
        self, _conn: object, node: str, life: int, ttl_seconds: float, said: Said, /
    ) -> View | None:
        row = self._row(node, life)
        if row is None:
            return None
        row.until, row.said = self._tables.seconds() + ttl_seconds, said
        return self._view()

    async def take(
        self, _conn: object, node: str, life: int, shards: Collection[int], /
    ) -> dict[int, int] | None:
        self._bury()
        if self._row(node, life) is None:
            return None
        taken = {}
        for shard in shards:
            owner, fence = self._leases.get(shard, (NOBODY, 0))
            if owner == node or owner not in self.rows:
                taken[shard] = fence + 1
        self._leases.update({shard: Lease(node, fence) for shard, fence in taken.items()})
        return taken

    async def give(self, _conn: object, node: str, to: str, fences: dict[int, int], /) -> dict[int, int]:
        leases = self._leases
        given = {
            shard: fence + 1 for shard, fence in fences.items() if leases.get(shard) == Lease(node, fence)
        }
        leases.update({shard: Lease(to, fence) for shard, fence in given.items()})
        return given

    async def leave(self, _conn: object, node: str, life: int, /) -> None:
        if self._row(node, life) is not None:
            del self.rows[node]

    def _row(self, node: str, life: int) -> Row | None:
        row = self.rows.get(node)
        return None if row is None or row.life != life else row

    def _bury(self, late_seconds: float = 0.0) -> None:
        over = self._tables.seconds() - late_seconds
        self.rows = {node: row for node, row in self.rows.items() if row.until >= over}

    def _view(self) -> View:
        now = self._tables.seconds()
        members = {
            node: Member(
                node, row.life, row.said.state, "", 0, frozenset(row.said.heard), 0, 0,
                row.until < now + QUIET_SECONDS, row.until < now,
            )
            for node, row in sorted(self.rows.items())
        }  # fmt: skip
        return View(members, dict(self._leases), now)
