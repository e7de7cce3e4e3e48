"""The database as one process has it: delays, outages, lost connections, and answers that never come, by seed.

`SimulatedStore` is the kernel's `Store`. Its writer keeps the rules of `persistence/bridge/group_commit.py`: one
transaction at a time, in each at most one turn of an actor, in the order of `submit`; a batch whose connection is lost
is tried once more; what may have landed is answered with `OutcomeUnknown` when the second try is refused.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import trio

from persistence.bridge.group_commit import PATIENCE, RECONNECT_SECONDS
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError, QueueFull
from persistence.journal.turn import Turn
from tests.simulation.tables import Tables

TIMEOUT_SECONDS = 5.0
"""From `submit` to the answer, as the real one has it."""

QUEUE_TURNS = 64

TICK_SECONDS = 0.005

Done = Callable[[PersistenceError | None], None]


@dataclass(frozen=True, slots=True)
class Weather:
    """How likely what is, of each transaction or read.

    Args:
        lost_before: the connection is lost before COMMIT.
        lost_during: it is lost while the one statement runs that writes and commits.
        lost_commit: it is lost after COMMIT was sent in a transaction of several steps.
        busy: PostgreSQL cannot serve now.
        read_fails: a read, or a transaction of a unit, finds no connection.
        slow: an answer takes up to a second instead of milliseconds.
    """

    lost_before: float = 0.0
    lost_during: float = 0.0
    lost_commit: float = 0.0
    busy: float = 0.0
    read_fails: float = 0.0
    slow: float = 0.0


CALM = Weather()


@dataclass(slots=True, eq=False)
class Entry:
    """A turn that is not answered yet."""

    turn: Turn
    done: Done
    since: float
    tried: bool = False
    may_have_landed: bool = False


class SimulatedStore:
    """See the module.

    Args:
        tables: what several stores share, one for each process.
        rng: draws what happens.
        weather: how likely it is.
        note: writes facts into the trace.
    """

    def __init__(self, tables: Tables, rng: Random, weather: Weather, note: Callable[..., None]) -> None:
        self.tables = tables
        self.rng = rng
        self.weather = weather
        self.away_until = 0.0
        self.still_until = 0.0
        self.dead = False
        self._note = note
        self._waiting: deque[Entry] = deque()
        self._flying: list[Entry] = []
        self._more = trio.Event()
        self._pause_seconds = RECONNECT_SECONDS[0]

    # -- Store

    async def read(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        await self._reach()
        found = await unit(self.tables, *args)
        await self._pause()
        return found

    async def transact(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        await self._reach()
        if self.rng.random() < self.weather.lost_commit:
            landed = self.rng.random() < 0.5
            self._note("unit", unit.__name__, "unknown", landed)
            if landed:
                await unit(self.tables, *args)
            await self._pause()
            raise OutcomeUnknown("simulated")
        result = await unit(self.tables, *args)
        await self._pause()
        return result

    def submit(self, turn: Turn, done: Done, /) -> None:
        if self.dead or len(self._waiting) >= QUEUE_TURNS:
            raise QueueFull("simulated")
        self._waiting.append(Entry(turn, done, trio.current_time()))
        self._more.set()

    async def running_seconds(self) -> float:
        """How long the oldest transaction has been running that may still land."""
        return await self.read(_running_seconds)

    # -- the process

    @property
    def rests(self) -> bool:
        """Nothing waits, and nothing is under way."""
        return not self._waiting and not self._flying

    async def run(self) -> None:
        """The writer, until cancelled."""
        while True:
            if not self._waiting:
                self._more = trio.Event()
                await self._more.wait()
            await self._serve()

    def die(self) -> None:
        """The process is killed: what is under way lands or not, and nobody is told."""
        self.dead = True
        flying, self._flying = self._flying, []
        waiting, self._waiting = self._waiting, deque()
        for entry in flying:
            entry.done(OutcomeUnknown("killed"))
        for entry in waiting:
            entry.done(DatabaseUnavailable("killed"))

    # -- inside

    async def _serve(self) -> None:
        if trio.current_time() < self.away_until:
            while self._waiting and self._is_old(self._waiting[0]):
                self._answer([self._waiting.popleft()], DatabaseUnavailable("no connection"))
            await trio.sleep(self._pause_seconds)
            self._pause_seconds = min(self._pause_seconds * 2, RECONNECT_SECONDS[1])
            return
        self._pause_seconds = RECONNECT_SECONDS[0]
        await self._pause()
        batch = self._flying = self._next_batch()
        fate = self._fate()
        if batch and fate != "lands":
            self._note("batch", fate, *(f"{entry.turn.id[-2:]}@{entry.turn.version}" for entry in batch))
        match fate:
            case "busy":
                self._answer(batch, DatabaseUnavailable("busy"))
            case "lost_before":
                self._put_back(batch)
            case "lost_during":
                await self._lose(batch)
                for entry in batch:
                    entry.may_have_landed = True
                self._put_back(batch)
            case "lost_commit":
                await self._lose(batch)
                self._answer(batch, OutcomeUnknown("lost while it committed"))
            case _:
                outcomes = [await self.tables.land(entry.turn) for entry in batch]
                await self._pause()
                self._tell(batch, outcomes)
        self._flying = []

    def _fate(self) -> str:
        if trio.current_time() < self.away_until:
            return "lost_before"
        drawn = self.rng.random()
        for fate in ("lost_before", "lost_during", "lost_commit", "busy"):
            rate = getattr(self.weather, fate)
            if drawn < rate:
                return fate
            drawn -= rate
        return "lands"

    def _next_batch(self) -> list[Entry]:
        batch: list[Entry] = []
        actors: set[tuple[str, str]] = set()
        while self._waiting:
            turn = self._waiting[0].turn
            if (turn.kind, turn.id) in actors:
                break
            actors.add((turn.kind, turn.id))
            batch.append(self._waiting.popleft())
        return batch

    async def _lose(self, batch: list[Entry]) -> None:
        """The connection is lost while it commits: it has landed, never does, or does later."""
        drawn = self.rng.random()
        turns = [entry.turn for entry in batch]
        if drawn < 0.3:
            await self._land(turns)
        elif drawn < 0.7:
            trio.lowlevel.spawn_system_task(self._land_late, turns, self.rng.randrange(1, 40))

    async def _land_late(self, turns: list[Turn], ticks: int) -> None:
        since = trio.current_time()
        self.tables.running.append(since)
        await tick(ticks)
        await self._land(turns)
        self.tables.running.remove(since)

    async def _land(self, turns: list[Turn]) -> None:
        for turn in turns:
            self._note("landed unseen", turn.id[-2:], turn.version, await self.tables.land(turn) is None)

    def _put_back(self, batch: list[Entry]) -> None:
        for entry in reversed(batch):
            if entry.tried or self._is_old(entry):
                self._answer([entry], DatabaseUnavailable("the connection was lost before the commit"))
            else:
                entry.tried = True
                self._waiting.appendleft(entry)

    def _is_old(self, entry: Entry) -> bool:
        return trio.current_time() - entry.since > TIMEOUT_SECONDS * PATIENCE

    def _answer(self, batch: list[Entry], error: PersistenceError) -> None:
        self._tell(batch, [error] * len(batch))

    def _tell(self, batch: list[Entry], outcomes: list[PersistenceError | None]) -> None:
        if self.dead:
            return
        for entry, outcome in zip(batch, outcomes, strict=True):
            unknown = outcome is not None and entry.may_have_landed
            entry.done(OutcomeUnknown("lost while it committed") if unknown else outcome)

    async def _reach(self) -> None:
        await self._pause()
        if trio.current_time() < self.still_until:
            await trio.sleep_until(self.still_until)
        away = trio.current_time() < self.away_until
        if away or self.dead or self.rng.random() < self.weather.read_fails:
            raise DatabaseUnavailable("simulated")

    async def _pause(self) -> None:
        """What the network takes."""
        await tick(
            self.rng.randrange(200) if self.rng.random() < self.weather.slow else self.rng.randrange(2)
        )


async def _running_seconds(tables: Tables) -> float:
    return trio.current_time() - min(tables.running) if tables.running else 0.0


async def tick(ticks: int) -> None:
    """Wait for the next tick of a common clock, or a later one: so that what waits meets, and a run stays short.

    Args:
        ticks: 0 only lets others run.
    """
    if not ticks:
        await trio.lowlevel.checkpoint()
        return
    await trio.sleep_until((int(trio.current_time() / TICK_SECONDS + 0.5) + ticks) * TICK_SECONDS)
