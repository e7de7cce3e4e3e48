"""What one user, or one network, can have: exact also where two requests cross on different nodes."""

from collections.abc import Awaitable, Callable
from functools import partial

import httpx2
import pytest
import trio

from actors.connect.room import MAX_OWNED
from actors.networks.units_networks import MAX_SERVERS
from persistence.connection import Connection
from persistence.nodes.shards import shard_of
from tests.connect.play import SERVERS, GameServer, fill, register
from tests.networks.play import NETWORKS, network
from tests.support.cluster import Cluster
from tests.support.locks import held_up
from tests.support.waiting import wait_until
from tests.support.world import World

pytestmark = pytest.mark.slow

Ask = Callable[[], Awaitable[httpx2.Response]]


async def of(cluster: Cluster, name: str) -> GameServer:
    """A server that nobody has claimed, and whose actor lives on a node."""
    world = cluster.worlds[name]
    held = world.service.placement.held()
    while shard_of("server", (server := await register(world)).id) not in held:
        pass
    return server


async def crossing(world: World, table: str, key: str, id: str, *asks: Ask) -> list[httpx2.Response]:
    """The answers of requests all of which have found room before one of them is committed: what they write refers to a
    row, and that cannot be referred to until then.
    """
    database = world.service.database
    answers: list[httpx2.Response] = []

    async def ask(one: Ask) -> None:
        answers.append(await one())

    async def at_once() -> None:
        async with trio.open_nursery() as nursery:
            for one in asks:
                nursery.start_soon(ask, one)

    async def all_wait() -> bool:
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        return bool(await database.read(lambda conn: conn.fetchval(waiting)) >= len(asks))

    async def hold(conn: Connection) -> None:
        await conn.execute(f"SELECT FROM {table} WHERE {key} = $1 FOR UPDATE", id)

    await held_up(database, hold, at_once, partial(wait_until, all_wait))
    return answers


def one_was_refused(answers: list[httpx2.Response], most: int) -> None:
    done, refused = sorted(answers, key=lambda answer: answer.status_code)
    assert done.status_code in (200, 201)
    problem = refused.json()
    assert (problem["status"], problem["code"], problem["meta"]) == (422, "QUOTA_EXCEEDED", {"max": most})


@pytest.mark.parametrize("other", ["claim", "join"])
async def test_the_last_server_of_a_user(cluster: Cluster, database_url: str, other: str) -> None:
    here = cluster.worlds["a"]
    ann = await here.player("Ann")
    net = await network(ann)
    fill(database_url, ann, MAX_OWNED - 1)

    async def claim(name: str) -> Ask:
        server = await of(cluster, name)
        return partial(cluster.at(ann, name).ask, "POST", f"{SERVERS}/claim", {"claimKey": server.claim_key})

    join = {"joinToken": await net.token(), "name": "Node"}
    nobody = cluster.worlds["b"].nobody()
    second = await claim("b") if other == "claim" else partial(nobody.ask, "POST", f"{NETWORKS}/join", join)
    one_was_refused(await crossing(here, "users", "id", ann.id, await claim("a"), second), MAX_OWNED)
    assert len((await ann.get(SERVERS))["items"]) == MAX_OWNED


async def test_the_last_server_of_a_network(cluster: Cluster, database_url: str) -> None:
    here = cluster.worlds["a"]
    ann = await here.player("Ann")
    net = await network(ann)
    servers = {name: await of(cluster, name) for name in cluster.worlds}
    for server in servers.values():
        await ann.do("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}, status=200)
    fill(database_url, ann, MAX_SERVERS - 1, net.id)
    asks = [
        partial(cluster.at(ann, name).ask, "PATCH", server.path, {"networkId": net.id})
        for name, server in servers.items()
    ]
    one_was_refused(await crossing(here, "networks", "network_id", net.id, *asks), MAX_SERVERS)
