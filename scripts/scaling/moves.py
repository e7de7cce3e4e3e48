"""How evenly shards are spread over nodes, and how many move: by the very function that nodes ask."""

from collections import Counter
from typing import NamedTuple

from actors.kernel.nodes.shares import shares
from persistence.nodes.shards import SHARDS


class Spread(NamedTuple):
    """How the shards of actors are spread over nodes.

    Args:
        nodes: how many nodes there are.
        fullest: shards of the fullest node, as a part of the mean.
        joined: how many shards move when one more node comes.
        left: how many shards move when a node goes.
        least: how many shards would have to move at least when a node comes.
    """

    nodes: int
    fullest: float
    joined: int
    left: int
    least: int


def spread(nodes: int) -> Spread:
    """Spread all shards over nodes.

    Args:
        nodes: how many nodes there are, at least 2.
    """
    names = [f"node{number}" for number in range(nodes)]
    now = _owners(names)
    counts = Counter(now)
    more, less = _owners([*names, "new"]), _owners(names[1:])
    return Spread(
        nodes,
        max(counts.values()) * nodes / SHARDS,
        sum(one != other for one, other in zip(now, more, strict=True)),
        sum(one != other for one, other in zip(now, less, strict=True)),
        SHARDS // (nodes + 1),
    )


def _owners(names: list[str]) -> list[str]:
    owners = shares(names)
    return [owners[shard] for shard in range(SHARDS)]
