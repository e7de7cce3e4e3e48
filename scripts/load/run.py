"""One run from beginning to end: workers, warm-up, measured intervals, and the judgement of what arrived."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import trio

from scripts.load import server_process
from scripts.load.clients.exchange import (
    Done,
    Mark,
    Open,
    Opened,
    Settle,
    Start,
    Stop,
    Stopped,
    Tally,
    Verdict,
)
from scripts.load.histogram import Histogram
from scripts.load.plan import FLEETS, Plan
from scripts.load.workers import Workers

TICK_SECONDS = 1.0


@dataclass(slots=True)
class Interval:
    """The counts of all workers together in some stretch of time.

    Args:
        seconds: how long it was.
        cpu_ns: CPU time of the server in it; 0 when that cannot be seen, or the server has ended meanwhile.
        load_cpu_ns: CPU time of the workers in it.
    """

    seconds: float = 0.0
    acknowledged: int = 0
    delivered: int = 0
    skipped: int = 0
    received_bytes: int = 0
    unsent: int = 0
    in_flight: int = 0
    open_sockets: int = 0
    reconnects: int = 0
    cpu_ns: int = 0
    load_cpu_ns: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    acknowledgement: Histogram = field(default_factory=Histogram)
    delivery: Histogram = field(default_factory=Histogram)
    last: Histogram = field(default_factory=Histogram)

    def add(self, tallies: list[Tally], seconds: float) -> None:
        """Take in what the workers counted in one tick."""
        self.seconds += seconds
        self.in_flight = sum(tally.in_flight for tally in tallies)
        self.open_sockets = sum(tally.open_sockets for tally in tallies)
        for tally in tallies:
            self.acknowledged += tally.acknowledged
            self.delivered += tally.delivered
            self.skipped += tally.skipped
            self.received_bytes += tally.received_bytes
            self.unsent += tally.unsent
            self.reconnects += tally.reconnects
            self.errors.update(tally.errors)
            self.acknowledgement.add_all(tally.acknowledgement)
            self.delivery.add_all(tally.delivery)
            self.last.add_all(tally.last)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: its measured intervals, and whether everything arrived once and in order.

    Args:
        lost_sockets: how many of the sockets were not open any more in the end.
        reconnects: how often a socket was lost and opened again, warm-up included.
    """

    sockets: int
    intervals: list[Interval]
    verdict: Verdict
    lost_sockets: int = 0
    reconnects: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long the parts of a run take.

    Args:
        warmup_seconds: how long the traffic runs before anything is counted.
        interval_seconds: the length of each measured interval.
        intervals: how many intervals there are.
    """

    warmup_seconds: float = 1.0
    interval_seconds: float = 10.0
    intervals: int = 1


async def carry_out(
    workers: Workers,
    plan: Plan,
    timing: Timing,
    *,
    tokens: dict[int, str],
    conversations: list[str],
    tick: Callable[[Interval], None],
    cpu_ns: Callable[[], int],
    enough: trio.Event | None = None,
) -> Outcome:
    """Open, warm up, measure, stop, judge.

    Args:
        workers: the worker processes.
        plan: what they do.
        timing: how long they do it.
        tokens: access tokens of all users who open a socket, {number of the user: token}.
        conversations: ids of the conversations, or the agents, from `stage.prepare`.
        tick: called with the counts of each second, warm-up included.
        cpu_ns: returns how much CPU time the server has used, in nanoseconds.
        enough: set when the run is to end with what was measured so far.

    Raises:
        WorkerFailed: a worker could not go on. Cancellation ends the run, but not the workers.
    """
    jobs = [
        Open(plan, worker, tokens_of(plan, worker, tokens), conversations) for worker in range(plan.processes)
    ]
    sockets = sum(opened.sockets for opened in await workers.ask(jobs, Opened))
    await workers.ask_all(Mark(), Tally)  # what came during the warm-up is not counted
    await workers.ask_all(Start(), Done)
    meter = _Meter(workers, tick, cpu_ns, trio.Event() if enough is None else enough)
    warmup = await meter.measure(timing.warmup_seconds)
    intervals = [await meter.measure(timing.interval_seconds) for _ in range(timing.intervals)]
    verdict = await judged(workers, plan)
    end = Interval()
    end.add(await workers.ask_all(Mark(), Tally), 0.0)
    reconnects = sum(one.reconnects for one in (warmup, *intervals, end))
    return Outcome(sockets, intervals, verdict, sockets - end.open_sockets, reconnects)


async def judged(workers: Workers, plan: Plan) -> Verdict:
    """Stop the traffic, and judge what has arrived, for traffic whose deliveries are judged.

    Raises:
        WorkerFailed: a worker could not go on. Cancellation leaves the workers waiting for an order.
    """
    stopped = await workers.ask_all(Stop(), Stopped)
    if plan.traffic == "chat":
        kept = [sum(parts) for parts in zip(*(one.acknowledged for one in stopped), strict=True)]
        unknown = [sum(parts) for parts in zip(*(one.unknown for one in stopped), strict=True)]
        most = [a + b for a, b in zip(kept, unknown, strict=True)]
        return Verdict.of_all(await workers.ask_all(Settle(kept, most), Verdict))
    if plan.traffic in ("friends", "parties", *FLEETS):
        return Verdict.of_all(await workers.ask_all(Settle([], []), Verdict))
    return Verdict()


@dataclass(frozen=True, slots=True)
class _Meter:
    """Counts while the traffic runs; see `carry_out`."""

    workers: Workers
    tick: Callable[[Interval], None]
    cpu_ns: Callable[[], int]
    enough: trio.Event

    async def measure(self, seconds: float) -> Interval:
        """Let the traffic run for so long, or until `enough` is set; returns its counts."""
        whole = Interval()
        began_cpu, began_load_cpu = self.cpu_ns(), server_process.used_ns(self.workers.pids)
        before = trio.current_time()
        end = before + seconds
        while (left := end - trio.current_time()) > 0.001 and not self.enough.is_set():
            with trio.move_on_after(min(TICK_SECONDS, left)):
                await self.enough.wait()
            tallies = await self.workers.ask_all(Mark(), Tally)
            now = trio.current_time()
            one = Interval()
            one.add(tallies, now - before)
            whole.add(tallies, now - before)
            before = now
            self.tick(one)
        # A server that has ended meanwhile takes its counter with it.
        whole.cpu_ns = max(0, self.cpu_ns() - began_cpu)
        whole.load_cpu_ns = max(0, server_process.used_ns(self.workers.pids) - began_load_cpu)
        return whole


def tokens_of(plan: Plan, worker: int, tokens: dict[int, str]) -> dict[int, str]:
    """The tokens that one worker may use: those of its users, but all for REST traffic, whose connections use any, and
    for parties and networks, which are dealt out whole."""
    if plan.traffic in ("rest", "parties", *FLEETS):
        return tokens
    return {user: token for user, token in tokens.items() if user % plan.processes == worker}
