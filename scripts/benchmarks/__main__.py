"""`scripts/bench`: our server in both modes, a Node server and a C loop, under the same load, as Markdown.

Each figure is the median of three, each server is fresh and has a CPU of its own; PostgreSQL and the load share
the other. The servers of one workload are measured one after another, so that a noisy minute hits them all.
It takes about a quarter of an hour. Without Node, npm or a C compiler their columns stay empty.
"""

import argparse
import logging
import sys

import msgspec
import structlog
import trio

from scripts.benchmarks.cases import CASES, OURS, smaller
from scripts.benchmarks.measure import Row, bench
from scripts.benchmarks.report import PAPER, line, markdown, record
from scripts.benchmarks.servers import TITLES, make_room
from scripts.load.run import Timing

FULL = Timing(warmup_seconds=1.5, interval_seconds=2.0, intervals=3)
QUICK = Timing(warmup_seconds=0.3, interval_seconds=0.4, intervals=3)


def parser() -> argparse.ArgumentParser:
    """All options."""
    what = (__doc__ or "").partition("\n")[2]
    it = argparse.ArgumentParser(prog="scripts/bench", description=what)
    names = [case.name for case in CASES]
    it.add_argument("--only", nargs="+", choices=names, metavar="ROW", help=f"some of: {', '.join(names)}")
    it.add_argument("--servers", nargs="+", choices=TITLES, help=f"some of: {', '.join(TITLES)}")
    it.add_argument("--quick", action="store_true", help="small and short: shows that it works")
    it.add_argument("--json", action="store_true", help="print the rows as a JSON array")
    it.add_argument("--record", action="store_true", help=f"put the tables into {PAPER.name} as well")
    return it


def run(options: argparse.Namespace) -> list[Row]:
    """All rows that were asked for; progress goes to standard error."""
    rows = []
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        print(case.title, file=sys.stderr, flush=True)
        for name in case.servers:
            if options.servers and name not in options.servers:
                continue
            chosen = smaller(case) if options.quick else case
            rows.append(trio.run(bench, chosen, name, QUICK if options.quick else FULL))
            print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Run the command line; the exit status is 0 when each case of ours ran and nothing was lost."""
    options = parser().parse_args()
    if options.record and (options.quick or options.only or options.servers):
        parser().error("--record is for whole runs: without --quick, --only and --servers")
    make_room()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    rows = run(options)
    text = markdown(rows)
    print(msgspec.json.encode(rows).decode() if options.json else text)
    if options.record:
        record(text)
    if options.quick:
        print("A quick run: not to be quoted.", file=sys.stderr)
    return 0 if all(row.exact and row.cost is not None for row in rows if row.server in OURS) else 1


if __name__ == "__main__":
    sys.exit(main())
