"""Several nodes of one service: on one database, with the same keys, joined by a NATS server. Each is a world of its
own in this process, so that a test can ask one node and look into another.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.support.nats import NatsServer, running_nats
from tests.support.waiting import wait_until
from tests.support.world import Player, World, open_world


class Cluster:
    """Nodes by name, in the order in which they came.

    Args:
        database_url: of the database that they share.
        folder: for all their files; what they share lies in `shared`.
        nats: which joins them.
    """

    def __init__(self, database_url: str, folder: Path, nats: NatsServer) -> None:
        self.worlds: dict[str, World] = {}
        self._database_url = database_url
        self._folder = folder
        self._nats = nats
        self._stacks: dict[str, AsyncExitStack] = {}

    async def add(self, name: str) -> World:
        """Start one more node, and wait until it serves."""
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        stack = self._stacks[name] = AsyncExitStack()
        self.worlds[name] = world = await stack.enter_async_context(
            open_world(
                self._database_url,
                folder,
                shared_dir=str(self._folder / "shared"),
                nats_url=self._nats.url,
            )
        )
        return world

    async def remove(self, name: str) -> None:
        """Stop a node as a signal does."""
        del self.worlds[name]
        await self._stacks.pop(name).aclose()

    async def close(self) -> None:
        """Stop all nodes, the newest first."""
        for name in reversed(list(self.worlds)):
            await self.remove(name)

    def counts(self) -> list[int]:
        """How many shards each node holds."""
        return [len(world.service.placement.held()) for world in self.worlds.values()]

    async def settle(self) -> None:
        """Wait until every shard has an owner, and each node its share, as all of them know."""
        await wait_until(self._is_settled)

    async def _is_settled(self) -> bool:
        counts = self.counts()
        nodes = [world.service.node for world in self.worlds.values()]
        known = [dict(node.membership.where.counts()) for node in nodes if node is not None]
        return (
            sum(counts) == 1_040 and max(counts) - min(counts) <= 2 and all(one == known[0] for one in known)
        )

    def at(self, player: Player, name: str) -> Player:
        """The same person, as a client of another node."""
        return Player(self.worlds[name], player.id, player.name, player.token)


@pytest.fixture(scope="module")
def nats() -> Iterator[NatsServer]:
    """A NATS server for the module."""
    with running_nats() as server:
        yield server


@asynccontextmanager
async def open_cluster(
    database_url: str, folder: Path, nats: NatsServer, *names: str
) -> AsyncIterator[Cluster]:
    """A cluster of nodes with these names, each with its share."""
    cluster = Cluster(database_url, folder, nats)
    try:
        for name in names:
            await cluster.add(name)
        await cluster.settle()
        yield cluster
    finally:
        await cluster.close()


@pytest.fixture
async def cluster(database_url: str, tmp_path: Path, nats: NatsServer) -> AsyncIterator[Cluster]:
    """Two nodes, `a` and `b`."""
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        yield cluster
