"""One run of one seed: the same each time, in any process."""

from functools import partial
from traceback import format_exc

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from tests.simulation.attendance import in_haste
from tests.simulation.checks import check
from tests.simulation.image import image
from tests.simulation.plants import Plant
from tests.simulation.play import play
from tests.simulation.report import Report
from tests.simulation.world import World
from tests.support.scheduling import in_order

RUN_SECONDS = 60.0
"""Of virtual time: longer than any run that comes to rest."""


def run(seed: int, plant: Plant | None = None) -> Report:
    """Run one seed, with or without a planted fault."""
    image()
    with capture_logs() as log, in_order(seed), in_haste(), (plant or Plant()).planted():
        world = trio.run(partial(_run, seed, plant), clock=MockClock(autojump_threshold=0))
    faults = [f"{entry['doing']}: {entry['exc_info']!r}" for entry in log if entry["event"] == "kernel_fault"]
    return Report(seed, (*world.wrong, *faults), tuple(world.trace))


async def _run(seed: int, plant: Plant | None) -> World:
    async with trio.open_nursery() as nursery:
        world = World(seed, plant, nursery)
        try:
            with trio.fail_after(RUN_SECONDS):
                await play(world)
                world.wrong = await check(world)
                for node in tuple(world.nodes):
                    await world.stop(node)
        except Exception:
            # With a fault in it, the code may do anything.
            world.wrong.append(format_exc())
        nursery.cancel_scope.cancel()
    return world
