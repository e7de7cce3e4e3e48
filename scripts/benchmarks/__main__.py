"""`scripts/bench`: runs the cases one after another, each on a fresh server, and prints one table.

The server runs on the first CPU, PostgreSQL and the load on the second. A value is the median of three
intervals; the spread is how far the farthest of them is from it.
"""

import argparse
import os
import resource
import sys
import time
from statistics import median

import msgspec
import trio

from scripts.benchmarks.cases import CASES, Case, Unit, plan, smaller
from scripts.benchmarks.server import NotServing, Server, cpus, serving
from scripts.load import server_process
from scripts.load.crew import WorkerFailed, hire
from scripts.load.http import Requests
from scripts.load.hub import Hub
from scripts.load.plan import Plan, user_id, user_name
from scripts.load.report import latency
from scripts.load.run import Interval, Outcome, Timing, carry_out
from scripts.load.stage import prepare
from scripts.load.tokens import by_own_key

FULL = Timing(warmup_seconds=1.5, interval_seconds=2.0, intervals=3)
QUICK = Timing(warmup_seconds=0.5, interval_seconds=0.5, intervals=3)
IDLE_RUNS = 3
_SETTLE_SECONDS = 1.0  # for memory to be given back before it is read


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of the table.

    Args:
        value: median of units a second; of an idle case, KiB of memory a socket.
        spread_percent: of the farthest interval from the median.
        cpu_us: CPU time of the server for one unit, median, microseconds.
        p50_ms, p99_ms: of acknowledgements (or responses), over all intervals.
        errors: over all intervals.
        exact: every subscription had every message once and in order.
        note: what went wrong, if anything.
    """

    name: str
    title: str
    unit: str
    value: float | None = None
    spread_percent: float | None = None
    cpu_us: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    errors: int = 0
    exact: bool = True
    note: str = ""


async def measure(case: Case, timing: Timing, server: Server) -> Outcome:
    """Run one case on a server."""
    what, bearer, conversations = await _staged(case, server)
    async with hire(what.processes, cpus()[1]) as crew:
        return await carry_out(
            crew,
            what,
            timing,
            tokens=bearer,
            conversations=conversations,
            tick=lambda _seen: None,
            cpu_ns=lambda: server_process.cpu_ns(server.pid),
        )


async def _staged(case: Case, server: Server) -> tuple[Plan, dict[int, str], list[str]]:
    """Users, tokens, conversations and messages of a case."""
    what = plan(case, server.port, os.urandom(4).hex())
    sign, now_seconds = by_own_key(server.data_dir), int(time.time())
    bearer = {
        user: sign(user_id(what, user), user_name(what, user), now_seconds) for user in range(what.users)
    }
    conversations = await prepare(what, bearer, lambda *_seen: None)
    hub = Hub()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hub.run)
        requests = Requests(hub, what.address, what.host, 1)
        for number in range(case.messages):
            target = f"/v1/social/chat/conversations/{conversations[0]}/messages"
            await requests.send("POST", target, bearer[number % what.users], {"content": f"message {number}"})
        nursery.cancel_scope.cancel()
    return what, bearer, conversations


async def bench(case: Case, timing: Timing) -> Row:
    """One case on a fresh server."""
    try:
        if case.unit == "sockets":
            return await _idle(case)
        async with serving() as server:
            return _row(case, await measure(case, timing, server))
    except* (WorkerFailed, NotServing, OSError) as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        failed = str(error)
    return Row(name=case.name, title=case.title, unit=case.unit, exact=False, note=failed)


def _row(case: Case, outcome: Outcome) -> Row:
    whole = Interval()
    for one in outcome.intervals:
        whole.errors.update(one.errors)
        whole.acknowledgement.add_all(one.acknowledgement.take())
    rates = [_units(case.unit, one) / one.seconds for one in outcome.intervals]
    costs = [one.cpu_ns / 1000 / max(1, _units(case.unit, one)) for one in outcome.intervals]
    middle = median(rates)
    quantiles = latency(whole.acknowledgement)
    return Row(
        name=case.name,
        title=case.title,
        unit=case.unit,
        value=middle,
        spread_percent=_spread(rates),
        cpu_us=median(costs),
        p50_ms=quantiles.p50_ms,
        p99_ms=quantiles.p99_ms,
        errors=sum(whole.errors.values()),
        exact=outcome.verdict.exact,
        note="; ".join(outcome.verdict.examples[:1]),
    )


def _units(unit: Unit, seen: Interval) -> int:
    return seen.delivered if unit == "deliveries" else seen.acknowledged


def _spread(values: list[float]) -> float:
    middle = median(values)
    return max(abs(value - middle) for value in values) / middle * 100 if middle else 0.0


async def _idle(case: Case) -> Row:
    """Memory of a socket that is open and silent, on three servers: one server's memory only grows."""
    each, errors = [], 0
    for _ in range(IDLE_RUNS):
        async with serving() as server:
            what, bearer, conversations = await _staged(case, server)
            await trio.sleep(_SETTLE_SECONDS)
            before = server_process.memory_bytes(server.pid) or 0
            during = 0

            def tick(_seen: Interval, pid: int = server.pid) -> None:
                nonlocal during
                during = server_process.memory_bytes(pid) or 0

            quiet = Timing(warmup_seconds=_SETTLE_SECONDS, interval_seconds=_SETTLE_SECONDS)
            async with hire(what.processes, cpus()[1]) as crew:
                outcome = await carry_out(
                    crew, what, quiet, tokens=bearer, conversations=conversations, tick=tick, cpu_ns=lambda: 0
                )
            errors += sum(outcome.intervals[0].errors.values())
            each.append((during - before) / 1024 / outcome.sockets)
    return Row(
        name=case.name,
        title=f"{case.title} ({what.users:,})",
        unit="KiB a socket",
        value=median(each),
        spread_percent=_spread(each),
        errors=errors,
    )


def table(rows: list[Row]) -> str:
    """The rows for a human."""
    lines = [
        f"{'':34}{'median':>10} {'unit':<14}{'spread':>8}{'CPU µs each':>13}"
        f"{'p50 ms':>9}{'p99 ms':>9}{'errors':>8}"
    ]
    for it in rows:
        unit = it.unit if "KiB" in it.unit else f"{it.unit}/s"
        decimals = 1 if "KiB" in it.unit else 0
        lines.append(
            f"{it.title:<34}{_number(it.value, decimals):>10} {unit:<14}{_number(it.spread_percent, 0):>6} %"
            f"{_number(it.cpu_us, 1):>13}{_number(it.p50_ms, 1):>9}{_number(it.p99_ms, 1):>9}{it.errors:>8,}"
            + ("" if it.exact else f"   NOT EXACT {it.note}")
        )
    return "\n".join(lines)


def _number(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:,.{decimals}f}"


def main() -> int:
    """Run the command line; the exit status is 0 when every case ran and nothing was lost."""
    it = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    names = [case.name for case in CASES]
    it.add_argument("--only", nargs="+", choices=names, metavar="CASE", help=f"some of: {', '.join(names)}")
    it.add_argument("--quick", action="store_true", help="small and short: shows that it works")
    it.add_argument("--json", action="store_true", help="print the rows as a JSON array")
    options = it.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    rows = []
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        print(f"{case.title} …", file=sys.stderr, flush=True)
        chosen = smaller(case) if options.quick else case
        rows.append(trio.run(bench, chosen, QUICK if options.quick else FULL))
    print(msgspec.json.encode(rows).decode() if options.json else table(rows))
    if options.quick:
        print("A quick run: not to be quoted.", file=sys.stderr)
    return 0 if all(row.exact and row.value is not None for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
