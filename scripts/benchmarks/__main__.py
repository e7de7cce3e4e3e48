"""`scripts/bench`: our server in both modes, a Node server and a C loop, under the same load, as Markdown.

Each figure is the median of three, each server is fresh and has a CPU of its own; PostgreSQL and the load share
the other. The servers of one workload are measured one after another, so that a noisy minute hits them all.
It takes about a quarter of an hour. Without Node, npm or a C compiler their columns stay empty.

With --against REF, our lean server as it is in the working tree runs beside the same at another commit, in turns of
half a second, in fresh starts of all servers (sessions). What is printed is the ratio of what a unit costs, with its
interval of 95 %, and that of the other state to itself, which should be 1. The machine may be busy otherwise; as root,
`nice -n -5 scripts/bench --against …` is done sooner.

With --nodes N, N nodes of the working tree run beside one of them in the same way: CPU time of all processes but
PostgreSQL's, and memory of idle sockets.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Callable
from functools import partial

import msgspec
import structlog
import trio

from scripts.benchmarks.against import Comparison, Ended, Side, TooSlow, Turns, compare
from scripts.benchmarks.cases import CASES, OURS, Case, smaller
from scripts.benchmarks.contenders import UNITS
from scripts.benchmarks.measure import Row, bench
from scripts.benchmarks.nodes import NotShared
from scripts.benchmarks.ratios import MOST_SESSIONS, Round
from scripts.benchmarks.report import PAPER, line, markdown, record
from scripts.benchmarks.report_ratios import comparisons, heading, of_nodes, session_line, summary
from scripts.benchmarks.servers import TITLES, NotServing, contended_cpu, cpus, make_room
from scripts.benchmarks.worktree import ROOT, NoSuchState, name_of, worktree
from scripts.load.failures import first
from scripts.load.run import Timing
from scripts.load.workers import WorkerFailed

FULL = Timing(warmup_seconds=1.5, interval_seconds=2.0, intervals=3)
QUICK = Timing(warmup_seconds=0.3, interval_seconds=0.4, intervals=3)
ROUND_SECONDS = 0.4
MOST_NODES = 8
QUICK_TURNS = Turns(sessions=2, rounds=3, seconds=0.2)


def parser() -> argparse.ArgumentParser:
    """All options."""
    what = (__doc__ or "").partition("\n")[2]
    it = argparse.ArgumentParser(prog="scripts/bench", description=what)
    names = [case.name for case in CASES]
    it.add_argument("--only", nargs="+", choices=names, metavar="ROW", help=f"some of: {', '.join(names)}")
    it.add_argument("--servers", nargs="+", choices=TITLES, help=f"some of: {', '.join(TITLES)}")
    it.add_argument(
        "--against", metavar="REF", help="compare the working tree with this commit, branch or tag"
    )
    it.add_argument("--nodes", type=int, metavar="N", help="compare so many nodes with one, 2 to 8")
    it.add_argument(
        "--sessions",
        type=int,
        default=4,
        help=f"of --against and --nodes, 1 to {MOST_SESSIONS} (default: %(default)s)",
    )
    it.add_argument(
        "--rounds",
        type=int,
        default=16,
        help="of each session of --against and --nodes, at least 1 (default: %(default)s)",
    )
    it.add_argument("--quick", action="store_true", help="small and short: shows that it works")
    it.add_argument("--json", action="store_true", help="print the rows as a JSON array")
    it.add_argument("--record", action="store_true", help=f"put the tables into {PAPER.name} as well")
    return it


def run(options: argparse.Namespace, rows: list[Row]) -> None:
    """Measure all rows that were asked for, and add each to `rows`; progress goes to standard error."""
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


def run_against(options: argparse.Namespace) -> int:
    """Compare the working tree with another state; the exit status is 1 when clients saw what they must not."""
    with worktree(options.against) as old:
        cases = [case for case in CASES if case.unit in UNITS]
        names = (name_of(ROOT), name_of(old))
        return _compare(options, cases, names, (Side(ROOT), Side(old)), table=comparisons)


def run_nodes(options: argparse.Namespace) -> int:
    """Compare several nodes with one; the exit status is 1 when clients saw what they must not."""
    cases = [case for case in CASES if case.times_one_node is not None]
    names = (f"{options.nodes} nodes of {name_of(ROOT)}", "one")
    table = partial(of_nodes, nodes=options.nodes)
    return _compare(options, cases, names, (Side(ROOT, options.nodes), Side(ROOT)), table=table)


def _compare(
    options: argparse.Namespace,
    cases: list[Case],
    names: tuple[str, str],
    sides: tuple[Side, Side],
    *,
    table: Callable[[list[Comparison]], str],
) -> int:
    turns = QUICK_TURNS if options.quick else Turns(options.sessions, options.rounds, ROUND_SECONDS)
    done: list[Comparison] = []
    print(heading(*names, turns), file=sys.stderr)
    interrupted = False
    try:
        for case in [case for case in CASES if case.name in options.only] if options.only else cases:
            chosen = smaller(case) if options.quick else case
            done.append(trio.run(compare, chosen, sides[0], sides[1], turns, _told))
            print(summary(done[-1]), file=sys.stderr, flush=True)
    except* KeyboardInterrupt:
        interrupted = True
    print(msgspec.json.encode(done).decode() if options.json else table(done))
    return _interrupted() if interrupted else 1 if any(one.fault for one in done) else 0


def _interrupted() -> int:
    print("scripts/bench: interrupted; what was not finished is not in the tables", file=sys.stderr)
    return 128 + signal.SIGINT


def _told(rounds: list[Round]) -> None:
    print(session_line(rounds), file=sys.stderr, flush=True)


def check(it: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error when the options do not go together."""
    if options.against is None and options.nodes is None:
        if options.record and (options.quick or options.only or options.servers):
            it.error("--record is for whole runs: without --quick, --only and --servers")
        return
    if options.against is not None and options.nodes is not None:
        it.error("--against compares one node with one: without --nodes")
    if options.record or options.servers:
        it.error("--against and --nodes compare our lean server: without --record and --servers")
    if options.nodes is not None and not 2 <= options.nodes <= MOST_NODES:
        it.error(f"--nodes must be 2 to {MOST_NODES}")
    if not (1 <= options.sessions <= MOST_SESSIONS and options.rounds >= 1):
        it.error(f"--sessions must be 1 to {MOST_SESSIONS}, --rounds at least 1")
    if any(case.unit not in UNITS for case in CASES if case.name in (options.only or ())):
        it.error("--against and --nodes measure what a unit costs, and `beside` has none")


def main() -> int:
    """Run the command line; the exit status is 0 when each case of ours ran and nothing was lost."""
    it = parser()
    options = it.parse_args()
    check(it, options)
    is_comparison = options.against is not None or options.nodes is not None
    if options.nodes is None:
        make_room(contended_cpu() if is_comparison else cpus()[0])
    else:
        make_room(None)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    if is_comparison:
        try:
            return run_nodes(options) if options.against is None else run_against(options)
        except* (NoSuchState, NotServing, NotShared, WorkerFailed, TooSlow, Ended) as group:
            it.error(str(first(group)))
    rows: list[Row] = []
    interrupted = False
    try:
        run(options, rows)
    except* KeyboardInterrupt:
        interrupted = True
    text = markdown(rows)
    print(msgspec.json.encode(rows).decode() if options.json else text)
    if interrupted:
        return _interrupted()
    if options.record:
        record(text)
    if options.quick:
        print("A quick run: not to be quoted.", file=sys.stderr)
    return 0 if all(row.exact and row.cost is not None for row in rows if row.server in OURS) else 1


if __name__ == "__main__":
    sys.exit(main())
