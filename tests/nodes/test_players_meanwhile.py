"""A player who joins a game server of another node while memory reads who is on it stays there."""

from pathlib import Path

import pytest

from persistence.nodes.shards import shard_of
from routes.connect.parts import GAME_SERVERS
from routes.connect.reactions import PlayersOn
from tests.connect.play import GameServer, claimed
from tests.support.cluster import Cluster, open_cluster
from tests.support.losing import proxy, settled
from tests.support.nats import NatsServer
from tests.support.proxy import Proxy
from tests.support.waiting import wait_until

__all__ = ["proxy"]

pytestmark = pytest.mark.slow

EXECUTE = b"E\0\0\0\t\0"


async def _server_of(cluster: Cluster, name: str) -> GameServer:
    """A game server that lives on this node."""
    world = cluster.worlds[name]
    owner = await world.player("Owner")
    kind = world.service.of(GAME_SERVERS).server.name
    while True:
        server = await claimed(world, owner)
        if shard_of(kind, server.id) in world.service.placement.held():
            return server


async def test_what_is_heard_while_sessions_are_read_is_newer(
    proxy: Proxy, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(proxy.url, tmp_path, nats, "a", "b") as cluster:
        a, b = cluster.worlds.values()
        server, ben = await _server_of(cluster, "b"), await b.player("Ben")
        playing = a.service.of(GAME_SERVERS).playing

        async def is_there() -> bool:
            return playing.session_of(ben.id, server.id) is not None

        has_read = proxy.hold_at(EXECUTE, after=b"ORDER BY expires_at_ms, id")
        a.service.reconciler.add(PlayersOn(server.id))
        await has_read.wait()
        await server.seat(ben)
        await wait_until(is_there)
        proxy.let_go()
        await settled(a)
        assert await is_there()
