"""Wire: gateways register, say how they are, and are given their routes."""

from functools import partial

import trio

from actors.gateways.registry import HEARTBEAT_INTERVAL_MS, SILENT_MS
from routes.gateways.machines import MAX_WAIT_SECONDS
from routes.gateways.parts import CARRYING
from tests.connect.play import claimed
from tests.gateways.play import GATEWAYS, REGISTER, Gateway, gateway, identity, put_route
from tests.support.jobs import job_named
from tests.support.waiting import wait_until
from tests.support.world import World


async def test_a_gateway_registers_and_is_given_its_routes(world: World):
    made = await world.nobody().do("POST", REGISTER, identity("GW1.Example.NET."), status=201)
    shown = {
        name: made[name] for name in ("region", "publicHost", "port", "capacity", "connections", "status")
    }
    assert shown == {
        "region": "eu-west", "publicHost": "gw1.example.net", "port": 25565, "capacity": 100, "connections": 0,
        "status": "online",
    }  # fmt: skip
    assert made["heartbeatIntervalMs"] == 10_000
    one = Gateway(world, made)
    assert await one.beat() == {"routesRevision": 1, "routes": []}
    assert await one.beat() == {"routesRevision": 1}
    server = await claimed(world, await world.player("Ann"))
    route = await put_route(server, "lobby.play.partyline.test", proxyProtocol=True)
    assert route["status"] == "pending"
    assert await one.beat() == {
        "routesRevision": 2,
        "routes": [
            {
                "routeHost": "lobby.play.partyline.test",
                "backendHost": "10.0.0.5",
                "backendPort": 25565,
                "proxyProtocol": True,
                "revision": 2,
            }
        ],
    }
    assert (await put_route(server, "lobby.play.partyline.test", proxyProtocol=True))["status"] == "pending"
    assert await one.beat() == {"routesRevision": 2}
    assert (await put_route(server, "lobby.play.partyline.test", proxyProtocol=True))["status"] == "active"
    assert (await put_route(server, "other.play.partyline.test"))["status"] == "pending"


async def test_a_gateway_that_waits_counts_as_heard_until_it_is_answered(world: World):
    one, root = await gateway(world), await world.super_admin()
    server = await claimed(world, await world.player("Ann"))
    await one.beat()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(one.beat, wait=20))
        await wait_until(partial(_waits, world))
        world.clock.advance(MAX_WAIT_SECONDS * 1000)
        await put_route(server, "lobby.play.partyline.test")
    world.clock.advance(HEARTBEAT_INTERVAL_MS)
    await job_named(world, "silent gateways").run()
    (shown,) = (await root.get(GATEWAYS))["items"]
    assert shown["status"] == "online"


async def test_no_gateway_is_offline_because_the_machine_has_slept(world: World):
    one, root = await gateway(world), await world.super_admin()
    await one.beat()
    silent = job_named(world, "silent gateways")
    for ms, status in ((0, "online"), (SILENT_MS - 1_000, "online"), (1_000, "offline")):
        (world.clock.advance if ms else world.clock.sleep)(ms or 1_800_000)
        await silent.run()
        (shown,) = (await root.get(GATEWAYS))["items"]
        assert shown["status"] == status


async def test_a_heartbeat_waits_for_a_change(world: World):
    one, server = await gateway(world), await claimed(world, await world.player("Ann"))
    await one.beat()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(one.beat, wait=20))
        await wait_until(partial(_waits, world))
        await put_route(server, "lobby.play.partyline.test")
    assert one.hosts == ["lobby.play.partyline.test"]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(one.beat, wait=20))
        await wait_until(partial(_waits, world))
        await server.do("DELETE", f"{server.path}/gateway-route", status=204)
    assert one.hosts == []


async def _waits(world: World) -> bool:
    return sum(service.of(CARRYING).waiting for service in world.services) == 1
