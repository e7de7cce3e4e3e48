"""Wire: one revision of all routes, whatever changes them and however many at once."""

from functools import partial

import pytest
import trio

from routes.gateways.carrying import Carrying
from routes.gateways.parts import CARRYING
from tests.connect.play import claimed
from tests.gateways.play import ROUTES, Gateway, gateway, put_route
from tests.support.jobs import job_named
from tests.support.waiting import patience, wait_until
from tests.support.world import World
from tests.users.play import erase

WRITES = 100


async def _follow(one: Gateway, hosts: set[str], seen: dict[int, list[str]]) -> None:
    """Heartbeats that wait, until the gateway has just these routes; what it had at each revision."""
    with patience():
        while set(one.hosts) != hosts:
            await one.beat(wait=20)
            assert seen.setdefault(one.revision, one.hosts) == one.hosts, "one revision, two tables"


@pytest.mark.one_node(because="each node reads the routes for those who wait at it")
async def test_a_hundred_writes_at_once_end_in_one_revision(world: World):
    """Each gateway is given all of them, a revision means the same to both, and what they confirm is active."""
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    gateways = [await gateway(world, f"gw{number}.example.net") for number in (1, 2)]
    servers = [await claimed(world, ann, f"s{number}") for number in range(10)]
    seen: dict[int, list[str]] = {}
    for one in gateways:
        await one.beat()

    async def write(number: int) -> None:
        server = servers[number % len(servers)]
        await put_route(server, f"h{number}.play.partyline.test")

    last = {f"h{WRITES - len(servers) + number}.play.partyline.test" for number in range(len(servers))}
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as writers:
            for one in gateways:
                nursery.start_soon(_follow, one, last, seen)
            for number in range(WRITES - len(servers)):
                writers.start_soon(write, number)
        async with trio.open_nursery() as writers:
            for number in range(WRITES - len(servers), WRITES):
                writers.start_soon(write, number)
    assert {one.revision for one in gateways} == {1 + WRITES}
    routes = (await admin.get(ROUTES))["items"]
    # The others may have been confirmed already, on the way to the last.
    assert [route["status"] for route in routes if route["revision"] == 1 + WRITES] == ["pending"]
    assert await gateways[0].beat() == {"routesRevision": 1 + WRITES}
    routes = (await admin.get(ROUTES))["items"]
    assert {route["status"] for route in routes} == {"active"}
    assert len({route["revision"] for route in routes}) == len(servers)


async def test_routes_that_go_with_their_servers_and_owners_are_told_too(world: World):
    ann, ben = await world.players("Ann", "Ben")
    one = await gateway(world)
    servers = [await claimed(world, owner) for owner in (ann, ben, ben)]
    for server, name in zip(servers, "abc", strict=True):
        await put_route(server, f"{name}.play.partyline.test")
    await one.beat()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(one.beat, wait=20))
        await wait_until(partial(_waits, world))
        await ben.do("DELETE", servers[1].path)
        await _look(world)
    assert one.hosts == ["a.play.partyline.test", "c.play.partyline.test"]
    await erase(world, ann)
    await _look(world)
    await one.beat()
    assert one.hosts == ["c.play.partyline.test"]


async def test_a_gateway_is_given_no_routes_older_than_those_it_has(world: World):
    """It goes from a node that has heard of a revision to one that has not."""
    one, server = await gateway(world), await claimed(world, await world.player("Ann"))
    other = Carrying(world.service.database)
    await put_route(server, "a.play.partyline.test")
    assert (await other.other_than(0, 0)).revision == 2
    await put_route(server, "b.play.partyline.test")
    await one.beat()
    assert (one.revision, one.hosts) == (3, ["b.play.partyline.test"])
    assert (await other.other_than(one.revision, 0)).revision == 3


async def _look(world: World) -> None:
    """Have each node look for a revision that nobody has told it of."""
    for service in world.services:
        await job_named(world, "revision of routes", at=service).run()


async def _waits(world: World) -> bool:
    return sum(service.of(CARRYING).waiting for service in world.services) == 1
