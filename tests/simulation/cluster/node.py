"""One life of a node among others: its store, its links, its membership and its actors, as the service opens them."""

from contextlib import suppress
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import trio

from actors.kernel.directory import System
from actors.kernel.nodes.far import Far
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.links import TICK_SECONDS
from actors.kernel.nodes.membership import Membership
from actors.kernel.nodes.ownership import Ownership
from actors.kernel.nodes.parting import part_with
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.renewals import ROW_SECONDS
from actors.kernel.opening import open_system
from persistence.errors import NodeEnded, PersistenceError
from tests.kernel.ledger import KIND
from tests.nodes.play import peers_of
from tests.simulation.store import SimulatedStore
from tests.support.bus import SimulatedBus

if TYPE_CHECKING:
    from tests.simulation.cluster.world import World

HEAR_SECONDS = 30.0
"""How long a start waits for the others, as in the service."""

BOW_OUT_SECONDS = 10.0

LEAVE_SECONDS = 5.0

IDLE_SECONDS = 3.0


class StoppableStore(SimulatedStore):
    """A store whose process may stand still: what it has begun goes on when it is thawed."""

    thawed: trio.Event | None = None

    async def _pause(self) -> None:
        if self.thawed is not None:
            await self.thawed.wait()
        await super()._pause()


class End:
    """The bus as one life of a node sees it.

    Args:
        bus: with all nodes.
        name: of this one.
    """

    def __init__(self, bus: SimulatedBus, name: str) -> None:
        self.is_dead = False
        self.is_frozen = False
        self._bus = bus
        self._name = name
        self._held: list[tuple[str | None, bytes]] = []
        self._take = lambda data: None

    def join(self, peers: Peers) -> None:
        """Have what comes given to the links of this life."""
        self._take = peers.links.take
        self._bus.join(self._name, self._hear)

    def takes(self, _node: str) -> bool:
        return True

    def publish(self, node: str, data: bytes) -> None:
        if self.is_frozen:
            self._held.append((node, data))
        elif not self.is_dead:
            self._bus.send(self._name, node, data)

    def thaw(self) -> None:
        """Let go what was held in both directions."""
        self.is_frozen = False
        held, self._held = self._held, []
        for node, data in held:
            if node is None:
                self._hear(data)
            else:
                self.publish(node, data)

    def _hear(self, data: bytes) -> None:
        if self.is_frozen:
            self._held.append((None, data))
        elif not self.is_dead:
            self._take(data)


class ClusterNode:
    """See the module.

    Args:
        world: where it lives.
        name: which other lives may have had before it.

    Attributes:
        alive: clients hear its answers.
        ready: it serves.
        leaving: it is to end in order.
        over: it has ended, or was killed.
    """

    system: System
    membership: Membership
    clients: trio.Nursery

    def __init__(self, world: "World", name: str) -> None:
        self.name = name
        self.alive = True
        self.scope = trio.CancelScope()
        self.ready = trio.Event()
        self.leaving = trio.Event()
        self.over = trio.Event()
        self.end = End(world.bus, name)
        self.store = StoppableStore(world.tables, world.rng, world.weather, partial(world.note, name))
        self._world = world

    @property
    def serves(self) -> bool:
        """Whether clients find it."""
        return self.alive and self.ready.is_set() and not self.leaving.is_set()

    async def run(self) -> None:
        """Live until told to leave, killed, or declared dead."""
        with self.scope:
            try:
                await self._live()
            except* PersistenceError as failures:
                self._world.note(self.name, "ends", repr(_first(failures)))
        self.alive = False
        self.end.is_dead = True
        self.store.die()
        self.over.set()

    def kill(self) -> None:
        """The process is gone from one moment to the next."""
        self.alive = False
        self.end.is_dead = True
        self.store.die()
        self.scope.cancel()
        self.over.set()

    def freeze(self) -> None:
        """The process stands still: neither the database nor other nodes hear of it, nor does it hear anything."""
        if self.store.thawed is None:
            self.store.thawed = trio.Event()
            self.end.is_frozen = True

    def thaw(self) -> None:
        """It goes on with what it had begun."""
        if self.store.thawed is not None:
            self.store.thawed.set()
            self.store.thawed = None
            self.end.thaw()

    async def _live(self) -> None:
        async with trio.open_nursery() as writing:
            writing.start_soon(self.store.run)
            number = await self.store.transact(self._world.members.join, self.name, ROW_SECONDS)
            await self._be_member(number)
            writing.cancel_scope.cancel()

    async def _be_member(self, number: int) -> None:
        """As `routes/joining.py` has it, with the actors inside."""
        self.membership = membership = Membership(
            self.store, Life(self.name, number), rows=self._world.members, now=self._world.seconds
        )
        peers = self._link(membership)
        async with trio.open_nursery() as nursery:
            try:
                nursery.start_soon(peers.links.keep)
                await membership.renew()
                nursery.start_soon(membership.keep)
                if missing := await membership.wait_heard(HEAR_SECONDS):
                    raise NodeEnded(f"does not hear {sorted(missing)}")
                await self._act(membership, peers, nursery)
            finally:
                nursery.cancel_scope.cancel()
                with trio.move_on_after(LEAVE_SECONDS, shield=True), suppress(PersistenceError):
                    await membership.leave()

    async def _act(self, membership: Membership, peers: Peers, nursery: trio.Nursery) -> None:
        world = self._world
        async with open_system(
            self.store,
            world.clock,
            kinds=[KIND],
            placement=membership.where,
            rng=Random(membership.life.number),
            journal=world.tables,
            ask_seconds=world.ask_seconds,
            idle_seconds=IDLE_SECONDS,
            far=Far(membership.where, peers, nursery.start_soon, world.ask_seconds),
        ) as self.system:
            peers.listen()
            ownership = Ownership(self.store, membership, rows=world.members)
            await ownership.rise(partial(part_with, self.system), nursery.start_soon)
            await self._serve(membership, ownership)

    def _link(self, membership: Membership) -> Peers:
        peers = peers_of(
            membership.life,
            self.end,
            lambda node: membership.failed(f"something that {node} has told is lost"),
        )
        membership.link(peers)
        self.end.join(peers)
        return peers

    async def _serve(self, membership: Membership, ownership: Ownership) -> None:
        async with trio.open_nursery() as self.clients:
            self._world.note(self.name, "serves", membership.life.number)
            self.ready.set()
            try:
                await self.leaving.wait()
                with trio.move_on_after(BOW_OUT_SECONDS):
                    await ownership.step_down(partial(part_with, self.system))
                    while not membership.peers.has_been_heard:  # noqa: ASYNC110 - links tell nobody
                        await trio.sleep(TICK_SECONDS)
            finally:
                self.leaving.set()
                self.clients.cancel_scope.cancel()


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first: BaseException = failures
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
