"""Runs seeds and says what is wrong: `scripts/simulate --help`."""

import argparse
import gc
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.simulation import plants, running
from tests.simulation.cluster import plants as cluster_plants
from tests.simulation.cluster import running as cluster_running

SHOWN = 3
"""Failing seeds whose lines are printed; of the others, only the number."""

INTERRUPTED = 130
"""The status after Ctrl-C, as of any program that it ends."""


def main() -> int:
    """Run as the command line says; 1 when something is wrong, 130 after Ctrl-C."""
    options = _parsed()
    run: Callable[..., Any] = cluster_running.run if options.nodes else running.run
    all_plants: tuple[Any, ...] = cluster_plants.PLANTS if options.nodes else plants.PLANTS
    planted = () if options.plant is None else (all_plants[options.plant],)
    for plant in planted:
        print(f"planted: {plant.name}")
    again = (" --nodes" if options.nodes else "") + (f" --plant {options.plant}" if planted else "")
    failing: list[int] = []
    played = 0
    over = _interruption()
    began, cpu = time.monotonic(), time.process_time()
    for seed in range(options.first, options.first + options.seeds):
        report = run(seed, *planted)
        played += 1
        if report.wrong:
            failing.append(seed)
        if options.verbose or (report.wrong and len(failing) <= SHOWN):
            print(report)
            print(f"again: scripts/simulate --seed {seed} --verbose{again}")
        if played % 100 == 0:
            gc.collect()
        if over:
            break
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    print(
        f"{played} seeds from {options.first}: {len(failing)} wrong {failing[:20]}; "
        f"{played / seconds:.0f} seeds/s, {1000 * cpu / played:.1f} ms of CPU each"
    )
    return INTERRUPTED if over else int(bool(failing))


def _interruption() -> list[int]:
    """A list that is empty until Ctrl-C, which lets the run that is played come to its end; a second one ends all."""
    over: list[int] = []

    def told(number: int, _: object) -> None:
        over.append(number)
        signal.signal(number, signal.SIG_DFL)

    signal.signal(signal.SIGINT, told)
    return over


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
    if options.seeds < 1:
        parser.error("--seeds wants 1 or more")
    if options.seed is not None:
        options.first, options.seeds = options.seed, 1
    there = len(cluster_plants.PLANTS if options.nodes else plants.PLANTS)
    if options.plant is not None and not 0 <= options.plant < there:
        parser.error(f"there are the plants 0 to {there - 1}")
    return options


if __name__ == "__main__":
    sys.exit(main())
