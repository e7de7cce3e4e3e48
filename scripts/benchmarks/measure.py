"""One case on one fresh server: a row of figures.

A figure is the median of three intervals (of idle memory: of three servers, because a server's memory only
grows); its spread is how far the farthest of them is from it.
"""

import os
import time
from collections.abc import Callable
from statistics import median

import msgspec
import trio

from scripts.benchmarks.cases import OURS, Case
from scripts.benchmarks.contenders import Opening
from scripts.benchmarks.peers import NotHere
from scripts.benchmarks.servers import NICENESS, Name, NotServing, Server, cpus, serving
from scripts.benchmarks.staging import Stage, staged
from scripts.load import server_process
from scripts.load.clients.http import RequestFailed
from scripts.load.failures import first
from scripts.load.report import latency
from scripts.load.run import Interval, Outcome, Timing, carry_out
from scripts.load.workers import WorkerFailed, hire

IDLE_RUNS = 3
OPENING_ROUNDS = 5
_SETTLE_SECONDS = 2.0  # how long memory may take to be given back before it is read
_BACKGROUND_NICENESS = 10  # the load in the background must not hold up the clock of the one that is measured


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures of one server in one case.

    Args:
        case, server: the names of both.
        cost: what a unit costs, median, in the measure of `cases.COSTS`.
        cost_spread: how far the farthest interval is from the median, per cent.
        rate: units a second as the load saw them, median.
        rate_spread: the spread of the rate, as of the cost.
        p50_ms, p99_ms: quantiles of acknowledgements or responses, over all intervals.
        last_p99_ms: the same of each message's last delivery.
        errors, skipped: numbers over all intervals; a skipped delivery is one that a snapshot stood for.
        exact: whether every subscription had every message once and in order.
        others: CPU time that foreign processes used meanwhile, per cent of one CPU: how far to trust the row.
        note: a remark, or why there are no figures.
    """

    case: str
    server: Name
    cost: float | None = None
    cost_spread: float | None = None
    rate: float | None = None
    rate_spread: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    last_p99_ms: float | None = None
    errors: int = 0
    skipped: int = 0
    exact: bool = True
    others: float | None = None
    note: str = ""


async def bench(case: Case, name: Name, timing: Timing) -> Row:
    """Measure a case on a server; a failure becomes the row's note. Cancellation ends the server and the load."""
    measure = {"opening": _opening, "socket": _idle, "p99": _beside}.get(case.unit, _units)
    try:
        return await measure(case, name, timing)
    except* NotHere as group:
        failed, missing = str(first(group)), True
    except* (WorkerFailed, RequestFailed, NotServing, OSError) as group:
        failed, missing = str(first(group)), False
    return Row(case=case.name, server=name, exact=missing, note=failed)


class Meter:
    """Reads the CPU time of a server, and what other processes of this machine use meanwhile."""

    def __init__(self, server: Server) -> None:
        self._pid = server.pid
        self._seen: list[tuple[int, int, int]] = []  # [(moment, busy, our share of it), all ns]

    def look(self) -> int:
        """The server's CPU time so far, nanoseconds."""
        self._seen.append((time.monotonic_ns(), *server_process.machine_ns(os.getpid())))
        return server_process.cpu_ns(self._pid)

    @property
    def others(self) -> float:
        """What processes that are not ours used since the first look, per cent of one CPU."""
        (began, busy, ours), (ended, busy_then, ours_then) = self._seen[0], self._seen[-1]
        return max(0.0, (busy_then - busy - (ours_then - ours)) / (ended - began) * 100)


async def run_load(
    stage: Stage,
    timing: Timing,
    cpu_ns: Callable[[], int],
    tick: Callable[[Interval], None] = lambda _seen: None,
    niceness: int = NICENESS,
) -> Outcome:
    """Carry out a plan with processes of its own.

    Args:
        stage: the plan, and what it needs.
        timing: how long it runs.
        cpu_ns: returns how much CPU time the server has used, in nanoseconds.
        tick: called with the counts of each second.
        niceness: that of the load's processes, -20 to 19.
    """
    async with hire(stage.plan.processes, cpus()[1], niceness) as workers:
        return await carry_out(
            workers,
            stage.plan,
            timing,
            tokens=stage.tokens,
            conversations=stage.conversations,
            tick=tick,
            cpu_ns=cpu_ns,
        )


async def _units(case: Case, name: Name, timing: Timing) -> Row:
    """CPU time of a delivery, a message or a request."""
    async with serving(name) as server:
        stage, meter = await staged(case.options, server, case.messages), Meter(server)
        outcome = await run_load(stage, timing, meter.look)
    counted = [
        max(1, one.delivered if case.unit == "delivery" else one.acknowledged) for one in outcome.intervals
    ]
    pairs = list(zip(counted, outcome.intervals, strict=True))
    costs = [one.cpu_ns / 1000 / units for units, one in pairs]
    rates = [units / one.seconds for units, one in pairs]
    whole = _whole(outcome)
    quantiles = latency(whole.acknowledgement)
    return Row(
        case=case.name,
        server=name,
        cost=median(costs),
        cost_spread=spread(costs),
        rate=median(rates),
        rate_spread=spread(rates),
        p50_ms=quantiles.p50_ms,
        p99_ms=quantiles.p99_ms,
        last_p99_ms=whole.last.quantile_ms(0.99),
        errors=sum(whole.errors.values()),
        skipped=outcome.verdict.skipped,
        exact=outcome.verdict.exact,
        others=meter.others,
        note="; ".join(outcome.verdict.examples[:1]),
    )


async def _idle(case: Case, name: Name, timing: Timing) -> Row:
    """Memory of a socket that is open and silent."""
    del timing
    each, errors = [], 0
    options = _with_friends(case, name)
    for _ in range(IDLE_RUNS):
        async with serving(name) as server:
            stage = await staged(options, server)
            await trio.sleep(_SETTLE_SECONDS)
            before = server_process.memory_bytes(server.pid) or 0
            during = 0

            def tick(_seen: Interval, pid: int = server.pid) -> None:
                nonlocal during
                during = server_process.memory_bytes(pid) or 0

            quiet = Timing(warmup_seconds=_SETTLE_SECONDS, interval_seconds=1.0)
            outcome = await run_load(stage, quiet, Meter(server).look, tick)
            errors += sum(outcome.intervals[0].errors.values())
            each.append((during - before) / 1000 / outcome.sockets)
    return Row(case=case.name, server=name, cost=median(each), cost_spread=spread(each), errors=errors)


def _with_friends(case: Case, name: Name) -> dict[str, object]:
    """The options of a case for a server: on servers other than ours users have no friends."""
    return case.options if name in OURS else {**case.options, "friends": 0}


async def _opening(case: Case, name: Name, timing: Timing) -> Row:
    """CPU time of opening a socket, until its first snapshots are there."""
    del timing
    async with serving(name) as server, hire(1, cpus()[1], NICENESS) as workers:
        meter = Meter(server)
        one = Opening(case, server, await staged(_with_friends(case, name), server), workers)
        await one.open(OPENING_ROUNDS)
        meter.look()
        costs = [await one.round(number, 0.0) for number in range(OPENING_ROUNDS)]
        meter.look()
    return Row(
        case=case.name, server=name, cost=median(costs), cost_spread=spread(costs), others=meter.others
    )


async def _beside(case: Case, name: Name, timing: Timing) -> Row:
    """How much longer requests take while a fan-out goes on beside them."""
    async with serving(name) as server:
        stage = await staged(case.options, server)
        meter = Meter(server)
        alone = await run_load(stage, timing, meter.look)
        fanout = await staged(case.background or {}, server)
        seconds = timing.warmup_seconds + timing.intervals * timing.interval_seconds
        going, began = trio.Event(), Timing(warmup_seconds=1.0, interval_seconds=seconds + 2.0)
        flowing: list[Outcome] = []

        def tick(seen: Interval) -> None:
            if seen.delivered:
                going.set()

        async def flow() -> None:
            flowing.append(await run_load(fanout, began, Meter(server).look, tick, _BACKGROUND_NICENESS))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(flow)
            await going.wait()
            beside = await run_load(stage, timing, meter.look)
    before, after = _p99s_ms(alone), _p99s_ms(beside)
    costs = [one / median(before) for one in after]
    background, whole = flowing[0].intervals[0], _whole(beside)
    return Row(
        case=case.name,
        server=name,
        cost=median(costs),
        cost_spread=spread(costs),
        rate=median([one.acknowledged / one.seconds for one in beside.intervals]),
        p50_ms=latency(whole.acknowledgement).p50_ms,
        p99_ms=median(after),
        errors=sum(whole.errors.values()) + sum(background.errors.values()),
        skipped=flowing[0].verdict.skipped,
        exact=flowing[0].verdict.exact,
        others=meter.others,
        note="; ".join(
            [
                f"p99 alone {median(before):.2f} ms, beside "
                f"{background.delivered / background.seconds:,.0f} deliveries/s {median(after):.2f} ms",
                *flowing[0].verdict.examples[:1],
            ]
        ),
    )


def _p99s_ms(outcome: Outcome) -> list[float]:
    return [one.acknowledgement.quantile_ms(0.99) or 0.0 for one in outcome.intervals]


def _whole(outcome: Outcome) -> Interval:
    """All intervals as one; their histograms are empty afterwards."""
    whole = Interval()
    for one in outcome.intervals:
        whole.errors.update(one.errors)
        whole.acknowledgement.add_all(one.acknowledgement.take())
        whole.last.add_all(one.last.take())
    return whole


def spread(values: list[float]) -> float:
    """How far the farthest of some values is from their median, per cent of it."""
    middle = median(values)
    return max(abs(value - middle) for value in values) / middle * 100 if middle else 0.0
