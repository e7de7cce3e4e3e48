"""How the cost of a unit grows: one workload on a fresh server at three sizes, and the slope between them."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import asyncpg
import msgspec
import trio

from persistence.embedded.address import running_address
from scripts.benchmarks.cases import Case
from scripts.benchmarks.contenders import Opening
from scripts.benchmarks.measure import Meter, run_load, spread
from scripts.benchmarks.servers import NICENESS, Server, cpus, serving
from scripts.benchmarks.staging import Stage, staged
from scripts.growth.rows import Fill, Growth, Options
from scripts.load import server_process
from scripts.load.run import Interval, Timing
from scripts.load.workers import hire

OPENING_ROUNDS = 5
IDLE_SECONDS = 3600.0
"""How long idle sockets stay open at most, which is longer than any measurement."""


class Point(msgspec.Struct, frozen=True, rename="camel"):
    """What a unit costs at one size.

    Args:
        size: how much there is of what grows.
        cost_us: CPU time of the server for a unit, median, µs.
        cost_spread: how far the farthest value is from the median, per cent.
        database_us: CPU time of PostgreSQL for a unit, µs.
        exact: whether nothing was lost, and no request failed.
        others: CPU time of foreign processes meanwhile, per cent of one CPU.
    """

    size: int
    cost_us: float
    cost_spread: float
    database_us: float
    exact: bool
    others: float


class Grown(msgspec.Struct, frozen=True):
    """One workload at its sizes, smallest first."""

    growth: str
    points: tuple[Point, ...]

    @property
    def slope(self) -> float:
        """The exponent of the size that the cost of a unit grows with: 0 = it does not, 1 = in proportion."""
        return _slope([(one.size, one.cost_us) for one in self.points])

    @property
    def database_slope(self) -> float:
        """The exponent with which PostgreSQL's cost of a unit grows."""
        return _slope([(one.size, one.database_us) for one in self.points])


def _slope(points: list[tuple[int, float]]) -> float:
    """The slope of the straight line through the logarithms (least squares); 0 where a point has no cost."""
    if any(cost <= 0 for _, cost in points):
        return 0.0
    sizes, costs = [math.log(size) for size, _ in points], [math.log(cost) for _, cost in points]
    middle, level = sum(sizes) / len(sizes), sum(costs) / len(costs)
    above = sum((size - middle) * (cost - level) for size, cost in zip(sizes, costs, strict=True))
    return above / sum((size - middle) ** 2 for size in sizes)


async def grow(
    growth: Growth, timing: Timing, told: Callable[[Point], None], sizes: tuple[int, ...]
) -> Grown:
    """Measure a workload at its sizes, each on a server of its own. Cancellation ends server and load.

    Raises: what `serving`, `staged` and `carry_out` raise.
    """
    points = []
    for size in sizes:
        points.append(await _point(growth, size, timing))
        told(points[-1])
    return Grown(growth.name, tuple(points))


async def _point(growth: Growth, size: int, timing: Timing) -> Point:
    case = growth.case(size)
    async with serving("lean") as server:
        stage = await staged(case.options, server, case.messages)
        if growth.fill is not None:
            await trio.to_thread.run_sync(_filled, server, growth.fill(size), stage)
        async with _beside(growth.idle and growth.idle(size), server):
            if case.unit == "opening":
                return await _openings(case, size, server, stage)
            return await _units(size, server, stage, timing)


def _filled(server: Server, fill: Fill, stage: Stage) -> None:
    asyncio.run(_fill(server, fill, stage))


async def _fill(server: Server, fill: Fill, stage: Stage) -> None:
    conn = await asyncpg.connect(running_address(server.data_dir or Path()))
    try:
        await fill(conn, stage.plan)
    finally:
        await conn.close()


@asynccontextmanager
async def _beside(options: Options | None, server: Server) -> AsyncIterator[None]:
    """Keep idle sockets open for the block; None for none."""
    if options is None:
        yield
        return
    stage = await staged(options, server)
    are_open = trio.Event()

    def tick(_seen: Interval) -> None:
        are_open.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_load, stage, Timing(interval_seconds=IDLE_SECONDS), lambda: 0, tick)
        await are_open.wait()
        yield
        nursery.cancel_scope.cancel()


async def _units(size: int, server: Server, stage: Stage, timing: Timing) -> Point:
    meter, database = Meter(server), DatabaseMeter(server)

    def look() -> int:
        database.look()
        return meter.look()

    outcome = await run_load(stage, timing, look)
    counted = [max(1, one.acknowledged) for one in outcome.intervals]
    costs = [one.cpu_ns / 1000 / units for units, one in zip(counted, outcome.intervals, strict=True)]
    is_clean = outcome.verdict.exact and not any(one.errors for one in outcome.intervals)
    database_us = database.used_ns / 1000 / sum(counted)
    return Point(size, median(costs), spread(costs), database_us, is_clean, meter.others)


async def _openings(case: Case, size: int, server: Server, stage: Stage) -> Point:
    meter, database = Meter(server), DatabaseMeter(server)
    async with hire(1, cpus()[1], NICENESS) as workers:
        one = Opening(case, server, stage, workers)
        await one.open(OPENING_ROUNDS)
        meter.look()
        database.look()
        costs = [await one.round(number, 0.0) for number in range(OPENING_ROUNDS)]
        meter.look()
        database.look()
    sockets = stage.plan.clients * OPENING_ROUNDS / (OPENING_ROUNDS + 1)
    return Point(size, median(costs), spread(costs), database.used_ns / 1000 / sockets, True, meter.others)


class DatabaseMeter:
    """CPU time of the PostgreSQL below a server between the first look and the last, of processes that saw both."""

    def __init__(self, server: Server) -> None:
        self._pid = server.pid
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def look(self) -> None:
        """Read what each process has used by now."""
        self._last = {one: server_process.used_ns([one]) for one in server_process.databases(self._pid)}
        self._first = self._first or self._last

    @property
    def used_ns(self) -> int:
        """The CPU time that was used, in nanoseconds."""
        return sum(used - self._first[one] for one, used in self._last.items() if one in self._first)
