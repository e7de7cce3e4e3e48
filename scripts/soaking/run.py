"""A soak from beginning to end: the load, the faults, the looks at memory, and the judgement."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from random import Random

import trio

from persistence.errors import PersistenceError
from routes.cli.database import reach
from routes.config.config import read_config
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Verdict
from scripts.load.clients.http import Requests
from scripts.load.clients.websocket import UpgradeRefused, upgrade
from scripts.load.waiting import wait_until
from scripts.soaking.agents import SoakedAgent
from scripts.soaking.asking import Asker, NotDone
from scripts.soaking.books import Books
from scripts.soaking.deeds import DEEDS
from scripts.soaking.deeds.deed import Deed
from scripts.soaking.faults import Fault, schedule
from scripts.soaking.ledger import Writer, judge, stored, take, writers_of
from scripts.soaking.report import MB, Bound, Outcome, Stretch, gauges_of, heading, stretch_line
from scripts.soaking.samples import Held, Sample, held, look, slope
from scripts.soaking.scene import Scene, set_scene
from scripts.soaking.server import HEALING_SECONDS, SoakedServer
from scripts.soaking.watcher import Place, Watcher
from scripts.soaking.weather import Weather

CONNECTIONS = 48
MOST_UNDER_WAY = 256
MESSAGES_SHARE = 30
DRAIN_SECONDS = 60.0
SLOW_READERS = 4
SLOW_SECONDS = 90.0
CONSOLE = ("metrics", "actors", "moderation", "notifications")


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of a soak.

    Args:
        seconds: how long it takes.
        rate: deeds a second, most of which are one request.
        users: how many users there are.
        stretch_seconds: how long a stretch is, for each of which a line is printed.
        look_seconds: the pause between two looks at the server's memory.
        seed: decides everything that is left to chance.
        faults: whether there are faults.
        memory_per_hour: how many bytes the server may grow by in an hour.
        descriptors_per_hour: how many file descriptors it may grow by in an hour.
    """

    seconds: float
    rate: float
    users: int
    stretch_seconds: float
    look_seconds: float
    seed: int
    faults: bool
    memory_per_hour: float
    descriptors_per_hour: float


@dataclass
class Soak:
    """One soak of one server.

    Args:
        plan: its options.
        server: the running server.
        say: called with each line of progress.
        enough: set when the soak is to end before its time.
    """

    plan: Plan
    server: SoakedServer
    say: Callable[[str], None]
    enough: trio.Event = field(default_factory=trio.Event)
    books: Books = field(default_factory=Books)
    weather: Weather = field(default_factory=Weather)
    samples: list[Sample] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    happened: list[Fault] = field(default_factory=list)
    _under_way: int = 0

    async def run(self) -> Outcome:
        """Run the whole soak; raises `RequestFailed` where the scene cannot be set."""
        plan, loop = self.plan, EventLoop()
        self._rng = Random(plan.seed)
        self._scene = await set_scene(self.server, plan.users, self._rng, lambda *_: None)
        host = f"127.0.0.1:{self.server.port}"
        self._place = Place(loop, ("127.0.0.1", self.server.port), host)
        self._asker = Asker(Requests(loop, self._place.address, host, CONNECTIONS), self.books, self.weather)
        self._writers = writers_of(self._scene.rooms)
        agents = [SoakedAgent(self._place, agent, self._asker) for agent, _ in self._scene.agents]
        self._sockets: list[Watcher | SoakedAgent] = [*self._watchers(), *agents]
        before = await self._held() or {}
        self._began = self._told_at = trio.current_time()
        self.say(heading())
        async with trio.open_nursery() as serving:
            serving.start_soon(loop.run)
            async with trio.open_nursery() as living:
                for one in self._sockets:
                    living.start_soon(one.run)
                living.start_soon(self._look_again_and_again)
                living.start_soon(self._tell_again_and_again)
                await self._load(living)
                living.cancel_scope.cancel()
            await self._tell()
            gauges = await self._gauges()
            verdict = await self._judge()
            self.books.turn_over()
            serving.cancel_scope.cancel()
        return self._outcome(before, await self._held() or {}, verdict, gauges)

    def _outcome(
        self, before: dict[str, Held], after: dict[str, Held], verdict: Verdict, gauges: dict[str, float]
    ) -> Outcome:
        bounds = {
            "server_bytes": Bound(self.plan.memory_per_hour, MB, "MB"),
            "descriptors": Bound(self.plan.descriptors_per_hour, 1, "descriptors"),
            "threads": Bound(self.plan.descriptors_per_hour, 1, "threads"),
        }
        return Outcome(
            seconds=trio.current_time() - self._began,
            books=self.books,
            samples=self.samples,
            slopes={name: (slope(self.samples, name), bound) for name, bound in bounds.items()},
            before=before,
            after=after,
            verdict=verdict,
            faults=self.happened,
            starts=self.server.starts,
            repeats=sum(writer.repeats for writer in self._writers),
            gauges=gauges,
            failures=self.failures,
        )

    def _watchers(self) -> list[Watcher]:
        scene = self._scene
        watchers = []
        for number, user in enumerate(scene.users):
            rooms = [room.id for room in (*scene.rooms, *scene.scratch) if user in room.members]
            own = (f"conversation:{id}" for id in rooms)
            channels = (*own, "inbox", "friends", "party", "notifications", "news", "shop", "games")
            watchers.append(self._watcher(number, user.token, channels))
        return [*watchers, self._watcher(len(watchers), scene.root.token, CONSOLE)]

    def _watcher(self, number: int, token: str, channels: tuple[str, ...]) -> Watcher:
        rng = Random(f"{self.plan.seed} {number}")
        return Watcher(self._place, number, token, channels, self.books, self.weather, rng)

    # The load.

    async def _load(self, living: trio.Nursery) -> None:
        """Start deeds at their rate, and the faults, for as long as the plan says; then wait until all deeds have
        ended."""
        if self.plan.faults:
            living.start_soon(self._fail_on_time)
        shares = list(accumulate([MESSAGES_SHARE, *(deed.share for deed in DEEDS)]))
        number = 0
        async with trio.open_nursery() as deeds:
            while (due := self._began + number / self.plan.rate) < self._began + self.plan.seconds:
                with trio.CancelScope(deadline=due):
                    await self.enough.wait()
                if self.enough.is_set():
                    break
                number += 1
                at = self._rng.choices(range(len(shares)), cum_weights=shares)[0]
                if self._under_way >= MOST_UNDER_WAY:
                    self.books.late += 1
                elif at:
                    deeds.start_soon(self._do, DEEDS[at - 1], self._scene)
                elif (writer := take(self._writers, self._rng)) is not None:
                    deeds.start_soon(self._write, writer)
                else:
                    self.books.late += 1
            if self.enough.is_set():  # after the present fault has healed, as the judgement needs the server
                await wait_until(lambda: not self.weather.is_rough, 2 * HEALING_SECONDS)
            deeds.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS
        if deeds.cancel_scope.cancelled_caught:
            self.failures.append(f"something was not answered within {DRAIN_SECONDS:.0f} s of the end")

    async def _do(self, deed: Deed, scene: Scene) -> None:
        self._under_way += 1
        try:
            await deed.do(scene, self._asker)
        except NotDone:
            pass  # counted
        finally:
            self._under_way -= 1

    async def _write(self, writer: Writer) -> None:
        self._under_way += 1
        try:
            await writer.write(self._asker)
        finally:
            self._under_way -= 1

    # The faults.

    async def _fail_on_time(self) -> None:
        async with trio.open_nursery() as nursery:
            for fault in schedule(self.plan.seconds, self.plan.seed):
                await trio.sleep_until(self._began + fault.at_seconds)
                if self.enough.is_set():
                    return
                self.happened.append(fault)
                if fault.kind == "slow readers":
                    for _ in range(SLOW_READERS):
                        nursery.start_soon(self._read_nothing)
                    continue
                with self.weather.storm():
                    await self._fail(fault)

    async def _fail(self, fault: Fault) -> None:
        if fault.kind == "server":
            await self.server.kill()
        elif fault.kind == "database":
            await self.server.kill_database()
        else:
            for one in self._sockets:
                one.drop()

    async def _read_nothing(self) -> None:
        """Open a socket that watches a busy room and reads nothing, until the service closes it, or we do."""
        room = self._rng.choice(self._scene.rooms)
        target = "/v1/social/live?channels=conversation:" + room.id
        try:
            sock, _ = await upgrade(self._place.address, self._place.host, target, room.members[0].token)
        except (OSError, UpgradeRefused):
            return
        with sock:
            await trio.sleep(SLOW_SECONDS)
        self.books.sockets["took nothing"] += 1

    # The looks.

    async def _look_again_and_again(self) -> None:
        at = self._began
        while True:
            at += self.plan.look_seconds
            await trio.sleep_until(at)
            sample = await trio.to_thread.run_sync(look, self.server.pid, trio.current_time() - self._began)
            if sample is not None:
                self.samples.append(sample)

    async def _tell_again_and_again(self) -> None:
        while True:
            await trio.sleep_until(self._told_at + self.plan.stretch_seconds)
            await self._tell()

    async def _tell(self) -> None:
        """Print the line of the stretch since the last one."""
        now = trio.current_time()
        seconds, self._told_at = now - self._told_at, now
        kinds = self.books.turn_over()
        found = await self._held()
        kept = None if found is None else sum(one.size_bytes for one in found.values())
        last = self.samples[-1] if self.samples and self.samples[-1].pid == self.server.pid else None
        errors, weathered = (sum(one.values()) for one in (self.books.errors, self.books.weathered))
        self.say(stretch_line(Stretch(now - self._began, seconds, kinds, last, kept, errors, weathered)))

    async def _held(self) -> dict[str, Held] | None:
        """What the database holds, by domain; None while it is away."""
        try:
            async with reach(read_config({"PARTYLINE_DATA_DIR": str(self.server.data_dir)})) as reached:
                return await reached.database.read(held)
        except PersistenceError:
            return None

    async def _gauges(self) -> dict[str, float]:
        """The server's metrics of its memory; empty where it does not answer."""
        try:
            text = await self._asker.read("operating/metrics", "GET", "/metrics", self._scene.root.token)
        except NotDone:
            return {}
        return gauges_of(text.decode())

    async def _judge(self) -> Verdict:
        verdicts = []
        for room in self._scene.rooms:
            try:
                messages = await stored(self._asker, room)
            except NotDone:
                self.failures.append(f"conversation {room.id} could not be read")
                continue
            verdicts.append(judge(messages, [one for one in self._writers if one.room == room]))
        return Verdict.of_all(verdicts)


def folder_of(path: Path) -> Path:
    """Make a folder, where it is missing, so that PostgreSQL's user can reach it; returns it."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o755)
    return path
