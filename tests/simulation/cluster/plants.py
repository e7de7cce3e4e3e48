"""Faults that are planted to show that the simulation finds them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from actors.kernel.nodes import membership
from actors.kernel.nodes.council import Verdict
from actors.kernel.nodes.posts import Posts
from persistence.journal.turn import Turn
from tests.simulation.cluster.member_rows import MemberRows
from tests.simulation.report import Fault
from tests.simulation.tables import Tables


@dataclass(frozen=True, slots=True, eq=False)
class Plant(Fault):
    """One fault.

    Args:
        tables, members: what stands in place of the right ones.
    """

    tables: type[Tables] = Tables
    members: type[MemberRows] = MemberRows


NONE = Plant()


class _Unfenced(Tables):
    """A turn is committed whoever owns its shard by now."""

    def holds(self, turn: Turn) -> bool:
        return True


class _SameFence(MemberRows):
    """Who takes a dead node's shard goes on under its fence."""

    async def take(
        self, conn: object, node: str, life: int, shards: Collection[int], /
    ) -> dict[int, int] | None:
        before = dict(self._leases)
        taken = await super().take(conn, node, life, shards)
        if taken is None:
            return None
        kept = {shard: before[shard].fence if shard in before else fence for shard, fence in taken.items()}
        self._leases.update(
            {shard: self._leases[shard]._replace(fence=fence) for shard, fence in kept.items()}
        )
        return kept


def _send_again(self: Any, node: str) -> None:
    """Letters that a dead node has not answered are sent to its heir."""
    for number, (line, post) in list(self._sent.items()):
        if line.at is not None and line.at.node == node:
            del self._sent[number]
            line.returned.append(post)
            self._waiting += 1
            self._leave(line)


PLANTS = (
    Plant("a turn is committed under a fence of before", tables=_Unfenced, first=40),
    Plant("an heir has the fence of the dead", members=_SameFence, first=13),
    Plant(
        "a letter without an answer is sent to the heir",
        patches=((Posts, "_parted", _send_again),),
        first=155,
    ),
    Plant(
        "a node that reaches nobody goes on",
        patches=((membership, "verdict", lambda _seats, _node: Verdict.GO_ON),),
        first=180,
    ),
)
