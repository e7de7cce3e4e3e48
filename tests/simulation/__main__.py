"""Runs seeds and says what is wrong: `scripts/simulate --help`."""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.simulation import plants, running
from tests.simulation.cluster import plants as cluster_plants
from tests.simulation.cluster import running as cluster_running

SHOWN = 3
"""Failing seeds whose lines are printed; of the others, only the number."""


def main() -> int:
    """Run as the command line says; 1 when something is wrong."""
    options = _parsed()
    run: Callable[..., Any] = cluster_running.run if options.nodes else running.run
    all_plants: tuple[Any, ...] = cluster_plants.PLANTS if options.nodes else plants.PLANTS
    planted = () if options.plant is None else (all_plants[options.plant],)
    for plant in planted:
        print(f"planted: {plant.name}")
    again = (" --nodes" if options.nodes else "") + (f" --plant {options.plant}" if planted else "")
    failing = []
    began, cpu = time.monotonic(), time.process_time()
    for number, seed in enumerate(range(options.first, options.first + options.seeds)):
        report = run(seed, *planted)
        if report.wrong:
            failing.append(seed)
        if options.verbose or (report.wrong and len(failing) <= SHOWN):
            print(report)
            print(f"again: scripts/simulate --seed {seed} --verbose{again}")
        if number % 100 == 99:
            gc.collect()
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    print(
        f"{options.seeds} seeds from {options.first}: {len(failing)} wrong {failing[:20]}; "
        f"{options.seeds / seconds:.0f} seeds/s, {1000 * cpu / options.seeds:.1f} ms of CPU each"
    )
    return bool(failing)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/simulate", description="Play simulated runs, each by its seed."
    )
    parser.add_argument("--nodes", action="store_true", help="of three nodes, in place of one")
    parser.add_argument("--seeds", type=int, default=1_000, metavar="N", help="how many (1,000)")
    parser.add_argument("--from", type=int, default=0, metavar="S", dest="first", help="the first seed (0)")
    parser.add_argument("--seed", type=int, metavar="S", help="this one alone")
    parser.add_argument("--verbose", action="store_true", help="print the trace of every run")
    parser.add_argument("--plant", type=int, metavar="K", help="with a planted fault, by its number")
    options = parser.parse_args()
    if options.seed is not None:
        options.first, options.seeds = options.seed, 1
    there = len(cluster_plants.PLANTS if options.nodes else plants.PLANTS)
    if options.plant is not None and not 0 <= options.plant < there:
        parser.error(f"there are the plants 0 to {there - 1}")
    return options


if __name__ == "__main__":
    sys.exit(main())
