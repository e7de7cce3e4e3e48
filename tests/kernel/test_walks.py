"""Turns that commit while a walk over many subscribers is still under way, with comings, goings and stalls."""

from random import Random

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.kernel.conftest import Stage, open_stage
from tests.kernel.history import Viewer
from tests.kernel.ledger import KIND, ROWS, Deposit, Promote, Wave, frame
from tests.support.simulation import open_simulation
from tests.support.sinks import Socket


async def come(stage: Stage, rng: Random, viewers: list[Viewer]) -> None:
    viewer = Viewer(f"u{len(viewers)}", "a", rng.choice(["delta", "delta", "snapshot"]), Socket())
    viewer.subscription = await stage.watch(viewer.socket, viewer.user_id, mode=viewer.mode)
    viewers.append(viewer)


async def walk(seed: int) -> int:
    """Returns how many publications a subscriber was sent at once, at the most."""
    rng, viewers, most = Random(seed), [], 0
    async with open_simulation(seed) as simulation:
        simulation.delay_seconds = (0, 0)
        await ROWS.create(simulation, "a")
        async with open_stage(simulation) as stage:
            for _ in range(150):
                await come(stage, rng, viewers)
            for _ in range(150):
                deed = rng.random()
                if deed < 0.6:
                    command = rng.choice(
                        [Deposit("x", 1), Deposit("x", 2), Wave("y"), Promote(f"u{rng.randrange(99)}")]
                    )
                    stage.system.post(KIND, "a", command, lambda answer: None)
                elif deed < 0.7:
                    await come(stage, rng, viewers)
                elif deed < 0.9:
                    rng.choice(viewers[-12:]).socket.make_room(rng.choice([0, 1, 3, None]))
                elif deed < 0.93:
                    viewers.pop(rng.randrange(len(viewers))).subscription.close()  # type: ignore[union-attr]
                for _ in range(rng.randrange(5)):
                    await trio.lowlevel.checkpoint()
            await wait_all_tasks_blocked()
            state = stage.system.peek(KIND, "a")
            for viewer in viewers:
                viewer.socket.make_room(None)
                viewer.catch_up()
                most = max(most, *(len(prepared.payloads) for prepared in viewer.socket.sends))
                audience = viewer.subscription.audience  # type: ignore[union-attr]
                wanted = frame(state, audience)
                assert isinstance(wanted, dict)
                assert viewer.offset == stage.system.statistics()[0].offset
                assert viewer.seen == wanted | {"bosses": list(state.bosses), "kicked": []}
    return most


@pytest.mark.parametrize("seed", range(3))
def test_walks(seed: int) -> None:
    assert trio.run(walk, seed, clock=MockClock(autojump_threshold=0)) > 1


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_any_walk(seed: int) -> None:
    trio.run(walk, seed, clock=MockClock(autojump_threshold=0))
