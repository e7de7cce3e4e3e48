"""The world of one run: tables, a bus, nodes that are started again when they end, clients that send and that watch."""

from random import Random
from typing import Any

import trio

from actors.errors import Elsewhere, Overloaded, Refused
from actors.kernel.mailbox import Answer
from actors.kernel.supervisor import Fault
from persistence.errors import OutcomeUnknown, PersistenceError
from persistence.journal.turn import Receipt
from tests.kernel import ledger
from tests.kernel.ledger import KIND, ROWS
from tests.simulation.cluster.clients import Deposit, Watcher
from tests.simulation.cluster.member_rows import MemberRows
from tests.simulation.cluster.node import ClusterNode
from tests.simulation.cluster.plants import Plant
from tests.simulation.requests import fate_of
from tests.simulation.store import CALM, Weather
from tests.simulation.tables import Tables
from tests.simulation.world import SimulatedClock
from tests.support.bus import SimulatedBus

LEDGERS = ("l0", "l1", "l2", "l3", "l4")

ASK_SECONDS = 5.0

RESTART_SECONDS = 1.0
"""Between the end of a node and its next life, as a supervisor of processes takes it."""

HOPS_MAX = 3
"""How often a request is passed on while its owner moves."""


class World:
    """See the module.

    Args:
        seed: of everything that is drawn.
        plant: a fault that is to be found.
        nursery: where the run's tasks live.

    Attributes:
        slept_seconds: for how long all machines have slept.
        set_seconds: by how much the database's clock was set forward.
        healed: (what was done to whom, seconds until every ledger took something again).
    """

    ask_seconds = ASK_SECONDS

    def __init__(self, seed: int, plant: Plant, nursery: trio.Nursery) -> None:
        self.rng = Random(seed)
        self.plant = plant
        self.nursery = nursery
        self.trace: list[tuple[Any, ...]] = []
        self.clock = SimulatedClock()
        self.slept_seconds = 0.0
        self.set_seconds = 0.0
        self.tables = plant.tables(lambda: self.seconds() + self.set_seconds)
        self.members: MemberRows = plant.members(self.tables)
        self.bus = SimulatedBus(Random(seed + 1))
        self.weather: Weather = CALM
        self.nodes: dict[str, ClusterNode] = {}
        self.wanted: set[str] = set()
        self.away_until: dict[str, float] = {}
        self.deposits: list[Deposit] = []
        self.watchers: list[Watcher] = []
        self.told = dict.fromkeys(LEDGERS, 0)
        self.healed: list[tuple[str, float]] = []
        self.wrong: list[str] = []

    def seconds(self) -> float:
        """The machines' seconds, which go on while they sleep; trio's stand still meanwhile."""
        return trio.current_time() + self.slept_seconds

    def note(self, *facts: object) -> None:
        """Write a line of the trace."""
        self.trace.append((f"{trio.current_time():.3f}", *facts))

    async def found(self) -> None:
        """The ledgers are there before anybody comes."""
        for id in LEDGERS:
            await ROWS.create(self.tables, id)

    # -- nodes

    @property
    def serving(self) -> list[ClusterNode]:
        """The nodes that clients find."""
        return [node for node in self.nodes.values() if node.serves]

    def want(self, name: str) -> None:
        """Have a node run from now on, and begin again whenever it has ended."""
        if name not in self.wanted:
            self.wanted.add(name)
            self.nursery.start_soon(self._keep, name)

    async def _keep(self, name: str) -> None:
        while name in self.wanted:
            node = self.nodes[name] = ClusterNode(self, name)
            node.store.away_until = self.away_until.get(name, 0.0)
            self.nursery.start_soon(node.run)
            await node.over.wait()
            for watcher in self.watchers:
                if watcher.node is node:
                    watcher.node = watcher.subscription = None
            await trio.sleep(RESTART_SECONDS)
        del self.nodes[name]

    # -- clients that send

    def deposit(self, id: str, *, keyed: bool = False, avoiding: str = "") -> Deposit:
        """A client puts 1 into a ledger, by way of any node but one."""
        deposit = Deposit(len(self.deposits), id, keyed, avoiding)
        deposit.after = self.told[id]
        self.deposits.append(deposit)
        self.send(deposit)
        return deposit

    def send(self, deposit: Deposit) -> None:
        """Send it to any node; one that does not come to one is as good as refused."""
        serving = [node for node in self.serving if node.name != deposit.avoids] or self.serving
        if not serving:
            deposit.fate = "unknown" if deposit.doubtful else "not"
            deposit.heard.set()
            return
        node = self.rng.choice(serving)
        deposit.attempts.append(f"d{deposit.number}.{len(deposit.attempts)}")
        deposit.fate = "waiting"
        node.clients.start_soon(self._ask, deposit, node)

    async def _ask(self, deposit: Deposit, node: ClusterNode) -> None:
        answer = Answer(None, OutcomeUnknown("cut off"))
        try:
            answer = await self._try(deposit, node, HOPS_MAX)
        finally:
            self._hear(deposit, node.name, answer if node.alive else Answer(None, OutcomeUnknown("cut off")))

    async def _try(self, deposit: Deposit, node: ClusterNode, hops: int) -> Answer:
        command = ledger.Deposit(deposit.attempts[-1], 1)
        try:
            if not await node.membership.where.wait_sure():  # as the pipeline refuses it
                return Answer(None, Overloaded())
            if not deposit.keyed:
                return Answer(await node.system.ask(KIND, deposit.id, command), None)
            if (kept := await node.store.read(_receipt, deposit.key)) is not None:
                return Answer(int(kept.reply), None)
            receipt = deposit.receipt
            return Answer(
                await node.system.ask(KIND, deposit.id, command, receipt=receipt, passed_on=True), None
            )
        except Elsewhere as elsewhere:
            return await self._pass_on(deposit, self.nodes.get(elsewhere.node), hops)
        except (Refused, PersistenceError, Fault) as error:
            return Answer(None, error)

    async def _pass_on(self, deposit: Deposit, other: ClusterNode | None, hops: int) -> Answer:
        """The whole request goes to the node that has the owner, as `routes/passing_on.py` has it."""
        if other is None or not other.serves or not hops:
            return Answer(None, Overloaded())
        answers: list[Answer] = []
        done = trio.Event()

        async def answer() -> None:
            try:
                answers.append(await self._try(deposit, other, hops - 1))
            finally:
                done.set()

        other.clients.start_soon(answer)
        with trio.move_on_after(ASK_SECONDS + 1):
            await done.wait()
        return answers[0] if answers and other.alive else Answer(None, OutcomeUnknown("no answer"))

    def _hear(self, deposit: Deposit, node: str, answer: Answer) -> None:
        fate = fate_of(answer)
        deposit.doubtful |= fate == "unknown"
        deposit.fate = "unknown" if fate in ("not", "refused") and deposit.doubtful else fate
        why = "" if answer.error is None else type(answer.error).__name__
        self.note(node, deposit.attempts[-1], deposit.id, deposit.fate, why or answer.reply)
        if fate == "done":
            deposit.reply = answer.reply
            self._acknowledge(deposit)
            deposit.heard.set()
        elif deposit.may_repeat:
            self.nursery.start_soon(self._repeat, deposit, self.rng.randrange(1, 400) / 1000)
        else:
            deposit.heard.set()

    def _acknowledge(self, deposit: Deposit) -> None:
        """At the moment of the answer it is in the rows, as the number that the answer says."""
        entries = self.tables.rows["entries", deposit.id]
        number = deposit.reply
        if not 0 < number <= len(entries) or entries[number - 1].by not in deposit.attempts:
            self.wrong.append(f"deposit {deposit.number} is told to be {deposit.id} {number}, and is not")
        self.told[deposit.id] = max(self.told[deposit.id], number)

    async def _repeat(self, deposit: Deposit, seconds: float) -> None:
        await trio.sleep(seconds)
        self.send(deposit)

    # -- clients that watch

    def watch(self, watcher: Watcher) -> None:
        """A client watches until the end of the run; where its node goes, it comes to another."""
        self.watchers.append(watcher)
        self.nursery.start_soon(self._follow, watcher)

    async def _follow(self, watcher: Watcher) -> None:
        while True:
            if not watcher.is_watching:
                watcher.cut()
                if serving := self.serving:
                    node, done = self.rng.choice(serving), trio.Event()
                    node.clients.start_soon(self._come, watcher, node, done)
                    await done.wait()
            await trio.sleep(self.rng.randrange(200, 600) / 1000)

    async def _come(self, watcher: Watcher, node: ClusterNode, done: trio.Event) -> None:
        request = watcher.request(self.rng)
        try:
            subscription = await node.system.watch(KIND, watcher.id, request)
        except (Refused, PersistenceError, Fault) as error:
            self.note(node.name, watcher.name, type(error).__name__)
        else:
            self.note(node.name, watcher.name, request.since)
            if node.alive:
                watcher.subscription, watcher.node = subscription, node
        finally:
            done.set()

    # -- after something was done to nodes

    async def heal(self, what: str, avoiding: str = "") -> None:
        """Find out how long it takes until every ledger takes something again, by way of any node but one."""
        since = trio.current_time()
        async with trio.open_nursery() as nursery:
            for id in LEDGERS:
                nursery.start_soon(self._until_taken, id, avoiding)
        self.healed.append((what, trio.current_time() - since))
        self.note("healed", what, f"{trio.current_time() - since:.1f}")

    async def _until_taken(self, id: str, avoiding: str) -> None:
        while True:
            deposit = self.deposit(id, avoiding=avoiding)
            await deposit.heard.wait()
            if deposit.fate == "done":
                return
            await trio.sleep(0.25)


async def _receipt(tables: Tables, key: bytes) -> Receipt | None:
    return tables.receipts.get(key)
