"""How soon the others see that a node is dead, in virtual time: its row has to run out, and no more."""

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.nodes.membership import ROW_SECONDS, WATCH_SECONDS
from tests.simulation.cluster.plants import NONE
from tests.simulation.cluster.world import World
from tests.support.scheduling import in_order

STORE_SECONDS = 0.2
"""For the transactions of the simulated database."""

SEEDS = 3


async def _seconds_until_taken(seed: int) -> float:
    async with trio.open_nursery() as nursery:
        world = World(seed, NONE, nursery)
        nursery.start_soon(world.bus.carry)
        for name in ("a", "b", "c"):
            world.want(name)
            await trio.sleep(1.3)  # so that they do not renew at the same moment
        with trio.fail_after(60):
            for node in world.nodes.values():
                await node.ready.wait()
        await trio.sleep(
            10 + seed / SEEDS
        )  # shares are even, and the fault comes anywhere between two renewals
        since = trio.current_time()
        world.nodes["b"].freeze()
        survivor = world.nodes["a"].membership.where
        with trio.fail_after(60):
            while survivor.counts().get("b"):
                await survivor.wait_changed()
        seconds = trio.current_time() - since
        nursery.cancel_scope.cancel()
    return seconds


@pytest.mark.slow
def test_what_a_silent_node_owned_is_taken_as_soon_as_its_row_has_run_out() -> None:
    for seed in range(SEEDS):
        with in_order(seed):
            seconds = trio.run(_seconds_until_taken, seed, clock=MockClock(autojump_threshold=0))
        assert seconds < ROW_SECONDS + WATCH_SECONDS + STORE_SECONDS, seed
