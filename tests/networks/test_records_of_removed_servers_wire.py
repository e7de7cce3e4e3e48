"""The DNS records of a game server go with it, in whichever way it goes."""

from functools import partial
from typing import Any

import pytest

from actors.networks import units_gateway_routes
from actors.networks.record_hosts import RecordHosts
from persistence.connect import servers
from persistence.connection import Connection
from persistence.networks.rows import RouteRow
from routes.connect.jobs import SILENT_MS
from routes.networks.automation import BATCH_TASKS
from routes.networks.name_service import NAME_SERVICE
from tests.connect.play import GameServer, claimed
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Net, Place, network
from tests.support.jobs import clean_connect
from tests.support.locks import crossed
from tests.support.world import Player
from tests.users.play import erase


async def _provided(place: Place, ann: Player) -> Net:
    """A network with a verified domain and a DNS provider."""
    sky = await network(ann)
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.1"]
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await place.verified(sky, "example.com")
    return sky


async def _routed(place: Place, sky: Net, host: str, **more: object) -> GameServer:
    """A server of the network, with a route whose records the provider has."""
    server = await claimed(place.world, sky.owner, host, **more)
    await sky.owner.do("PATCH", server.path, {"networkId": sky.id}, status=200)
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565}
    await server.do("PUT", f"{server.path}/gateway-route", body, status=200)
    assert place.cloudflare.contents("A", host) == ["192.0.2.1"]
    return server


async def _tick(place: Place) -> None:
    await place.world.service.of(NAME_SERVICE).automation.tick()


async def test_a_server_that_is_removed_leaves_no_records(place: Place):
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    gone, _ = await _routed(place, sky, "a.example.com"), await _routed(place, sky, "b.example.com")
    await ann.do("DELETE", gone.path, status=204)
    await _tick(place)
    assert place.cloudflare.contents("A", "a.example.com") == []
    assert place.cloudflare.contents("A", "b.example.com") == ["192.0.2.1"]


async def test_a_temporary_server_that_has_fallen_silent_leaves_none(place: Place):
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    await _routed(place, sky, "a.example.com", tempInstance=True)
    place.world.clock.advance(SILENT_MS + 1)
    for _ in range(2):  # what another node has heard of it counts once more
        await clean_connect(place.world)
    await _tick(place)
    assert place.cloudflare.contents("A", "a.example.com") == []


async def test_an_owner_who_is_erased_leaves_none(place: Place):
    """They go before the token that can remove them."""
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    for host in ("a.example.com", "b.example.com"):
        await _routed(place, sky, host)
    await erase(place.world, ann)
    for host in ("a.example.com", "b.example.com"):
        assert place.cloudflare.contents("A", host) == []


async def _queue(conn: Connection, network_id: str, count: int) -> None:
    await conn.execute(
        "INSERT INTO network_dns_tasks (network_id, type, name, content, due_at_ms)"
        " SELECT $1, 'A', n || '.example.com', NULL, 0 FROM generate_series(1, $2::int) AS n",
        network_id,
        count,
    )


async def test_more_records_than_one_batch_go_with_their_owner(place: Place):
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    await _routed(place, sky, "a.example.com")
    await place.world.service.database.transact(_queue, sky.id, BATCH_TASKS + 1)
    await erase(place.world, ann)
    assert place.cloudflare.contents("A", "a.example.com") == []


@pytest.mark.parametrize("wrong", ["500", "refuse"])
async def test_a_provider_that_refuses_keeps_nobody(place: Place, wrong: str):
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    await _routed(place, sky, "a.example.com")
    place.cloudflare.wrong = wrong
    await erase(place.world, ann)
    assert await ann.refused("GET", sky.path) == (401, "UNAUTHENTICATED")


async def test_a_route_that_is_put_meanwhile_leaves_none(place: Place):
    """Whoever removes the server waits until the route is there."""
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    server = await claimed(place.world, ann)
    await ann.do("PATCH", server.path, {"networkId": sky.id}, status=200)
    database, now_ms = place.world.service.database, place.world.clock.now_ms()
    row = RouteRow(
        server_id=server.id, route_host="a.example.com", backend_host="10.0.0.5", backend_port=1,
        proxy_protocol=False, created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip
    hosts = RecordHosts("gw.partyline.test", None)

    async def put(conn: Connection) -> None:
        await units_gateway_routes.put(conn, row, None, hosts, now_ms)

    async def remove(conn: Connection) -> None:
        await units_gateway_routes.remove_of_servers(conn, [server.id], None, now_ms)
        await servers.remove(conn, [server.id])

    await crossed(database, put, _nothing, partial(database.transact, remove))
    assert await database.read(_tasks) == [("a.example.com", None)]


async def _nothing(_conn: Connection) -> None: ...


async def _tasks(conn: Connection) -> list[Any]:
    return [
        tuple(row) for row in await conn.fetch("SELECT name, content FROM network_dns_tasks WHERE type = 'A'")
    ]
