"""Which node should own which shard: computed by every node from the same names, so that nobody has to agree on it.

Bounded rendezvous: each shard goes to the node that draws the highest number for it, among those that have room. So
nobody has more than an even share (rounded up), and little moves when a node comes or goes. What a node may write is
not decided here but by its leases (`persistence/nodes/leases.py`); this says only who should try to have them.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType

from persistence.nodes.shards import ALL_SHARDS, SHARDS

_ACTORS = range(SHARDS)
_JOBS = range(SHARDS, ALL_SHARDS.stop)


def shares(nodes: Collection[str]) -> Mapping[int, str]:
    """The node that should own each shard, {shard: its name}; empty without nodes.

    Args:
        nodes: the names of all nodes that may own shards, in any order.
    """
    return _shares(tuple(sorted(nodes)))


def wanted(nodes: Collection[str], node: str) -> frozenset[int]:
    """The shards that a node should own.

    Args:
        nodes: the names of all nodes that may own shards, in any order.
        node: the name of one of them; any other should own none.
    """
    return frozenset(shard for shard, owner in shares(nodes).items() if owner == node)


@lru_cache(maxsize=8)
def _shares(nodes: tuple[str, ...]) -> Mapping[int, str]:
    owners: dict[int, str] = {}
    if nodes:
        for shards in (_ACTORS, _JOBS):
            owners.update(_spread(nodes, shards))
    return MappingProxyType(owners)


def _spread(nodes: tuple[str, ...], shards: range) -> Iterable[tuple[int, str]]:
    room = dict.fromkeys(nodes, -(-len(shards) // len(nodes)))
    for shard in shards:
        best = max((node for node in nodes if room[node]), key=lambda node: _draw(node, shard))
        room[best] -= 1
        yield shard, best


def _draw(node: str, shard: int) -> bytes:
    return blake2b(f"{node}:{shard}".encode(), digest_size=8).digest()
