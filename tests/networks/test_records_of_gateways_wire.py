"""Wire: the A records of routes name the gateways that are online, and follow them."""

import pytest

from routes.networks.automation import FIRST_RETRY_MS
from tests.gateways.play import GATEWAYS, TOKEN, gateway, put_route
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Place, network
from tests.support.jobs import job_named


async def _follow(place: Place) -> None:
    for job in ("silent gateways", "addresses of gateway routes", "DNS records"):
        await job_named(place.world, job).run()


@pytest.mark.parametrize("names", [{"gateway_domain": "play.partyline.test", "gateway_token": TOKEN}])
async def test_records_follow_the_gateways(place: Place):
    world, stub = place.world, place.cloudflare
    ann, admin = await world.player("Ann"), await world.ranked("Adam", "admin")
    sky = await network(ann)
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await place.verified(sky, "example.com")
    any_, own = await sky.server("any"), await sky.server("own")
    place.dns.addresses = {
        "play.partyline.test": ["192.0.2.9"],
        "gw1.example.net": ["192.0.2.1", "192.0.2.2"],
        "gw2.example.net": ["192.0.2.2"],
    }
    await put_route(any_, "any.example.com")
    assert stub.contents("A", "any.example.com") == ["192.0.2.9"], "no gateway yet"

    world.clock.stop()
    first, second = await gateway(world, "gw1.example.net"), await gateway(world, "gw2.example.net")
    third = await gateway(world, "203.0.113.7")
    place.dns.faults["gw1.example.net"] = "servfail"
    await put_route(own, "own.example.com", gatewayId=second.id.upper())
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.2", "203.0.113.7"]
    del place.dns.faults["gw1.example.net"]
    world.clock.advance(FIRST_RETRY_MS)
    for one in (first, second, third):
        await one.beat()
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.1", "192.0.2.2", "203.0.113.7"]
    assert stub.contents("A", "own.example.com") == ["192.0.2.2"]

    await admin.do("PATCH", f"{GATEWAYS}/{third.id}", {"status": "draining"}, status=200)
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.1", "192.0.2.2"]
    world.clock.advance(29_999)
    await first.beat()
    world.clock.advance(1)
    place.dns.addresses["gw1.example.net"] = ["192.0.2.3"]
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.3"]
    assert stub.contents("A", "own.example.com") == ["192.0.2.2"], "its own is away: the record stays"
    world.clock.advance(30_000)
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.3"], "all are away"

    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    assert stub.contents("A", "any.example.com") == ["192.0.2.9"]
    await second.beat()
    await _follow(place)
    assert stub.contents("A", "any.example.com") == ["192.0.2.2"]


@pytest.mark.parametrize("names", [{"gateway_token": TOKEN}])
async def test_a_claimed_domain_gets_the_gateways_where_the_service_names_no_host(place: Place):
    world, stub = place.world, place.cloudflare
    ann = await world.player("Ann")
    sky = await network(ann)
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await place.verified(sky, "example.com")
    server = await sky.server()
    world.clock.stop()
    await gateway(world, "203.0.113.7")
    await put_route(server, "example.com")
    assert stub.contents("A", "example.com") == ["203.0.113.7"]
    assert stub.contents("CNAME", "example.com") == []
    await gateway(world, "203.0.113.8")
    await _follow(place)
    assert stub.contents("A", "example.com") == ["203.0.113.7", "203.0.113.8"]
    await server.do("DELETE", f"{server.path}/gateway-route", status=204)
    assert {record["type"] for record in stub.records[ZONE]} == {"TXT"}


@pytest.mark.parametrize("names", [{"gateway_host": "203.0.113.7"}])
async def test_a_gateway_host_that_is_an_address_gets_no_cname(place: Place):
    stub = place.cloudflare
    ann = await place.world.player("Ann")
    sky = await network(ann)
    outside = (await sky.claim("example.org"))["gateway"]
    record = {"type": "A", "name": "example.org", "value": "203.0.113.7", "autoManaged": False}
    assert outside == record
    await sky.claim("play.example.com")
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    managed = (await sky.claim("example.com"))["gateway"]
    assert managed == {**record, "name": "example.com", "autoManaged": True}
    for domain in ("play.example.com", "example.com"):
        assert stub.contents("A", domain) == ["203.0.113.7"]
        assert stub.contents("CNAME", domain) == []
    await place.verified(sky, "a.example.com")
    server = await sky.server()
    await put_route(server, "a.example.com")
    assert stub.contents("A", "a.example.com") == ["203.0.113.7"]
    await ann.do("PATCH", server.path, {"networkId": None}, status=200)
    await ann.do("DELETE", sky.path, status=204)
    assert stub.records[ZONE] == []
