"""`scripts/grow`: what a unit costs when there is ten times and a hundred times as much of what it has to do with.

Each workload runs on a fresh server of ours with a CPU of its own; PostgreSQL and the load share the other. The slope
is the exponent of the size that the cost of a unit grows with: 0 where it does not grow, 1 where it grows with it.
What is stored is written straight into the database. It takes about twenty minutes and 8 GB of disk, most of them for
ten million messages.
"""

import argparse
import logging
import signal
import sys

import msgspec
import structlog
import trio

from scripts.benchmarks.servers import NotServing, cpus, make_room
from scripts.growth.measure import Grown, Point, grow
from scripts.growth.report import is_good, line, table
from scripts.growth.rows import GROWTHS
from scripts.load.clients.http import RequestFailed
from scripts.load.failures import first
from scripts.load.run import Timing
from scripts.load.workers import WorkerFailed

FULL = Timing(warmup_seconds=1.5, interval_seconds=1.5, intervals=5)
QUICK = Timing(warmup_seconds=0.3, interval_seconds=0.4, intervals=3)
QUICK_SHARE = 10
"""A quick run divides each size by this."""


def parser() -> argparse.ArgumentParser:
    """All options."""
    what = (__doc__ or "").partition("\n")[2]
    it = argparse.ArgumentParser(prog="scripts/grow", description=what)
    names = [growth.name for growth in GROWTHS]
    it.add_argument("rows", nargs="*", metavar="ROW", help=f"some of: {', '.join(names)}; default: all")
    it.add_argument("--quick", action="store_true", help="small and short: shows that it works")
    it.add_argument("--json", action="store_true", help="print the rows as a JSON array")
    return it


def run(rows: list[str], done: list[Grown], *, quick: bool) -> None:
    """All rows that were asked for, each added to `done`; progress goes to standard error."""
    for growth in GROWTHS:
        if rows and growth.name not in rows:
            continue
        print(growth.title, file=sys.stderr, flush=True)
        sizes = tuple(max(2, size // QUICK_SHARE) if quick else size for size in growth.sizes)
        done.append(trio.run(grow, growth, QUICK if quick else FULL, _told, sizes))


def _told(point: Point) -> None:
    print(line(point), file=sys.stderr, flush=True)


def main() -> int:
    """Run the command line; the exit status is 0 when nothing was lost and nothing grew more steeply than it may."""
    it = parser()
    options = it.parse_args()
    if unknown := set(options.rows) - {growth.name for growth in GROWTHS}:
        it.error(f"there is no row {', '.join(sorted(unknown))}")
    make_room(cpus()[0])
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    done: list[Grown] = []
    interrupted = False
    try:
        run(options.rows, done, quick=options.quick)
    except* KeyboardInterrupt:
        interrupted = True
    except* (NotServing, WorkerFailed, RequestFailed, OSError) as group:
        it.error(str(first(group)))
    print(msgspec.json.encode(done).decode() if options.json else table(done))
    if interrupted:
        print(f"{it.prog}: interrupted; what was not finished is not in the table", file=sys.stderr)
        return 128 + signal.SIGINT
    if options.quick:
        print("A quick run: not to be quoted.", file=sys.stderr)
        return 0 if all(point.exact for one in done for point in one.points) else 1
    return 0 if all(map(is_good, done)) else 1


if __name__ == "__main__":
    sys.exit(main())
