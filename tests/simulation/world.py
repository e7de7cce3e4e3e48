"""The world of one run: tables, processes that serve over them, clients that send, and clients that watch.

At most two processes are there at a time: the one that owns the shards, and one that owned them and does not know yet.
"""

from functools import partial
from random import Random
from typing import Any

import msgspec
import trio

from actors.errors import Refused
from actors.kernel.mailbox import Answer
from actors.kernel.opening import open_system
from actors.kernel.placement import open_local_placement
from actors.kernel.supervisor import Fault
from actors.party.units import PartyCreation
from actors.users.presence import Presence
from persistence.errors import OutcomeUnknown, PersistenceError
from persistence.journal.turn import Receipt
from tests.simulation.attendance import Attendance
from tests.simulation.chat_reads import simulated_chat
from tests.simulation.chat_rows import KIND as CHAT
from tests.simulation.history import History
from tests.simulation.image import START_MS, USER_IDS, image
from tests.simulation.node import Node
from tests.simulation.party_history import PartyHistory
from tests.simulation.plants import Plant
from tests.simulation.requests import Request, fate_of
from tests.simulation.store import CALM, Weather
from tests.simulation.tables import Tables
from tests.simulation.viewers import Viewer

IDLE_SECONDS = 1.0

ASK_MS = 5_000

RETURNING = 0.8
"""How many of those who were connected to a process come to the next one."""

RESTART_SECONDS = 0.05
"""Until a process that could not start is started again."""


class SimulatedClock:
    """Epoch milliseconds that follow trio's mocked clock."""

    def now_ms(self) -> int:
        return START_MS + int(trio.current_time() * 1000)


class World:
    """See the module.

    Args:
        seed: of everything that is drawn.
        plant: a fault that is to be found; None for the code as it is.
        nursery: where the run's tasks live.
    """

    def __init__(self, seed: int, plant: Plant | None, nursery: trio.Nursery) -> None:
        self.rng = Random(seed)
        self.plant = plant or Plant()
        self.nursery = nursery
        self.trace: list[tuple[Any, ...]] = []
        self.clock = SimulatedClock()
        self.tables = image().copy(self.plant.tables, trio.current_time)
        self.attendance = Attendance(self.clock)
        self.history = History(self.tables)
        self.parties = PartyHistory(self.tables, self.attendance)
        self.weather: Weather = CALM
        self.nodes: list[Node] = []
        self.strays: set[str] = set()
        self.requests: list[Request] = []
        self.viewers: list[Viewer] = []
        self.wrong: list[str] = []
        self.numbered = 0
        self._started = trio.Event()

    def note(self, *facts: object) -> None:
        """Write a line of the trace."""
        self.trace.append((f"{trio.current_time():.3f}", *facts))

    # -- processes

    @property
    def owner(self) -> Node | None:
        """The newest process; None while none is there."""
        return self.nodes[-1] if self.nodes else None

    async def wait_owner(self) -> Node:
        """Return the newest process; waits where one is being stopped, which finishes its work before the next."""
        while self.owner is None:
            await self._started.wait()
        return self.owner

    def start(self, name: str) -> Node:
        """Start a process."""
        store = self.plant.store(self.tables, self.rng, self.weather, self.note)
        node = Node(name, store, simulated_chat(self.clock.now_ms), Presence(self.clock), self.strays)
        self.nodes.append(node)
        self._started.set()
        self._started = trio.Event()
        self.nursery.start_soon(self._serve, node)
        self.note("start", name)
        return node

    async def _serve(self, node: Node) -> None:
        with node.scope:
            async with trio.open_nursery() as node.clients:
                while not node.leaving.is_set():
                    try:
                        await self._live(node)
                    except* PersistenceError as failures:
                        self.note("start failed", node.name, type(failures.exceptions[0]).__name__)
                    await trio.sleep(RESTART_SECONDS)
                node.clients.cancel_scope.cancel()
        node.gone.set()

    async def _live(self, node: Node) -> None:
        """A life of a process: it writes, owns its shards, and runs actors, until it is killed."""
        async with trio.open_nursery() as writing:
            writing.start_soon(node.store.run)
            async with (
                open_local_placement(node.store, node=node.name, nodes=self.tables) as placement,
                node.remembering(self.clock),
                open_system(
                    node.store,
                    self.clock,
                    kinds=[node.kinds.conversation, node.parties.party],
                    placement=placement,
                    rng=self.rng,
                    journal=self.tables,
                    idle_seconds=IDLE_SECONDS,
                ) as node.system,
                trio.open_nursery() as jobs,
            ):
                self.attendance.began(self.tables.leases[0][1], node.since_ms)
                jobs.start_soon(node.reconcile)
                jobs.start_soon(node.attend, self.clock)
                self._return(node)
                node.ready.set()
                await node.leaving.wait()
                jobs.cancel_scope.cancel()
            writing.cancel_scope.cancel()

    def _return(self, node: Node) -> None:
        """Most of those who were online connect again; the others have gone."""
        for user_id in USER_IDS:
            if self.attendance.is_online(user_id):
                if self.rng.random() < RETURNING:
                    node.presence.opened(user_id)
                else:
                    self.attendance.moved(user_id, False)

    def kill(self, node: Node) -> None:
        """The process is gone from one moment to the next."""
        self.note("kill", node.name)
        node.alive = False
        self.nodes.remove(node)
        for viewer in self.viewers:
            if viewer.node is node:
                viewer.subscription = viewer.node = None
        node.store.die()
        node.scope.cancel()
        waiting, node.waiting = node.waiting, {}
        for request in waiting:
            self._hear(request, "unknown", b"")

    async def stop(self, node: Node) -> None:
        """Stop a process, as SIGTERM does: what it has taken it finishes, and everybody is answered."""
        if node not in self.nodes:
            return
        self.note("stop", node.name)
        self.nodes.remove(node)
        node.leaving.set()
        await node.gone.wait()
        for viewer in self.viewers:
            if viewer.node is node:
                viewer.subscription = viewer.node = None
        self.wrong += [f"{actor.id} does not leave" for actor in node.system.actors()]
        node.alive = False
        for request in node.waiting:
            if request not in node.asking:
                self.wrong.append(f"request {request.number} is not answered when its process ends")
            self._hear(request, "unknown", b"")

    # -- clients that send

    def send(self, request: Request, node: Node | None = None) -> None:
        """Send a request for the first time, or once more; its answer comes later."""
        node = node or self.owner
        if node is None or not node.ready.is_set() or not node.alive:
            request.fate = request.fate if request.doubtful else "not"
            return
        if request.what == "vote" and any(
            request.votes_as(other) for one in self.nodes for other in one.waiting
        ):
            return
        if request.what == "vote" and node is not self.owner:
            # One that changes nothing is answered without a turn, by what a process remembers that is presumed dead.
            # Where several are at work, it has yielded by then.
            self.history.doubtful_votes.add((request.about, request.user_id))
        if not request.attempts:
            self.requests.append(request)
            self.parties.sent(request)
        request.attempts.append(f"{request.number:020x}{len(request.attempts):04x}")
        request.fate, request.sent_ms = "waiting", self.clock.now_ms()
        request.after_seq = self.history.told_seq(request.id)
        node.waiting[request] = None
        if request.key is not None or self.rng.random() < 0.2:
            node.asking.add(request)
            node.clients.start_soon(self._ask, request, node)
            return
        command = request.make(request.attempts[-1])
        node.system.post(
            node.owner_of(request.kind), request.id, command, partial(self._answered, request, node)
        )

    async def _ask(self, request: Request, node: Node) -> None:
        """Ask as a request with an Idempotency-Key does: the stored answer first, and once more when it is refused."""
        patience = self.rng.choice((0.002, 9, 9, 9, 9)) if request.key is None else 9
        with trio.move_on_after(patience):
            answer = await self._try(request, node)
            self._answered(request, node, answer)
            return
        self._answered(request, node, Answer(None, OutcomeUnknown("the client has left")))

    async def _try(self, request: Request, node: Node) -> Answer:
        try:
            if request.key is not None and (kept := await node.store.read(_receipt, request.key)) is not None:
                return Answer(kept.reply, None)
            command = request.make(request.attempts[-1])
            receipt = None if request.key is None else request.receipt
            reply = await node.system.ask(node.owner_of(request.kind), request.id, command, receipt=receipt)
            return Answer(reply, None)
        except (Refused, PersistenceError, Fault) as error:
            return Answer(None, error)

    def _answered(self, request: Request, node: Node, answer: Answer) -> None:
        if not node.alive:
            return
        if request not in node.waiting:
            self.wrong.append(f"request {request.number} is answered twice")
            return
        del node.waiting[request]
        late_ms = self.clock.now_ms() - request.sent_ms - ASK_MS
        if late_ms > 0 and request.key is None:
            self.wrong.append(f"request {request.number} is answered {late_ms} ms late")
        why = "" if answer.error is None else type(answer.error).__name__
        reply = answer.reply
        self._hear(
            request, fate_of(answer), bytes(reply) if isinstance(reply, bytes | msgspec.Raw) else b"", why
        )

    def _hear(self, request: Request, fate: str, reply: bytes, why: str = "") -> None:
        self.note(request.number, request.what, request.user_id[:4], request.id[-2:], fate, why)
        request.reply = reply
        if fate == "unknown":
            request.doubtful = True
            self.history.doubtful_votes.add((request.about, request.user_id))
        request.fate = "unknown" if fate in ("not", "refused") and request.doubtful else fate
        if fate == "done":
            history = self.history if request.kind == CHAT else self.parties
            history.acknowledged(request)
        elif fate in ("unknown", "not") and request.may_repeat:
            self.nursery.start_soon(self._repeat, request, self.rng.randrange(1, 300) / 1000)

    async def _repeat(self, request: Request, seconds: float) -> None:
        await trio.sleep(seconds)
        self.send(request)

    def move(self, user_id: str, *, online: bool) -> None:
        """A user connects to the owner, or goes."""
        node = self.owner
        if node is None or not node.ready.is_set() or self.attendance.is_online(user_id) == online:
            return
        self.attendance.moved(user_id, online)
        if online:
            node.presence.opened(user_id)
        else:
            node.presence.closed(user_id)

    def found(self, creation: PartyCreation) -> None:
        """A user asks for a party of their own."""
        node = self.owner
        if node is not None and node.ready.is_set() and node.alive:
            node.clients.start_soon(node.found, creation)

    # -- clients that watch

    def come(self, viewer: Viewer) -> None:
        """A client that is cut off comes back."""
        node = self.owner
        if viewer.coming or viewer.subscription is not None or node is None or not node.ready.is_set():
            return
        viewer.coming = True
        node.clients.start_soon(self._watch, viewer, node)

    async def _watch(self, viewer: Viewer, node: Node) -> None:
        request = viewer.request(self.rng, lambda: node is self.owner)
        try:
            subscription = await node.system.watch(node.shown(viewer.shows), viewer.id, request)
        except (Refused, PersistenceError, Fault) as error:
            self.note("watch", viewer.name, type(error).__name__)
        else:
            self.note("watch", viewer.name, request.since, viewer.replays, viewer.socket.sends != [])
            if node.alive:
                viewer.subscription, viewer.node = subscription, node
        finally:
            viewer.coming = False


async def _receipt(tables: Tables, key: bytes) -> Receipt | None:
    return tables.receipts.get(key)
