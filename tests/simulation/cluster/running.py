"""One run of one seed: the same each time, in any process."""

from functools import partial
from traceback import format_exc

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from tests.simulation.cluster.checks import check
from tests.simulation.cluster.plants import NONE, Plant
from tests.simulation.cluster.play import play
from tests.simulation.cluster.world import World
from tests.simulation.report import Report
from tests.support.scheduling import in_order

RUN_SECONDS = 600.0
"""Of virtual time: longer than any run that comes to rest."""


def run(seed: int, plant: Plant = NONE) -> Report:
    """Run one seed, with or without a planted fault."""
    with capture_logs() as log, in_order(seed), plant.planted():
        world = trio.run(partial(_run, seed, plant), clock=MockClock(autojump_threshold=0))
    faults = [f"{entry['doing']}: {entry['exc_info']!r}" for entry in log if entry["event"] == "kernel_fault"]
    return Report(seed, (*world.wrong, *faults), tuple(world.trace), tuple(world.healed))


async def _run(seed: int, plant: Plant) -> World:
    async with trio.open_nursery() as nursery:
        world = World(seed, plant, nursery)
        try:
            with trio.fail_after(RUN_SECONDS):
                await play(world)
                world.wrong = await check(world)
        except Exception:
            # With a fault in it, the code may do anything.
            world.wrong.append(format_exc())
        nursery.cancel_scope.cancel()
    return world
