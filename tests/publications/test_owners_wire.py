"""Whose an address below the gateway domain is, as routes move on (contract §7: UNCLAIMED → PENDING → OWNED → LOST)."""

from typing import Any

from persistence.connection import Connection
from tests.connect.play import GameServer, claimed
from tests.networks.play import Place, network
from tests.publications.play import names, publish, shown
from tests.support.jobs import clean_publications
from tests.support.world import Player

HOST = "hub.play.partyline.test"


async def _put(server: GameServer, host: str = HOST) -> None:
    """Set a server's route."""
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565}
    await server.do("PUT", f"{server.path}/gateway-route", body, status=200)


async def _give_up(server: GameServer) -> None:
    await server.do("DELETE", f"{server.path}/gateway-route", status=204)


async def _states(place: Place, *published: tuple[Player, Any]) -> list[str]:
    """Whose the addresses are once it was looked at."""
    await clean_publications(place.world)
    return [(await shown(by, target))["ownershipState"] for by, target in published]


async def test_an_address_goes_with_its_route(place: Place):
    """A host that has no route stays whose it was; whoever gets the route has it, also without publishing anew."""
    ann, eve = await place.world.players("Ann", "Eve")
    first, second = await claimed(place.world, eve), await claimed(place.world, ann)
    both = ((eve, first), (ann, second))
    await _put(first)
    await publish(eve, first, address=HOST, displayName="First")
    assert (await publish(ann, second, address=HOST, displayName="Second"))["ownershipState"] == "PENDING"
    assert await _states(place, *both) == ["OWNED", "PENDING"]
    await _give_up(first)
    assert await _states(place, *both) == ["OWNED", "PENDING"]
    await _put(second)
    assert await _states(place, *both) == ["LOST", "OWNED"]
    assert await names(ann) == ["Second"]
    await _give_up(second)
    assert await _states(place, *both) == ["LOST", "OWNED"]
    await _put(first)
    assert await _states(place, *both) == ["OWNED", "LOST"]
    assert await names(ann) == ["First"]


async def test_a_route_of_the_network_proves_the_address_of_the_network(place: Place):
    """Of the network, and of the server that has the route; no longer once that has left."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    routed, other = await sky.server("a"), await sky.server("b")
    published = ((ann, sky), (ann, routed), (ann, other))
    await _put(routed)
    for _, target in published:
        await publish(ann, target, address=HOST)
    assert await _states(place, *published) == ["OWNED", "OWNED", "PENDING"]
    await ann.do("PATCH", routed.path, {"networkId": None}, status=200)
    assert await _states(place, *published) == ["LOST", "OWNED", "PENDING"]


async def test_another_proof_holds_where_the_route_has_gone(place: Place):
    """And the route, where the domain has gone."""
    ann, eve = await place.world.players("Ann", "Eve")
    sky = await network(ann)
    server, other = await sky.server(), await claimed(place.world, eve)
    await publish(ann, server, address=HOST)
    await place.world.service.database.transact(_verify, sky.id, "play.partyline.test")
    await _put(other)
    assert await _states(place, (ann, server)) == ["OWNED"]
    await _give_up(other)
    await _put(server)
    await place.world.service.database.transact(_unverify, sky.id)
    assert await _states(place, (ann, server)) == ["OWNED"]
    await _give_up(server)
    await _put(other)
    assert await _states(place, (ann, server)) == ["LOST"]


async def test_a_server_that_comes_into_a_network_owns_what_lies_in_its_domains(place: Place):
    """At once, and no longer once it has left, also where it is passed on."""
    ann, eve = await place.world.players("Ann", "Eve")
    sky = await network(ann)
    await place.verified(sky, "example.org")
    server, other = await claimed(place.world, ann), await claimed(place.world, eve)
    published = ((ann, server), (eve, other))
    for by, target in published:
        await publish(by, target, address="hub.example.org")
    assert await _states(place, *published) == ["PENDING", "PENDING"]
    entered = {"networkId": sky.id}
    await ann.do("PATCH", server.path, entered, status=200)
    assert [(await shown(by, target))["ownershipState"] for by, target in published] == ["OWNED", "PENDING"]
    await ann.do("PATCH", server.path, {"networkId": None}, status=200)
    assert await _states(place, *published) == ["LOST", "PENDING"]
    await ann.do("PATCH", server.path, entered, status=200)
    assert [(await shown(by, target))["ownershipState"] for by, target in published] == ["OWNED", "PENDING"]
    assert await names(ann) == ["Sky Islands", "Sky Islands"]


async def _verify(conn: Connection, network_id: str, domain: str) -> None:
    await conn.execute(
        "INSERT INTO network_domains (id, network_id, domain, token, status, created_at_ms, updated_at_ms)"
        " VALUES (lpad('1', 24, '0'), $1, $2, 'token', 'verified', 0, 0)",
        network_id,
        domain,
    )


async def _unverify(conn: Connection, network_id: str) -> None:
    await conn.execute("DELETE FROM network_domains WHERE network_id = $1", network_id)
