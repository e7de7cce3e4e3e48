"""`scripts/soak`: hours of everything at once on a server of its own, with faults in between, and a judgement."""

import argparse
import math
import resource
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from scripts.benchmarks.servers import NotServing
from scripts.load.clients.http import RequestFailed
from scripts.load.failures import first
from scripts.load.interruption import interruptible
from scripts.load.tokens import NoTokens
from scripts.soaking.report import Outcome, table
from scripts.soaking.run import Plan, Soak, folder_of
from scripts.soaking.server import soaked_server

MOST_HOURS = 23.0
"""Longest soak: its tokens are valid for a day."""


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/soak",
        description="Everything that users, game servers and admins do, for hours, on a server of its own; faults in "
        "between: kill -9 of the server and of PostgreSQL, sockets that are dropped, readers that take nothing. The "
        "server is killed in the first third only, so that its last process lives long enough to be judged.",
        epilog="Exit status 0: every acknowledged message is there once and in order, sockets saw no gap, memory and "
        "descriptors do not grow, and nothing failed but while a fault healed; 1: one of these does not hold; 2: it "
        "could not be carried out. Ctrl-C ends it early, with the same judgement of what there was, and 130.",
    )
    how_long = it.add_mutually_exclusive_group()
    how_long.add_argument("--hours", type=float, metavar="N", help="how long")
    how_long.add_argument("--minutes", type=float, metavar="N", help="how long (default 10)")
    it.add_argument(
        "--rate",
        type=float,
        default=40.0,
        metavar="N",
        help="deeds a second, about 1.3 requests each (default 40)",
    )
    it.add_argument(
        "--users", type=int, default=40, metavar="N", help="how many users, 8 to 1000 (default 40)"
    )
    it.add_argument(
        "--stretch", type=float, default=5.0, metavar="N", help="minutes of each line (default 5)"
    )
    it.add_argument("--seed", type=int, default=1, metavar="N", help="of the random choices (default 1)")
    it.add_argument("--no-faults", action="store_true", help="leave the faults out")
    it.add_argument(
        "--memory-slope",
        type=float,
        default=16.0,
        metavar="N",
        help="MB an hour that are no growth (default 16)",
    )
    it.add_argument(
        "--descriptor-slope",
        type=float,
        default=10.0,
        metavar="N",
        help="descriptors an hour, as well (default 10)",
    )
    it.add_argument("--folder", type=Path, help="an empty folder for the server's data and log, which stay")
    return it


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options describe.

    Raises:
        ValueError: a number is out of its range.
    """
    minutes = 10.0 if options.minutes is None else options.minutes
    if options.hours is not None:
        minutes = options.hours * 60
    if not 0 < minutes <= MOST_HOURS * 60:
        raise ValueError(f"a soak lasts up to {MOST_HOURS:.0f} hours")
    if not 0 < options.rate <= 1000 or not 8 <= options.users <= 1000 or not 0 < options.stretch <= 60:
        raise ValueError("--rate is 1 to 1000, --users 8 to 1000, --stretch up to 60")
    if not all(0 <= one < math.inf for one in (options.memory_slope, options.descriptor_slope)):
        raise ValueError("--memory-slope and --descriptor-slope are 0 or more")
    seconds = minutes * 60
    stretch_seconds = min(options.stretch * 60, seconds)
    return Plan(
        seconds=seconds,
        rate=options.rate,
        users=options.users,
        stretch_seconds=stretch_seconds,
        look_seconds=min(10.0, stretch_seconds / 4),
        seed=options.seed,
        faults=not options.no_faults,
        memory_per_hour=options.memory_slope * 1e6,
        descriptors_per_hour=options.descriptor_slope,
    )


def refuse_full(folder: Path) -> None:
    """Raise `ValueError` for a folder that is not empty."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty")


def say(line: str) -> None:
    """Print a line to standard output at once."""
    print(line, flush=True)


async def soak(plan: Plan, folder: Path) -> int:
    """Run the whole soak; returns the exit status."""
    outcome: Outcome | None = None
    async with interruptible() as interruption:

        def tell(line: str) -> None:
            interruption.measuring()
            say(line)

        async with soaked_server(folder_of(folder)) as server:
            outcome = await Soak(plan, server, tell, enough=interruption.enough).run()
    if outcome is not None:
        say("")
        say(table(outcome))
    if interruption.signal:
        print("scripts/soak: interrupted", file=sys.stderr)
        return 128 + interruption.signal
    return 0 if outcome is not None and outcome.well else 1


def main() -> int:
    """Run the command line; returns the exit status, 0 when all was well."""
    options = parser().parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    status, why = 1, ""
    with ExitStack() as stack:
        try:
            plan = plan_of(options)
            folder = options.folder or Path(stack.enter_context(TemporaryDirectory(prefix="partyline-soak-")))
            refuse_full(folder)
            status = trio.run(soak, plan, folder)
        except* (ValueError, NotServing, NoTokens, RequestFailed, OSError) as group:
            status, why = 2, str(first(group))
        except* KeyboardInterrupt:
            status = 128 + signal.SIGINT
    if why:
        print(f"scripts/soak: {why}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
