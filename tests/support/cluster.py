"""Several nodes of one service: on one database, with the same keys, joined by a NATS server. Each is a world of its
own in this process, so that a test can ask one node and look into another.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from routes.domain import Domain
from routes.domains import DOMAINS
from tests.support.in_turn import settled
from tests.support.nats import NatsServer, running_nats
from tests.support.world import Player, World, open_world


class Cluster:
    """Nodes by name, in the order in which they were added. Each runs in a task of its own, so that it may be removed
    at any time.

    Args:
        database_url: the address of the database that they share.
        folder: the folder for all their files; those that they share lie in `shared`.
        nats: the NATS server that joins them.
        nursery: runs their tasks.
        settings: settings of all nodes, {field name: value}.
        domains: what they serve.
    """

    def __init__(
        self,
        database_url: str,
        folder: Path,
        nats: NatsServer,
        nursery: trio.Nursery,
        settings: Mapping[str, str],
        *,
        domains: tuple[Domain, ...] = DOMAINS,
    ) -> None:
        self.worlds: dict[str, World] = {}
        self._settings = settings
        self._domains = domains
        self._database_url = database_url
        self._folder = folder
        self._nats = nats
        self._nursery = nursery
        self._ends: dict[str, tuple[trio.Event, trio.Event]] = {}  # {name: (stop it, it has stopped)}

    async def add(self, name: str) -> World:
        """Start one more node, and wait until it serves."""
        world: World = await self._nursery.start(self._run, name)
        self.worlds[name] = world
        return world

    async def _run(self, name: str, task_status: trio.TaskStatus[World]) -> None:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        go, gone = self._ends[name] = trio.Event(), trio.Event()
        try:
            async with open_world(
                self._database_url,
                folder,
                shared_dir=str(self._folder / "shared"),
                nats_url=self._nats.url,
                edge="lean",
                clock=None,
                domains=self._domains,
                **{"rate_limits": "off", **self._settings},
            ) as world:
                task_status.started(world)
                await go.wait()
        finally:
            gone.set()

    async def remove(self, name: str) -> None:
        """Stop a node, without handing its shards over to others before."""
        del self.worlds[name]
        go, gone = self._ends.pop(name)
        go.set()
        await gone.wait()

    async def close(self) -> None:
        """Stop all nodes, the newest first."""
        for name in reversed(list(self.worlds)):
            await self.remove(name)

    async def settle(self) -> None:
        """Wait until every shard has an owner, and each node its share, as all of them know."""
        await settled([world.service for world in self.worlds.values()])

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
    database_url: str,
    folder: Path,
    nats: NatsServer,
    *names: str,
    domains: tuple[Domain, ...] = DOMAINS,
    **settings: str,
) -> AsyncIterator[Cluster]:
    """A cluster of nodes with these names, each with its share of the shards; without rate limits unless the settings
    say so.

    Args:
        domains: what they serve.
    """
    async with trio.open_nursery() as nursery:
        cluster = Cluster(database_url, folder, nats, nursery, settings, domains=domains)
        for name in names:
            await cluster.add(name)
        await cluster.settle()
        yield cluster
        await cluster.close()


@pytest.fixture
async def cluster(database_url: str, tmp_path: Path, nats: NatsServer) -> AsyncIterator[Cluster]:
    """Two nodes, `a` and `b`."""
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        yield cluster
