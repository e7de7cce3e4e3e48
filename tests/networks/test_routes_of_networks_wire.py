"""Gateway routes end with what they stand on: the server's network, and the domain that the network has verified."""

import json
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from actors.networks import units_claims, units_gateway_routes
from actors.networks.record_hosts import RecordHosts
from actors.networks.units_claims import Lookup
from persistence.connection import Connection
from persistence.gateways import carried
from persistence.networks import domains, gateway_routes
from persistence.networks.rows import RouteRow
from persistence.schema.migrate import migrate, shipped
from routes.gateways.parts import CARRYING
from routes.networks.name_service import NAME_SERVICE
from tests.connect.play import GameServer, claimed
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Net, Place, network
from tests.support.locks import crossed
from tests.support.world import Player

WEEK_MS = 7 * 24 * 3_600_000


async def _put(server: GameServer, host: str) -> str:
    """Set a server's route; returns its path."""
    path = f"{server.path}/gateway-route"
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565}
    await server.do("PUT", path, body, status=200)
    return path


async def _carried(place: Place) -> list[str]:
    """The hosts that gateways are told of."""
    told = (await place.world.service.database.read(carried.read)).routes.get(None)
    return sorted(one["routeHost"] for one in json.loads(f"[{told or ''}]"))


async def _pass_on(place: Place, claim: Any, to: Net) -> None:
    """Have the domain of a claim be verified by another network, a week after its record was last there."""
    place.dns.txt[claim["txt"]["name"]] = []
    place.world.clock.advance(WEEK_MS)
    to.owner.headers["authorization"] = f"Bearer {place.world.token(to.owner.id, to.owner.name)}"
    await place.verified(to, claim["domain"]["domain"])


async def _verified(place: Place, net: Net, domain: str) -> Any:
    """A verified claim, as it was answered when it was made."""
    claim = await net.claim(domain)
    place.dns.txt[claim["txt"]["name"]] = [claim["txt"]["value"]]
    await net.owner.do("POST", net.verify(claim), status=200)
    return claim


async def _left(place: Place, ann: Player) -> tuple[Net, GameServer, GameServer]:
    """A network with a verified domain and a DNS provider, and two servers: inside it, and below the gateway domain."""
    sky = await network(ann)
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.1"]
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await _verified(place, sky, "example.com")
    inside, below = await sky.server("a"), await sky.server("b")
    await _put(inside, "play.example.com")
    await _put(below, "b.play.partyline.test")
    return sky, inside, below


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_route_ends_when_its_server_leaves_the_network(place: Place, elsewhere: bool):
    """Also for another network of the same owner; what lies below the gateway domain stays."""
    ann = await place.world.player("Ann")
    _, inside, below = await _left(place, ann)
    assert place.cloudflare.contents("A", "play.example.com") == ["192.0.2.1"]
    other_id = (await network(ann, "Sea")).id if elsewhere else None
    for server in (inside, below):
        await ann.do("PATCH", server.path, {"networkId": other_id}, status=200)
    assert await _carried(place) == ["b.play.partyline.test"]
    assert await inside.refused("DELETE", f"{inside.path}/gateway-route") == (404, "NOT_FOUND")
    await place.world.service.of(NAME_SERVICE).automation.tick()
    assert place.cloudflare.contents("A", "play.example.com") == []
    await below.do("DELETE", f"{below.path}/gateway-route", status=204)


async def test_gateways_are_told_at_once(place: Place):
    """Whoever waits for other routes is answered by the change itself; the look at the revision does not run here."""
    ann = await place.world.player("Ann")
    _, inside, _ = await _left(place, ann)
    carrying = place.world.service.of(CARRYING)
    known, told = await carrying.table(), []

    async def wait() -> None:
        told.append(await carrying.other_than(known.revision, 60))

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            await ann.do("PATCH", inside.path, {"networkId": None}, status=200)
    assert told[0].revision > known.revision
    assert b"play.example.com" not in told[0].answer("any")


async def test_a_change_within_the_network_ends_no_route(place: Place):
    ann = await place.world.player("Ann")
    sky, inside, _ = await _left(place, ann)
    await ann.do("PATCH", inside.path, {"isTemplate": True}, status=200)
    await ann.do("PATCH", inside.path, {"networkId": sky.id}, status=200)
    assert await _carried(place) == ["b.play.partyline.test", "play.example.com"]


async def test_whoever_leaves_before_a_domain_is_sold_keeps_no_route(place: Place):
    ann, bob = await place.world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob)
    claim = await _verified(place, sky, "example.com")
    server = await sky.server()
    await _put(server, "play.example.com")
    await ann.do("PATCH", server.path, {"networkId": None}, status=200)
    await _pass_on(place, claim, sea)
    await _put(await sea.server(), "play.example.com")


def _row(server: GameServer, host: str) -> RouteRow:
    return RouteRow(
        server_id=server.id, route_host=host, backend_host="10.0.0.5", backend_port=1, proxy_protocol=False,
        created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip


async def test_a_domain_that_passes_on_takes_along_all_that_nothing_else_covers(place: Place):
    """Whatever network a server is in, or none; a domain between that its network has verified covers it still."""
    ann, bob, cid = await place.world.players("Ann", "Bob", "Cid")
    sky, sea, sun = await network(ann), await network(bob), await network(cid)
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.1"]
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    claim = await _verified(place, sky, "example.com")
    await _verified(place, sun, "sun.example.com")
    await _put(await sun.server("covered"), "x.sun.example.com")
    await _put(await sky.server("uncovered"), "y.example.com")
    alone, foreign = await claimed(place.world, ann, "alone"), await sun.server("foreign")
    for server, host in (
        (alone, "z.example.com"),
        (foreign, "w.example.com"),
        (await sea.server(), "example.org"),
    ):
        assert await place.world.service.database.transact(gateway_routes.put, _row(server, host))
    await _pass_on(place, claim, sea)
    assert await _carried(place) == ["example.org", "x.sun.example.com"]
    await place.world.service.of(NAME_SERVICE).automation.tick()
    assert place.cloudflare.contents("A", "y.example.com") == []


async def _nothing(_conn: Connection) -> None: ...


async def test_a_domain_cannot_pass_on_between_the_check_and_the_route(place: Place):
    """Whoever verifies it meanwhile waits until the route is stored, and ends it then."""
    ann, bob = await place.world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob)
    claim, server = await _verified(place, sky, "example.com"), await sky.server()
    now_ms = place.world.clock.now_ms()

    async def put(conn: Connection) -> None:
        await units_gateway_routes.put(
            conn, _row(server, "play.example.com"), None, RecordHosts(None, None), now_ms
        )

    await crossed(place.world.service.database, put, _nothing, partial(_pass_on, place, claim, sea))
    assert await _carried(place) == []


async def test_no_route_is_put_while_its_domain_passes_on(place: Place):
    """Whoever puts one waits until it is known whose the domain is."""
    ann, bob = await place.world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob)
    await _verified(place, sky, "example.com")
    server = await sky.server()
    claim = await sea.claim("example.com")
    place.world.clock.advance(WEEK_MS)
    database, refused = place.world.service.database, []
    row = await database.read(domains.read, claim["domain"]["id"], sea.id)
    assert row is not None
    own, now_ms = Lookup([claim["txt"]["value"]]), place.world.clock.now_ms()

    async def take(conn: Connection) -> None:
        await units_claims.decide(conn, row, own, None, now_ms)

    async def put() -> None:
        body = {"routeHost": "play.example.com", "backendHost": "10.0.0.5", "backendPort": 25565}
        refused.append(await server.refused("PUT", f"{server.path}/gateway-route", body))

    await crossed(database, take, _nothing, put)
    assert refused == [(409, "DOMAIN_NOT_VERIFIED")]


async def _remove(conn: Connection, network_id: str) -> None:
    await conn.execute("DELETE FROM networks WHERE network_id = $1", network_id)


async def test_a_network_that_is_removed_takes_its_routes_along(place: Place):
    ann, bob = await place.world.players("Ann", "Bob")
    sky, _, _ = await _left(place, ann)
    sea = await network(bob)
    await _verified(place, sea, "example.org")
    await _put(await sea.server(), "play.example.org")
    await place.world.service.database.transact(_remove, sky.id)
    assert await _carried(place) == ["b.play.partyline.test", "play.example.org"]


NAME = "0074_routes_outside_networks.sql"


async def _forget_migration(conn: Connection) -> None:
    await conn.execute("DROP TRIGGER network_goes ON networks")
    await conn.execute("DROP FUNCTION network_goes, domains_of_host")
    await conn.execute("DELETE FROM schema_migrations WHERE name = $1", NAME)


async def test_routes_of_before_that_stand_on_nothing_are_gone(place: Place):
    """Those below the gateway domain and those that a network's own domain covers stay."""
    ann, bob = await place.world.players("Ann", "Bob")
    await _left(place, ann)
    await _verified(place, await network(bob), "example.org")
    database = place.world.service.database
    alone, foreign = (
        await claimed(place.world, ann, "alone"),
        await (await network(ann, "Sea")).server("foreign"),
    )
    await database.transact(_forget_migration)
    for server, host in ((alone, "z.example.com"), (foreign, "w.example.org")):
        assert await database.transact(gateway_routes.put, _row(server, host))
    assert await migrate(database, shipped()) == (NAME,)
    assert await _carried(place) == ["b.play.partyline.test", "play.example.com"]
