"""Who is to own which shard: even, with few moves, the same on every node."""

from collections import Counter
from random import Random

import pytest

from actors.kernel.nodes.shares import shares, wanted
from persistence.nodes.shards import ALL_SHARDS, JOB_SHARDS, SHARDS


def _names(count: int) -> list[str]:
    return [f"node-{number}" for number in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 40])
def test_nobody_has_more_than_an_even_share(count: int) -> None:
    owners = shares(_names(count))
    assert set(owners) == set(ALL_SHARDS)
    for shards, of in ((range(SHARDS), SHARDS), (range(SHARDS, SHARDS + JOB_SHARDS), JOB_SHARDS)):
        counted = Counter(owners[shard] for shard in shards)
        assert max(counted.values()) <= -(-of // count)
    assert sum(len(wanted(_names(count), node)) for node in _names(count)) == len(ALL_SHARDS)


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_a_node_that_comes_or_goes_moves_little(count: int) -> None:
    """A join moves at most a tenth more than the newcomer's share; the least possible is the share itself."""
    before, after = shares(_names(count)), shares(_names(count + 1))
    moved = sum(before[shard] != after[shard] for shard in ALL_SHARDS)
    share = len(wanted(_names(count + 1), f"node-{count}"))
    assert share <= moved <= 1.1 * share + JOB_SHARDS


def test_every_node_computes_the_same() -> None:
    names = _names(5)
    shuffled = names[:]
    Random(1).shuffle(shuffled)
    assert shares(names) == shares(shuffled)
    # Fixed for ever, since two releases serve side by side while one replaces the other.
    owners = shares(["a", "b", "c"])
    assert "".join(owners[shard] for shard in (0, 1, 2, 3, 511, 1_023, 1_024, 1_039)) == "acbabbac"


def test_without_nodes_nobody_owns_anything() -> None:
    assert not shares([])
    assert not wanted(["a"], "b")
