"""What is computed of many nodes keeps the bounds that `docs/scale.md` names."""

import re
import subprocess
import sys
from random import Random

import pytest

from scripts.scaling.__main__ import DELIVERY_US
from scripts.scaling.healing import handed_over, killed
from scripts.scaling.moves import spread
from tests.contract.sources import ROOT


@pytest.mark.parametrize(("nodes", "fullest"), [(3, 1.01), (10, 1.02), (30, 1.06)])
def test_shards_are_spread_evenly_and_few_move(nodes: int, fullest: float) -> None:
    one = spread(nodes)
    assert 1 <= one.fullest <= fullest
    assert one.least <= one.joined <= one.least * 2


def test_what_a_killed_node_owned_is_served_within_ten_seconds() -> None:
    assert killed(3, 2_000, Random(1)).longest < 10


def test_what_a_delivery_costs_is_what_was_measured_last() -> None:
    text = (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")
    measured = re.findall(
        r"^\| fan-out to 1,000, (?:one sender|eight senders) \| CPU µs a delivery \| ([\d.]+) \|",
        text,
        re.MULTILINE,
    )
    assert [float(one) for one in measured] == list(DELIVERY_US)


def test_a_shard_that_moves_pauses_for_milliseconds() -> None:
    pauses, empty_after = handed_over(3, 30_000, Random(1))
    assert pauses.p99 < 0.1
    assert empty_after < 1


@pytest.mark.parametrize("kills", ["0", "-1", "1000000000"])
def test_a_number_that_cannot_be_played_is_refused(kills: str) -> None:
    command = [sys.executable, "-m", "scripts.scaling", "--kills", kills]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--kills must be 1 to 1,000,000" in done.stderr
