"""What is computed of many nodes keeps the bounds that `docs/scale.md` names."""

from random import Random

import pytest

from scripts.scaling.healing import handed_over, killed
from scripts.scaling.moves import spread


@pytest.mark.parametrize(("nodes", "fullest"), [(3, 1.01), (10, 1.02), (30, 1.06)])
def test_shards_are_spread_evenly_and_few_move(nodes: int, fullest: float) -> None:
    one = spread(nodes)
    assert 1 <= one.fullest <= fullest
    assert one.least <= one.joined <= one.least * 2


def test_what_a_killed_node_owned_is_served_within_ten_seconds() -> None:
    assert killed(3, 2_000, Random(1)).longest < 10


def test_a_shard_that_moves_pauses_for_milliseconds() -> None:
    pauses, empty_after = handed_over(3, 30_000, Random(1))
    assert pauses.p99 < 0.1
    assert empty_after < 1
