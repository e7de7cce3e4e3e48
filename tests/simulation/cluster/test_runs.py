"""Runs of several nodes by seed: whatever becomes of nodes, bus and database, what must hold holds (`checks.py`)."""

import os
import subprocess
import sys

import pytest

from tests.simulation.cluster.plants import PLANTS, Plant
from tests.simulation.cluster.running import run
from tests.support.depth import depth

SEEDS = depth(40, long=2_000)
"""A run costs a quarter of a second."""

PARTS = 8

FOUND = (13, 64, 83, 738, 1096, 2151, 5474, 5670, 6696)
"""Seeds that have found a fault of this code once; it stays found."""

PLANTED_SEEDS = 40


@pytest.mark.parametrize("seed", [*range(4), *FOUND])
def test_a_run_ends_as_it_must(seed: int) -> None:
    report = run(seed)
    assert not report.wrong, str(report)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_runs_end_as_they_must(part: int) -> None:
    seeds = range(100 + part, 100 + SEEDS, PARTS)
    for seed in seeds:
        report = run(seed)
        assert not report.wrong, f"{report}\nagain: scripts/simulate --nodes --seed {seed} --verbose"
    print(f"{len(seeds)} of {SEEDS} seeds from 100: none wrong")


@pytest.mark.drill
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name.replace(" ", "-"))
def test_a_planted_fault_is_found(plant: Plant) -> None:
    for number, seed in enumerate(range(plant.first, plant.first + PLANTED_SEEDS), 1):
        report = run(seed, plant)
        if report.wrong:
            print(f"{plant.name}: found after {number} seeds from {plant.first}: {report.wrong[0][:200]}")
            return
    pytest.fail(f"{plant.name}: not found in {PLANTED_SEEDS} seeds")


def test_a_seed_is_the_same_run_in_every_process() -> None:
    here = run(5).digest
    assert run(5).digest == here
    code = "from tests.simulation.cluster.running import run\nprint(run(5).digest)"
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == [here]
