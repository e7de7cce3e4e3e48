"""Wire: a network's DNS provider is replaced while records are being written at the former one."""

from functools import partial
from typing import Any

import pytest
import trio

from actors.networks import units_gateway_routes, units_providers
from persistence.bridge.database import open_database
from persistence.connection import Connection
from persistence.errors import OutcomeUnknown
from persistence.networks import dns
from persistence.networks.rows import DnsRow, DnsTask, RouteRow
from routes.networks.automation import Automation
from routes.networks.name_service import NAME_SERVICE
from tests.networks.cloudflare import CANARY, ZONE, Hold
from tests.networks.play import Net, Place, network
from tests.support.locks import during
from tests.support.proxy import open_proxy
from tests.support.waiting import wait_until

OTHER = "f" * 32
SECOND = "second"
FAR_MS = 10**15


async def _waiting(place: Place) -> Net:
    """A network whose records are due, after its provider was away."""
    net = await network(await place.world.player("Ann"))
    stub = place.cloudflare
    stub.tokens[SECOND], stub.zones[OTHER], stub.records[OTHER] = "active", "example.com", []
    await net.owner.do("PUT", net.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    stub.wrong = "500"
    await net.claim("play.example.com")
    stub.wrong = None
    place.world.clock.advance(60_000)
    return net


async def _replace(place: Place, net: Net, zone_id: str) -> Any:
    """Replace the provider while the job waits for the former one, which answers then; returns the new one."""
    hold = place.cloudflare.held[CANARY] = Hold()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.world.service.of(NAME_SERVICE).automation.tick)
        await hold.reached.wait()
        made = await net.owner.do("PUT", net.provider, {"apiToken": SECOND, "zoneId": zone_id}, status=200)
        hold.release.set()

    async def written() -> bool:  # by whichever node was at it
        return await _left(place, net) == []

    await wait_until(written)
    return made


async def _left(place: Place, net: Net) -> list[str]:
    """The names of the records that are still to be written."""
    tasks = await place.world.service.database.read(dns.due_tasks, net.id, FAR_MS, 50)
    return [task.name for task in tasks]


async def test_the_records_are_written_at_the_new_provider(place: Place):
    """Whatever has become of them at the former one, and by who was at it when there was another."""
    net = await _waiting(place)
    made = await _replace(place, net, OTHER)
    assert (made["zoneId"], made["tokenStatus"]) == (OTHER, "active")
    written = sorted((record["type"], record["name"]) for record in place.cloudflare.records[OTHER])
    assert written == [("CNAME", "play.example.com"), ("TXT", "_svc.play.example.com")]
    assert await _left(place, net) == []


@pytest.mark.parametrize("zone_id", [ZONE, OTHER])
async def test_what_the_former_token_is_refused_says_nothing_of_the_new_one(place: Place, zone_id: str):
    net = await _waiting(place)
    del place.cloudflare.tokens[CANARY]
    await _replace(place, net, zone_id)
    assert (await net.owner.get(net.provider))["config"]["tokenStatus"] == "active"
    assert len(place.cloudflare.records[zone_id]) == 2
    assert await _left(place, net) == []


async def test_a_provider_that_is_removed_meanwhile_is_gone(place: Place):
    net = await _waiting(place)
    hold = place.cloudflare.held[CANARY] = Hold()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.world.service.of(NAME_SERVICE).automation.tick)
        await hold.reached.wait()
        assert await net.owner.do("DELETE", net.provider, status=200) == {"removed": True}
        hold.release.set()
    assert (await net.owner.get(net.provider))["config"] is None


@pytest.mark.one_node(because="waits for the node that it asks; another one's job may be at it")
async def test_a_record_that_is_added_meanwhile_is_written_too(place: Place):
    """By who is at it already."""
    net = await _waiting(place)
    hold = place.cloudflare.held[CANARY] = Hold()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.world.service.of(NAME_SERVICE).automation.tick)
        await hold.reached.wait()
        await net.claim("second.example.com")
        hold.release.set()
    assert place.cloudflare.contents("CNAME", "second.example.com") == ["gw.partyline.test"]
    assert await _left(place, net) == []


async def test_what_two_nodes_write_for_one_network_is_not_written_at_once(place: Place):
    """The one finds nothing to remove while what the other writes is on its way, and it would be there for good."""
    net, here = await _waiting(place), place.world.service.of(NAME_SERVICE)
    database, clock = place.world.service.database, place.world.clock
    other = Automation(database, clock, here.cloudflare, here.resolver, here.tokens)
    looking = place.cloudflare.held[CANARY] = Hold()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.automation.tick)
        await looking.reached.wait()
        writing = place.cloudflare.held[CANARY] = Hold()
        looking.release.set()
        await writing.reached.wait()
        del place.cloudflare.held[CANARY]
        gone = DnsTask(net.id, "TXT", "_svc.play.example.com", None, clock.now_ms())
        await database.transact(dns.add_tasks, [gone])
        await other.tick()
        writing.release.set()
    assert place.cloudflare.contents("TXT", "_svc.play.example.com") == []
    assert await _left(place, net) == []


@pytest.mark.parametrize("provider_first", [True, False])
async def test_a_route_that_comes_with_the_first_provider_gets_its_record(
    place: Place, *, provider_first: bool
):
    """Whichever of the two is committed first, the other sees it."""
    world, stub, here = place.world, place.cloudflare, place.world.service.of(NAME_SERVICE)
    net = await network(await world.player("Ann"))
    await place.verified(net, "example.com")
    server = await net.server()
    now_ms = world.clock.now_ms()
    route = RouteRow(
        server_id=server.id, route_host="a.example.com", backend_host="192.0.2.5", backend_port=1,
        proxy_protocol=False, created_at_ms=now_ms, updated_at_ms=now_ms,
    )  # fmt: skip
    provider = DnsRow(
        network_id=net.id, zone_id=ZONE, zone_name="example.com", sealed_token=here.tokens.seal(CANARY, net.id, ZONE),
        token_status="active", created_at_ms=now_ms, updated_at_ms=now_ms,
    )  # fmt: skip

    async def put(conn: Connection) -> None:
        await units_gateway_routes.put(conn, route, None, here.record_hosts, now_ms)

    async def adopt(conn: Connection) -> None:
        await units_providers.adopt(conn, provider, here.record_hosts, now_ms, is_current=lambda _row: True)

    first, second = (adopt, put) if provider_first else (put, adopt)
    await during(world.service.database, first, partial(world.service.database.transact, second))
    place.dns.addresses = {"gw.partyline.test": ["192.0.2.9"]}
    await here.automation.tick()
    assert stub.contents("A", "a.example.com") == ["192.0.2.9"]


@pytest.mark.one_node(because="the job of another node may be at it meanwhile")
async def test_records_that_a_node_claims_in_vain_are_written_by_the_others(place: Place, database_url: str):
    """The answer to its COMMIT is lost, so it does not know that it has them, and writes nothing."""
    net, here = await _waiting(place), place.world.service.of(NAME_SERVICE)
    async with open_proxy(database_url) as proxy, open_database(proxy.url) as database:
        other = Automation(database, place.world.clock, here.cloudflare, here.resolver, here.tokens)
        proxy.cut_at(b"COMMIT\0", answered=True, after=b"SET writing_until_ms")
        with pytest.raises(OutcomeUnknown):
            await other.push(net.id)
    await here.automation.push(net.id)
    assert await _left(place, net) == []
