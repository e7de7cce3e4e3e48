"""Whole histories in a simulation: callers, viewers, slow readers, reconnects, a failing database; one seed.

`run_history(seed)` plays one and returns its trace, after checking what must hold in each:

- an acknowledged deposit is in the rows exactly once, a refused or definitely failed one never, one of
  unknown outcome at most once;
- the state in memory is the state in the rows;
- every viewer that has read everything sees what a fresh snapshot would show;
- a delta viewer sees each offset once and in order, from one snapshot to the next;
- nothing waits for a slow reader beyond its bound.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import msgspec
import trio
from trio.testing import MockClock

from actors.errors import Refused
from actors.kernel.recovery import recover
from actors.kernel.subscription import Subscription
from actors.kernel.supervisor import Fault
from persistence.errors import OutcomeUnknown, PersistenceError
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.folding import fold
from tests.kernel.ledger import KIND, ROWS, Deposit, Explode, Promote, Read, SetAlarm, Wave, Withdraw, frame
from tests.support.simulation import Fate, Simulation, open_simulation
from tests.support.sinks import Socket

IDS = ("a", "b")
RATES: dict[Fate, float] = {
    "fails": 0.04,
    "unknown_landed": 0.02,
    "unknown_lost": 0.02,
    "unknown_late": 0.01,
    "fenced": 0.01,
}
SECONDS = 30

# So many more viewers of one ledger read everything: more than one slice.
CROWD = 70


@dataclass
class Viewer:
    """A client that watches a ledger, sometimes slowly, and sometimes comes back."""

    user_id: str
    id: str
    mode: str
    socket: Socket
    subscription: Subscription | None = None
    read: int = 0
    seen: dict[str, Any] = field(default_factory=dict)
    epoch: str = ""
    offset: int = 0

    def catch_up(self) -> None:
        """Follow what has arrived since the last time."""
        frames = self.socket.frames
        for arrived in frames[self.read :]:
            if arrived["type"] == "snapshot":
                assert arrived["epoch"] != self.epoch or arrived["offset"] >= self.offset
                self.seen, self.epoch, self.offset = arrived["data"], arrived["epoch"], arrived["offset"]
            elif arrived["offset"] is not None:
                assert arrived["offset"] == self.offset + 1, "each offset once and in order"
                self.offset = arrived["offset"]
                self.seen = fold(self.seen, arrived)
        self.read = len(frames)


@dataclass
class History:
    """What was done, and what came of it."""

    rng: Random
    stage: Stage
    fates: dict[str, str] = field(default_factory=dict)
    wrote: list[str] = field(default_factory=list)
    viewers: list[Viewer] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)

    def note(self, *facts: object) -> None:
        self.trace.append(f"{trio.current_time():.6f} " + " ".join(map(str, facts)))

    async def call(self, name: str) -> None:
        """One caller that asks a number of things, one after the other."""
        for n in range(25):
            await trio.sleep(self.rng.expovariate(2))
            id = self.rng.choice(IDS)
            tag = f"{name}.{n}"
            command = self._command(tag)
            with trio.move_on_after(self.rng.choice([0.002, 9, 9, 9])):
                self.fates[tag] = "unknown"
                try:
                    await self.stage.ask(command, id)
                    self.fates[tag] = "done"
                    if isinstance(command, Deposit | Withdraw):
                        self.wrote.append(tag)
                except OutcomeUnknown:
                    pass
                except (Refused, PersistenceError, Fault) as error:
                    self.fates[tag] = "not"
                    self.note(tag, type(error).__name__)
            self.note(tag, id, type(command).__name__, self.fates[tag])

    def _command(self, tag: str) -> Any:
        return self.rng.choices(
            [
                Deposit(tag, self.rng.randrange(1, 13)),
                Deposit(tag, 13),
                Withdraw(tag, self.rng.randrange(1, 40)),
                Promote(self.rng.choice(["u0", "u1"])),
                Read("u0"),
                Wave("u1"),
                SetAlarm(self.stage.clock.now_ms() + self.rng.randrange(5_000)),
                Explode("apply"),
            ],
            weights=[12, 1, 5, 1, 2, 2, 1, 1],
        )[0]

    async def look(self, viewer: Viewer) -> None:
        """One viewer: watches, stalls, reads, leaves and comes back."""
        until = trio.current_time() + SECONDS
        while trio.current_time() < until:
            await trio.sleep(self.rng.expovariate(0.7))
            deed = self.rng.random()
            if viewer.subscription is None:
                await self.watch(viewer)
            elif deed < 0.4:
                viewer.socket.make_room(self.rng.choice([0, 1, 2, 8]))
            elif deed < 0.6:
                viewer.socket.make_room(None)
            elif deed < 0.8:
                viewer.subscription.close()
                viewer.subscription = None
            else:
                viewer.subscription.recheck()
            viewer.catch_up()
            assert viewer.socket.most_waiting <= viewer.socket.bound
            self.note(viewer.user_id, viewer.mode, viewer.id, viewer.offset, viewer.read)

    async def watch(self, viewer: Viewer) -> None:
        """Watch, from where the viewer is, most of the time."""
        viewer.catch_up()
        since = (viewer.epoch, viewer.offset) if viewer.seen and self.rng.random() < 0.8 else None
        viewer.socket, viewer.read = Socket(), 0
        try:
            viewer.subscription = await self.stage.watch(
                viewer.socket, viewer.user_id, id=viewer.id, mode=viewer.mode, since=since
            )
        except (Refused, PersistenceError) as error:
            self.note(viewer.user_id, type(error).__name__)


async def _play(seed: int) -> list[str]:
    async with open_simulation(seed, RATES) as simulation:
        for id in IDS:
            await ROWS.create(simulation, id)
        async with open_stage(simulation, idle_seconds=3) as stage:
            history = History(Random(seed + 1), stage)
            for n in range(CROWD):
                watcher = Viewer(f"w{n}", "a", "delta", Socket())
                history.viewers.append(watcher)
                await history.watch(watcher)
            async with trio.open_nursery() as nursery:
                for n in range(6):
                    nursery.start_soon(history.call, f"c{n}")
                for n in range(6):
                    viewer = Viewer(f"u{n}", IDS[n % 2], "delta" if n < 4 else "snapshot", Socket())
                    history.viewers.append(viewer)
                    nursery.start_soon(history.look, viewer)
                nursery.start_soon(_trouble, history.rng, simulation)
            simulation.away = False
            simulation.rates.clear()
            await trio.sleep(5)
            await _check(history, simulation)
        await _check_reload(simulation)
        return history.trace


async def _trouble(rng: Random, simulation: Simulation) -> None:
    for _ in range(3):
        await trio.sleep(rng.uniform(2, 8))
        simulation.away = True
        await trio.sleep(rng.uniform(0.1, 3))
        simulation.away = False


async def _check(history: History, simulation: Simulation) -> None:
    entries = Counter(entry.by for id in IDS for entry in simulation.rows["entries", id])
    del entries["bomb"]
    assert all(times == 1 for times in entries.values()), "nothing twice"
    assert not [tag for tag in entries if history.fates[tag] == "not"], "nothing that was refused"
    assert not [tag for tag in history.wrote if tag not in entries], "nothing lost"
    for viewer in history.viewers:
        if viewer.subscription is None:
            continue
        viewer.socket.make_room(None)
        viewer.catch_up()
        state = history.stage.system.peek(KIND, viewer.id)
        assert state is not None
        wanted = msgspec.to_builtins(frame(state, viewer.subscription.audience))
        assert viewer.seen == wanted | {"bosses": list(wanted["bosses"]), "kicked": list(wanted["kicked"])}
        assert state.total == simulation.rows["ledger", viewer.id].total


async def _check_reload(simulation: Simulation) -> None:
    """From snapshot and events comes the same as from the rows."""
    for id in IDS:
        kept = await recover(simulation, simulation, KIND, id)  # type: ignore[arg-type]
        simulation.snapshots.clear()
        fresh = await recover(simulation, simulation, KIND, id)  # type: ignore[arg-type]
        assert kept is not None
        assert fresh is not None
        assert kept.state == fresh.state
        assert (kept.seq, kept.epoch) == (fresh.seq, fresh.epoch)


def run_history(seed: int) -> list[str]:
    """Play the history of this seed; returns its trace, which is the same each time."""
    scheduler: Any = trio._core._run
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(seed)
    try:
        return trio.run(partial(_play, seed), clock=MockClock(autojump_threshold=0))
    finally:
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING = False
