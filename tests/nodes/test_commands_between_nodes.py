"""A game server asks for its commands at a node that does not have it, with as much pending as a page takes."""

from itertools import count

import pytest
import trio

from actors.connect.rules_commands import MAX_BYTES
from actors.pages import MAX_PAGE_BYTES
from persistence.connect.servers import KIND
from persistence.nodes.shards import shard_of
from tests.connect.play import GameServer, claimed
from tests.support.cluster import Cluster
from tests.support.world import Player

pytestmark = pytest.mark.slow

LARGEST = {"x": "y" * (MAX_BYTES - len('{"x":""}'))}

A_PAGE = MAX_PAGE_BYTES // MAX_BYTES


async def _servers(cluster: Cluster, owner: Player, many: int) -> list[GameServer]:
    """So many game servers of node `b`, as they ask node `a`; each with a page of commands."""
    a, b = cluster.worlds["a"], cluster.worlds["b"]
    found: list[GameServer] = []
    for number in count():
        server = await claimed(b, owner, f"S{number}")
        if shard_of(KIND, server.id) in b.service.placement.held():
            for _ in range(A_PAGE):
                body = {"action": "go", "payload": LARGEST, "ttlSeconds": 3600}
                await owner.do("POST", f"{server.path}/commands", body, status=201)
            found.append(server.at(a))
        if len(found) == many:
            return found
    raise AssertionError


async def test_a_full_page_is_taken_wherever_it_is_asked_for(cluster: Cluster) -> None:
    (server,) = await _servers(cluster, await cluster.worlds["b"].player("Ann"), 1)
    taken = (await server.get(f"{server.path}/commands"))["items"]
    assert [command["payload"] for command in taken] == [LARGEST] * A_PAGE


async def test_many_full_pages_at_once_are_all_taken(cluster: Cluster) -> None:
    """More than a link holds, and no node ends by it."""
    servers = await _servers(cluster, await cluster.worlds["b"].player("Ann"), 10)
    taken: list[int] = []

    async def take(server: GameServer) -> None:
        taken.append(len((await server.get(f"{server.path}/commands"))["items"]))

    async with trio.open_nursery() as nursery:
        for server in servers:
            nursery.start_soon(take, server)
    assert taken == [A_PAGE] * len(servers)
