"""Gateway routes: which hosts a server may have, and what DNS is told of them."""

from typing import Any

import pytest
import trio

from actors.networks import units_gateway_routes
from actors.networks.record_hosts import RecordHosts
from persistence.connection import Connection
from persistence.networks.rows import RouteRow
from tests.connect.play import claimed, register
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Place, network
from tests.support.locks import during


def _route(host: str, **more: object) -> dict[str, Any]:
    return {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565, "proxyProtocol": True, **more}


async def test_a_route_inside_a_verified_domain(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    server = await sky.server()
    path = f"{server.path}/gateway-route"
    claim = await sky.claim("example.com")
    assert await server.refused("PUT", path, _route("play.example.com")) == (409, "DOMAIN_NOT_VERIFIED")
    place.dns.txt[claim["txt"]["name"]] = [claim["txt"]["value"]]
    await ann.do("POST", sky.verify(claim), status=200)
    route = (await server.do("PUT", path, _route("Play.Example.com."), status=200))["route"]
    assert route | {"createdAt": "", "updatedAt": ""} == {
        "serverId": server.id,
        "routeHost": "play.example.com",
        "backendHost": "10.0.0.5",
        "backendPort": 25565,
        "proxyProtocol": True,
        "gatewayId": None,
        "status": "pending",
        "createdAt": "",
        "updatedAt": "",
    }
    for host in ("example.com", "a.b.example.com"):
        await server.do("PUT", path, _route(host), status=200)
    twin = "play.ex\u0430mple.com"  # with a Cyrillic a
    for host in ("badexample.com", "example.com.evil.net", "example.org", "com", twin):
        assert await server.refused("PUT", path, _route(host)) == (409, "DOMAIN_NOT_VERIFIED")
    await server.do("DELETE", path, status=204)
    assert await server.refused("DELETE", path) == (404, "NOT_FOUND")


async def test_a_verified_domain_serves_its_own_network_alone(place: Place):
    ann, bob = await place.world.players("Ann", "Bob")
    await place.verified(await network(ann), "example.com")
    for server in (await (await network(bob)).server(), await claimed(place.world, ann)):
        path = f"{server.path}/gateway-route"
        assert await server.refused("PUT", path, _route("play.example.com")) == (409, "DOMAIN_NOT_VERIFIED")


async def test_hosts_below_the_gateway_domain(place: Place):
    ann = await place.world.player("Ann")
    one, other, unclaimed = (
        await claimed(place.world, ann, "one"),
        await claimed(place.world, ann, "other"),
        await register(place.world),
    )
    host = "lobby.play.partyline.test"
    await one.do("PUT", f"{one.path}/gateway-route", _route(host), status=200)
    await one.do("PUT", f"{one.path}/gateway-route", _route(host, backendPort=1), status=200)
    taken = await other.refused("PUT", f"{other.path}/gateway-route", _route(host))
    assert taken == (409, "INVALID_STATE")
    path = f"{unclaimed.path}/gateway-route"
    assert await unclaimed.refused("PUT", path, _route("x.play.partyline.test")) == (409, "INVALID_STATE")
    path = f"{other.path}/gateway-route"
    assert await other.refused("PUT", path, _route("play.partyline.test")) == (409, "DOMAIN_NOT_VERIFIED")
    await one.do("DELETE", f"{one.path}/gateway-route", status=204)
    await other.do("PUT", path, _route(host), status=200)


@pytest.mark.parametrize(
    "change",
    [
        {"routeHost": "*.play.partyline.test"},
        {"routeHost": "127.0.0.1"},
        {"routeHost": "a b.play.partyline.test"},
        {"routeHost": ""},
        {"backendHost": "a/b"},
        {"backendHost": "fe80::1%eth0"},
        {"backendHost": "host:80"},
        {"backendPort": 0},
        {"backendPort": 65_536},
        {"proxyProtocol": "yes"},
        {"gatewayId": "../x"},
    ],
)
async def test_what_is_no_route(place: Place, change: dict[str, object]):
    ann = await place.world.player("Ann")
    server = await claimed(place.world, ann)
    body = _route("lobby.play.partyline.test") | change
    assert await server.refused("PUT", f"{server.path}/gateway-route", body) == (422, "VALIDATION_FAILED")


async def test_who_may_set_a_route(place: Place):
    ann = await place.world.player("Ann")
    one, other = await claimed(place.world, ann, "one"), await claimed(place.world, ann, "other")
    path, body = f"{one.path}/gateway-route", _route("lobby.play.partyline.test")
    assert await other.refused("PUT", path, body) == (404, "NOT_FOUND")
    assert (await ann.refused("PUT", path, body))[0] == 401
    assert (await place.world.nobody().refused("PUT", path, body))[0] == 401
    delegated = await one.delegated("server.publication.write")
    assert await delegated.refused("PUT", path, body) == (403, "FORBIDDEN")
    assert await delegated.refused("DELETE", path) == (403, "FORBIDDEN")


async def test_the_last_of_all_routes_goes_to_one_server(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(units_gateway_routes, "ROUTES_MAX", 1)
    ann = await place.world.player("Ann")
    one, other = await claimed(place.world, ann, "one"), await claimed(place.world, ann, "other")
    row = RouteRow(
        server_id=one.id, route_host="one.play.partyline.test", backend_host="10.0.0.5", backend_port=1,
        proxy_protocol=False, created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip
    hosts = RecordHosts(fixed=None, spare=None)

    async def first(conn: Connection) -> None:
        await units_gateway_routes.put(conn, row, "play.partyline.test", hosts, 0)

    async def second() -> None:
        path, body = f"{other.path}/gateway-route", _route("other.play.partyline.test")
        assert await other.refused("PUT", path, body) == (422, "QUOTA_EXCEEDED")

    await during(place.world.service.database, first, second)


async def test_of_many_servers_that_want_a_host_one_gets_it(place: Place):
    ann = await place.world.player("Ann")
    node = await network(ann)
    servers = [await node.host(f"N{number}") for number in range(12)]
    outcomes: list[int] = []

    async def put(server: Any) -> None:
        body = _route("lobby.play.partyline.test")
        outcomes.append((await server.ask("PUT", f"{server.path}/gateway-route", body)).status_code)

    async with trio.open_nursery() as nursery:
        for server in servers:
            nursery.start_soon(put, server)
    assert sorted(outcomes) == [200] + [409] * 11


async def test_a_route_makes_its_records(place: Place):
    """A records with the gateway's addresses; none where a claimed domain has its CNAME; gone with the route."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.1", "192.0.2.2"]
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await place.verified(sky, "example.com")
    server = await sky.server()
    path, stub = f"{server.path}/gateway-route", place.cloudflare
    await server.do("PUT", path, _route("one.example.com"), status=200)
    assert stub.contents("A", "one.example.com") == ["192.0.2.1", "192.0.2.2"]
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.3"]
    await server.do("PUT", path, _route("two.example.com"), status=200)
    assert stub.contents("A", "one.example.com") == []
    assert stub.contents("A", "two.example.com") == ["192.0.2.3"]
    await server.do("PUT", path, _route("example.com"), status=200)
    assert stub.contents("A", "two.example.com") == []
    assert stub.contents("A", "example.com") == []
    await server.do("PUT", path, _route("two.example.com"), status=200)
    await server.do("DELETE", path, status=204)
    assert {record["type"] for record in stub.records[ZONE]} == {"TXT", "CNAME"}


async def test_a_domain_that_passes_on_takes_its_routes_along(place: Place):
    """The former network's routes inside it end; those elsewhere stay."""
    ann, bob = await place.world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob)
    first = await place.verified(sky, "example.com")
    inside, below, elsewhere = await sky.server("a"), await sky.server("b"), await sky.server("c")
    hosts = {inside: "example.com", below: "x.example.com", elsewhere: "c.play.partyline.test"}
    for server, host in hosts.items():
        await server.do("PUT", f"{server.path}/gateway-route", _route(host), status=200)
    place.dns.txt[f"_svc.{first['domain']['domain']}"] = []
    place.world.clock.advance(7 * 24 * 3_600_000)
    bob.headers["authorization"] = f"Bearer {place.world.token(bob.id, 'Bob')}"
    await place.verified(sea, "example.com")
    for server in (inside, below):
        assert await server.refused("DELETE", f"{server.path}/gateway-route") == (404, "NOT_FOUND")
    await elsewhere.do("DELETE", f"{elsewhere.path}/gateway-route", status=204)
