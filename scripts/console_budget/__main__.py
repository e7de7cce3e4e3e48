"""`scripts/console-budget`: how quick the console is in a real browser, and what many open ones cost the server.

Figures depend on the machine and on what else it does: the load before and after is printed with them. Each is a
median, or a p95 where it says so.
"""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial

import trio

from scripts.benchmarks.servers import Server, serving
from scripts.console_budget.cases import CASES
from scripts.console_budget.place import Place, placed
from scripts.console_budget.rows import Row
from scripts.console_budget.watchers import watchers


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(prog="scripts/console-budget", description=__doc__)
    names = [*CASES, "watchers"]
    it.add_argument("--only", nargs="+", choices=names, metavar="CASE", help=f"some of: {', '.join(names)}")
    it.add_argument("--seconds", type=float, help="how long the thread is watched (default 60)")
    it.add_argument("--hours", type=float, help="how long the tab stays open, on its own clock (default 24)")
    it.add_argument(
        "--watchers", type=int, default=1_000, help="consoles that are open (default %(default)s)"
    )
    return it


async def run(options: argparse.Namespace) -> list[tuple[str, list[Row]]]:
    """All cases that were asked for, each on a server of its own."""
    found = []
    given = {"thread": options.seconds, "tab": options.hours}
    for name, (case, default) in CASES.items():
        if options.only and name not in options.only:
            continue
        async with serving("lean") as server:
            measure = partial(_seen, server, case, given.get(name) or default)
            found.append((name, await trio.to_thread.run_sync(measure)))
    if not options.only or "watchers" in options.only:
        async with serving("lean") as server:
            found.append(("watchers", await watchers(server, options.watchers)))
    return found


def _seen(server: Server, case: Callable[[Place, float], list[Row]], length: float) -> list[Row]:
    with placed(server) as place:
        return case(place, length)


def main() -> int:
    """Run the command line; the exit status is 1 where a goal is missed."""
    options = parser().parse_args()
    before = os.getloadavg()[0]
    found = trio.run(run, options)
    print("| case | what | found | goal | reached |\n|---|---|---:|---:|---|")
    for name, rows in found:
        for row in rows:
            print(
                f"| {name} | {row.what} | {row.found} | {row.goal or '-'} | {'yes' if row.is_met else 'no'} |"
            )
    print(f"\nLoad of the machine (1 min): {before:.1f} before, {os.getloadavg()[0]:.1f} after.")
    return 0 if all(row.is_met for _, rows in found for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
