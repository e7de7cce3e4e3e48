"""That the simulation can find: faults of the past are planted one by one, and each is found within so many seeds."""

import os

import pytest

from tests.simulation.plants import PLANTS, Plant
from tests.simulation.running import run

SEEDS = 1_000
"""As many as one run of the suite plays."""


@pytest.mark.drill
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name.replace(" ", "-"))
def test_a_planted_fault_is_found(plant: Plant) -> None:
    if plant.patches and os.environ.get("COMPILED") == "1":
        pytest.skip("compiled functions call each other, and not what stands in their place")
    for number, seed in enumerate(range(plant.first, plant.first + SEEDS), 1):
        report = run(seed, plant)
        if report.wrong:
            print(
                f"{plant.name}: found after {number} of {SEEDS} seeds from {plant.first}: {report.wrong[0][:200]}"
            )
            return
    pytest.fail(f"{plant.name}: not found in {SEEDS} seeds")
