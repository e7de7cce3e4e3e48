"""What the kernel's tests share: a simulated database with two ledgers, and a system over it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from actors.kernel.directory import System
from actors.kernel.kind import Kind
from actors.kernel.opening import open_system
from actors.kernel.placement import LocalPlacement, open_local_placement
from actors.kernel.subscription import Subscription, WatchRequest
from tests.kernel.ledger import KIND, ROWS, Viewer
from tests.support.actors import ask_at_once
from tests.support.simulation import SimulatedClock, Simulation, open_simulation
from tests.support.sinks import JsonEnvelope, Socket


@dataclass
class Stage:
    """A running system and everything around it."""

    simulation: Simulation
    clock: SimulatedClock
    placement: LocalPlacement
    system: System
    envelope: JsonEnvelope

    async def ask(self, command: Any, id: str = "a", **options: Any) -> Any:
        return await self.system.ask(KIND, id, command, **options)

    async def ask_all(self, *commands: object) -> list[object]:
        """The replies, or the errors, to commands posted in this order at the same moment."""
        answers = await ask_at_once(self.system, KIND, "a", commands)
        return [answer.error or answer.reply for answer in answers]

    async def watch(
        self,
        socket: Socket,
        user_id: str = "ann",
        *,
        shown: Any = KIND,
        id: str = "a",
        mode: Any = "snapshot",
        since: tuple[str, int] | None = None,
        opened: Callable[[str, int, bool], None] | None = None,
    ) -> Subscription:
        return await self.system.watch(
            shown,
            id,
            WatchRequest(
                sink=socket,
                viewer=Viewer(user_id),
                channel=f"{shown.name}:{id}",
                envelope=self.envelope,
                mode=mode,
                opened=opened or socket.on_opened,
                since=since,
            ),
        )


@asynccontextmanager
async def open_stage(
    simulation: Simulation, *, idle_seconds: float = 60.0, kind: Kind[Any, Any] = KIND
) -> AsyncIterator[Stage]:
    """A system over a simulation that lives on when the system stops."""
    clock = SimulatedClock()
    async with (
        open_local_placement(simulation, node="n1", nodes=simulation) as placement,
        open_system(
            simulation,
            clock,
            kinds=[kind],
            placement=placement,
            rng=Random(7),
            journal=simulation,
            idle_seconds=idle_seconds,
        ) as system,
    ):
        yield Stage(simulation, clock, placement, system, JsonEnvelope())


@pytest.fixture
async def simulation(autojump_clock: object) -> AsyncIterator[Simulation]:
    async with open_simulation() as simulation:
        for id in ("a", "b"):
            await ROWS.create(simulation, id)
        yield simulation


@pytest.fixture
async def stage(simulation: Simulation) -> AsyncIterator[Stage]:
    async with open_stage(simulation) as stage:
        yield stage


@pytest.fixture(autouse=True)
def log() -> Iterator[list[Any]]:
    """What was logged, in place of printing it."""
    with capture_logs() as entries:
        yield entries
