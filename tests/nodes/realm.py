"""Several nodes with actors over one database in memory and one bus in memory, under a clock that jumps.

Who owns what is said by the test: shards are given, and taken from nodes that were killed, as `ownership.py` does it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import trio

from actors.kernel.directory import System
from actors.kernel.kind import Kind
from actors.kernel.nodes.copies import Copies
from actors.kernel.nodes.entries import Owns
from actors.kernel.nodes.far import Far
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.parting import part_with
from actors.kernel.nodes.whereabouts import Whereabouts
from actors.kernel.opening import open_system
from persistence.nodes.members import Lease
from persistence.nodes.shards import shard_of
from tests.kernel.ledger import KIND, ROWS
from tests.nodes.play import peers_of
from tests.support.bus import SimulatedBus
from tests.support.scheduling import in_order
from tests.support.simulation import SimulatedClock, Simulation, open_simulation

ASK_SECONDS = 5.0

GIVE_SECONDS = 2.0


class RealmNode:
    """One life of a node, with its actors."""

    system: System
    far: Far
    copies: Copies

    def __init__(self, realm: "Realm", life: Life) -> None:
        self.life = life
        self.scope = trio.CancelScope()
        self.gone = trio.Event()
        self.lost: list[str] = []
        self.peers = peers_of(life, realm.bus.end(life.node), self.lost.append)
        self.where = Whereabouts(life.node, lives=lambda node: node in realm.nodes, hears=self.peers.hears)
        realm.bus.join(life.node, self.peers.links.take)

    async def run(self, realm: "Realm", task_status: trio.TaskStatus[None]) -> None:
        """Live until killed."""
        with self.scope:
            async with trio.open_nursery() as nursery:

                def spawn(run: Callable[..., Any], *args: object) -> None:
                    nursery.start_soon(run, *args)

                nursery.start_soon(self.peers.links.keep)
                nursery.start_soon(self._renew, realm)
                self.far = Far(self.where, self.peers, spawn, ASK_SECONDS)
                async with open_system(
                    realm.simulation,
                    SimulatedClock(),
                    kinds=[realm.kind],
                    placement=self.where,
                    rng=Random(self.life.number),
                    journal=realm.simulation,
                    ask_seconds=ASK_SECONDS,
                    far=self.far,
                ) as self.system:
                    assert self.system.copies is not None
                    self.copies = self.system.copies
                    self.peers.listen()
                    task_status.started()
                    await trio.sleep_forever()
        self.gone.set()

    async def _renew(self, realm: "Realm") -> None:
        """Read the rows of all leases each second."""
        while True:
            await trio.sleep(1)
            leases = realm.simulation.leases
            self.where.learn({shard: Lease(owner, fence) for shard, (owner, fence) in leases.items()})
            self.where.changed()


class Realm:
    """All nodes, by name.

    Args:
        simulation: the database.
        bus: between them.
        nursery: for their tasks.
    """

    def __init__(self, simulation: Simulation, bus: SimulatedBus, nursery: trio.Nursery) -> None:
        self.simulation = simulation
        self.bus = bus
        self.kind: Kind[Any, Any] = KIND
        self.nodes: dict[str, RealmNode] = {}
        self._nursery = nursery
        self._lives = 0

    async def begin(self, name: str) -> RealmNode:
        """A life of a node begins; all others meet it."""
        self._lives += 1
        node = RealmNode(self, Life(name, self._lives))
        await self._nursery.start(node.run, self)
        for other in self.nodes.values():
            other.peers.meet(node.life)
            node.peers.meet(other.life)
        self.nodes[name] = node
        for shard, (owner, fence) in self.simulation.leases.items():
            node.where.learn({shard: Lease(owner, fence)})
        await trio.sleep(1)
        return node

    def own(self, name: str, *ids: str) -> None:
        """A node owns ledgers from now on, as all know."""
        for id in ids:
            shard = shard_of(KIND.name, id)
            fence = self.simulation.leases.get(shard, ("", 0))[1] + 1
            self.simulation.leases[shard] = (name, fence)
            for node in self.nodes.values():
                node.where.learn({shard: Lease(name, fence)})

    async def give(self, id: str, to: str) -> bool:
        """The owner of a ledger gives its shard to another node; returns False when it has no time for it."""
        shard = shard_of(KIND.name, id)
        owner, fence = self.simulation.leases[shard]
        giver = self.nodes[owner]
        giver.where.moving.add(shard)
        try:
            if shard not in await part_with(giver.system, [shard], GIVE_SECONDS):
                return False
            self.simulation.leases[shard] = (to, fence + 1)
            giver.where.learn({shard: Lease(to, fence + 1)})
            giver.peers.tell_all(Owns(to, {shard: fence + 1}))
        finally:
            giver.where.moving.discard(shard)
            giver.where.changed()
        return True

    async def kill(self, name: str, heir: str) -> None:
        """A node dies in the middle of whatever it does; after five seconds another owns what it owned."""
        node = self.nodes.pop(name)
        for other in self.nodes:
            self.bus.parted.add(frozenset((name, other)))
        owned = {shard: fence for shard, (owner, fence) in self.simulation.leases.items() if owner == name}
        for shard, fence in owned.items():
            self.simulation.leases[shard] = ("", fence + 1)
        node.scope.cancel()
        await node.gone.wait()
        await trio.sleep(5)
        for other in self.nodes.values():
            other.peers.part(name)
        for shard, fence in owned.items():
            self.simulation.leases[shard] = (heir, fence + 2)
            for other in self.nodes.values():
                other.where.learn({shard: Lease(heir, fence + 2)})
        for other in self.nodes:
            self.bus.parted.discard(frozenset((name, other)))


@asynccontextmanager
async def open_realm(
    *names: str, ledgers: int = 1, seed: int = 0, kind: Kind[Any, Any] = KIND
) -> AsyncIterator[Realm]:
    """Nodes with these names; each owns so many ledgers, `<name>0` and on, of that kind."""
    with in_order(seed):
        async with open_simulation(seed) as simulation, trio.open_nursery() as nursery:
            realm = Realm(simulation, SimulatedBus(Random(seed)), nursery)
            realm.kind = kind
            nursery.start_soon(realm.bus.carry)
            for name in names:
                await realm.begin(name)
            for name in names:
                for number in range(ledgers):
                    await ROWS.create(simulation, f"{name}{number}")
                    realm.own(name, f"{name}{number}")
            yield realm
            nursery.cancel_scope.cancel()
