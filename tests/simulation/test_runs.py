"""Runs of many seeds: whatever clients do and the database does, what must hold holds (`checks.py`, `history.py`)."""

import os
import subprocess
import sys

import pytest

from tests.simulation.running import run
from tests.support.depth import depth

FOUND = (136, 223, 422, 960, 5382, 60295, 500658)
"""Seeds that have found a fault of this code once; it stays found."""

SEEDS = depth(200, long=5_000)
"""From 0 on each time, so that only a change of the code changes what comes out; `scripts/simulate` looks further."""

PARTS = 8


@pytest.mark.parametrize("seed", [*range(12), *FOUND])
def test_a_run_ends_as_it_must(seed: int) -> None:
    report = run(seed)
    assert not report.wrong, str(report)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_runs_end_as_they_must(part: int) -> None:
    seeds = range(part, SEEDS, PARTS)
    for seed in seeds:
        report = run(seed)
        assert not report.wrong, f"{report}\nagain: scripts/simulate --seed {seed} --verbose"
    print(f"{len(seeds)} of {SEEDS} seeds: none wrong")


def test_a_seed_is_the_same_run_in_every_process() -> None:
    seeds = (3, 10, 11)
    here = [run(seed).digest for seed in seeds]
    assert [run(seed).digest for seed in seeds] == here
    assert len(set(here)) == len(seeds)
    code = f"from tests.simulation.running import run\nprint(*(run(seed).digest for seed in {seeds}))"
    there = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for hash_seed in ("1", "4711")
    ]
    assert there == [here, here]
