"""Runs seeds and says what is wrong: `scripts/simulate --help`."""

import argparse
import gc
import sys
import time

from tests.simulation.plants import PLANTS
from tests.simulation.running import run

SHOWN = 3
"""Failing seeds whose lines are printed; of the others, only the number."""


def main() -> int:
    """Run as the command line says; 1 when something is wrong."""
    parser = argparse.ArgumentParser(
        prog="scripts/simulate", description="Play runs of one simulated node, each by its seed."
    )
    parser.add_argument("--seeds", type=int, default=1_000, metavar="N", help="how many (1,000)")
    parser.add_argument("--from", type=int, default=0, metavar="S", dest="first", help="the first seed (0)")
    parser.add_argument("--seed", type=int, metavar="S", help="this one alone")
    parser.add_argument("--verbose", action="store_true", help="print the trace of every run")
    parser.add_argument(
        "--plant",
        choices=range(len(PLANTS)),
        type=int,
        metavar="K",
        help="with a planted fault, by its number",
    )
    options = parser.parse_args()
    if options.seed is not None:
        options.first, options.seeds = options.seed, 1
    plant = None if options.plant is None else PLANTS[options.plant]
    if plant is not None:
        print(f"planted: {plant.name}")
    failing = []
    began, cpu = time.monotonic(), time.process_time()
    for number, seed in enumerate(range(options.first, options.first + options.seeds)):
        report = run(seed, plant)
        if report.wrong:
            failing.append(seed)
        if options.verbose or (report.wrong and len(failing) <= SHOWN):
            print(report)
            print(
                f"again: scripts/simulate --seed {seed} --verbose"
                + ("" if plant is None else f" --plant {options.plant}")
            )
        if number % 100 == 99:
            gc.collect()
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    print(
        f"{options.seeds} seeds from {options.first}: {len(failing)} wrong {failing[:20]}; "
        f"{options.seeds / seconds:.0f} seeds/s, {1000 * cpu / options.seeds:.1f} ms of CPU each"
    )
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main())
