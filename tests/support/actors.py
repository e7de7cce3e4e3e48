"""Actors over a real database, as a service runs them, and commands that are posted at the same moment."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from random import Random
from typing import Any

import trio

from actors.kernel.clock import Clock, SystemClock
from actors.kernel.directory import System
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Answer
from actors.kernel.opening import open_system
from actors.kernel.placement import open_local_placement
from persistence.bridge.database import Database
from tests.support.waiting import PATIENCE_SECONDS


@asynccontextmanager
async def open_actors(
    database: Database, *kinds: Kind[Any, Any], clock: Clock | None = None
) -> AsyncIterator[System]:
    """A system of these kinds that owns every actor of the database, for the block.

    Args:
        clock: the time that the rules go by; None is the system's.
    """
    async with (
        open_local_placement(database, node="n1") as placement,
        open_system(
            database,
            clock or SystemClock(),
            kinds=kinds,
            placement=placement,
            rng=Random(1),
            ask_seconds=PATIENCE_SECONDS,
        ) as system,
    ):
        yield system


async def ask_at_once(system: System, kind: Kind[Any, Any], id: str, commands: Sequence[Any]) -> list[Answer]:
    """The answers to commands that were posted in this order at the same moment."""
    told: dict[int, Answer] = {}
    done = trio.Event()

    def answered(place: int, answer: Answer) -> None:
        told[place] = answer
        if len(told) == len(commands):
            done.set()

    for place, command in enumerate(commands):
        system.post(kind, id, command, partial(answered, place))
    if commands:
        await done.wait()
    return [told[place] for place in range(len(commands))]
