"""Wire: admins see gateways and routes, and let gateways drain; servers see who could carry their route."""

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.gateways import units
from persistence.gateways import gateways
from routes.gateways.parts import GATEWAY_REGISTRY
from tests.connect.play import GameServer, claimed
from tests.gateways.play import GATEWAYS, REGISTER, ROUTES, Gateway, gateway, identity, put_route
from tests.support.jobs import job_named
from tests.support.world import Player, World

_HEARD: dict[str, Any] = {"last_heartbeat_at_ms": 0, "connections": 0}
"""What memory keeps beside the rows."""


async def _ids(admin: Player, **query: object) -> list[str]:
    return [one["gatewayId"] for one in (await admin.get(GATEWAYS, **query))["items"]]


async def _routes(admin: Player, **query: object) -> dict[str, str]:
    """{host: status}."""
    return {one["routeHost"]: one["status"] for one in (await admin.get(ROUTES, **query))["items"]}


async def _scene(world: World, ann: Player) -> tuple[Player, list[Gateway], list[GameServer]]:
    """An admin, two gateways with all routes, and two servers: the second has a route of the second gateway alone."""
    admin = await world.ranked("Adam", "admin")
    both = [await gateway(world, f"gw{number}.example.net") for number in (1, 2)]
    servers = [await claimed(world, ann, name) for name in ("one", "two")]
    await put_route(servers[0], "a.play.partyline.test")
    await put_route(servers[1], "b.play.partyline.test", gatewayId=both[1].id)
    for one in both:
        await one.beat()
        await one.beat()
    return admin, both, servers


async def test_lists_and_draining(world: World):
    admin, (first, second), (one, two) = await _scene(world, await world.player("Ann"))
    assert first.hosts == ["a.play.partyline.test"]
    assert second.hosts == ["a.play.partyline.test", "b.play.partyline.test"]
    assert set(await _ids(admin)) == {first.id, second.id}
    page = await admin.get(GATEWAYS, limit=1)
    assert page["hasMore"]
    rest = await admin.get(GATEWAYS, limit=1, cursor=page["nextCursor"])
    assert not rest["hasMore"]
    assert {page["items"][0]["gatewayId"], rest["items"][0]["gatewayId"]} == {first.id, second.id}
    assert await _routes(admin) == {"a.play.partyline.test": "active", "b.play.partyline.test": "active"}
    assert await _routes(admin, serverId=two.id) == {"b.play.partyline.test": "active"}
    assert await _routes(admin, networkId=one.id) == {}
    head = await admin.get(ROUTES, limit=1)
    assert await _routes(admin, cursor=head["nextCursor"]) == {"b.play.partyline.test": "active"}

    drained = await admin.do(
        "PATCH", f"{GATEWAYS}/{second.id}", {"status": "draining", "capacity": 7}, status=200
    )
    assert (drained["status"], drained["capacity"], drained["region"]) == ("draining", 7, "eu-west")
    assert await _ids(admin, status="draining") == [second.id]
    assert await _routes(admin, status="pending") == {"b.play.partyline.test": "pending"}
    assert (await second.beat())["routes"] == []
    assert (await second.beat()).get("routes") is None
    assert await _routes(admin, status="active") == {"a.play.partyline.test": "active"}
    again = Gateway(world, await _again(world, second))
    assert (again.id, (await again.beat())["routes"]) == (second.id, [])

    await admin.do("PATCH", f"{GATEWAYS}/{second.id}", {"status": "online"}, status=200)
    assert await _routes(admin, status="pending") == {"b.play.partyline.test": "pending"}, (
        "it has none of them yet"
    )
    await again.beat()
    assert len(again.hosts) == 2
    assert await _routes(admin, status="pending") == {"b.play.partyline.test": "pending"}
    await again.beat()
    assert await _routes(admin, status="pending") == {}
    await job_named(world, "heartbeats of gateways").run()
    assert [replace(row, **_HEARD) for row in world.service.of(GATEWAY_REGISTRY).rows()] == [
        replace(row, **_HEARD) for row in reversed(await world.service.database.read(gateways.read_all))
    ], "memory says what the rows say"
    assert await admin.refused("PATCH", f"{GATEWAYS}/{'0' * 24}", {"capacity": 1}) == (404, "NOT_FOUND")
    for wrong in ({"status": "offline"}, {"capacity": 0}, {"region": "EU west"}):
        assert await admin.refused("PATCH", f"{GATEWAYS}/{first.id}", wrong) == (422, "VALIDATION_FAILED")


async def test_what_changes_is_recorded_and_what_does_not_is_nothing(world: World):
    root = await world.super_admin()
    one = await gateway(world)
    await one.beat()
    path = f"{GATEWAYS}/{one.id}"
    steps: list[tuple[dict[str, Any], bool, bool]] = [
        ({"region": "us-east"}, True, False),
        ({"region": "us-east", "capacity": 100, "status": "online"}, False, False),
        ({"capacity": 7}, True, False),
        ({"status": "draining"}, True, True),
        ({"status": "draining"}, False, False),
        ({}, False, False),
    ]
    shown: dict[str, Any] = {}
    recorded = 0
    for body, changes, moves in steps:
        world.advance(1)
        before = shown
        shown = await root.do("PATCH", path, body, status=200)
        assert body.items() <= shown.items()
        assert changes or {**shown, "lastHeartbeatAt": None} == {**before, "lastHeartbeatAt": None}
        recorded += changes
        trail = [
            one for one in (await root.get("/v1/admin/audit"))["items"] if one["action"] == "gateway.changed"
        ]
        assert len(trail) == recorded
        assert ("routes" in await one.beat()) is moves
    assert (shown["region"], shown["capacity"], shown["status"]) == ("us-east", 7, "draining")


async def test_there_are_so_many_gateways_at_once(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(units, "GATEWAYS_MAX", 3)
    codes: list[int] = []

    async def register(number: int) -> None:
        answer = await world.nobody().ask("POST", REGISTER, identity(f"gw{number}.example.net"))
        codes.append(answer.status_code)

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(register, number)
    assert sorted(codes) == [201] * 3 + [422] * 3
    rows = await world.service.database.read(gateways.read_all)
    known = rows[0].public_host
    await world.nobody().do("POST", REGISTER, identity(known), status=201)


async def _again(world: World, former: Gateway) -> Any:
    """What the second gateway is answered when it registers anew; its former secret is over."""
    made = await gateway(world, "gw2.example.net")
    assert await former.refused("POST", former.path, {"connections": 0, "routesRevision": 0}) == (
        401, "BAD_SERVER_CREDENTIALS",
    )  # fmt: skip
    return {"gatewayId": made.id, "gatewaySecret": made.headers["authorization"].removeprefix("Bearer ")}


async def test_a_silent_gateway_is_offline_until_it_comes_back(world: World):
    admin, (first, second), (one, two) = await _scene(world, await world.player("Ann"))
    world.clock.stop()
    await first.beat()
    await second.beat(connections=3)
    world.clock.advance(29_999)
    await job_named(world, "silent gateways").run()
    assert await _ids(admin, status="offline") == []
    await first.beat()
    world.clock.advance(1)
    await job_named(world, "silent gateways").run()
    assert await _ids(admin, status="offline") == [second.id]
    assert await _routes(admin) == {"a.play.partyline.test": "active", "b.play.partyline.test": "pending"}
    seen = await one.do("GET", f"{one.path}/gateways", status=200)
    assert [item["gatewayId"] for item in seen["items"]] == [first.id]
    assert (seen["route"]["routeHost"], seen["route"]["status"]) == ("a.play.partyline.test", "active")
    seen = await two.do("GET", f"{two.path}/gateways", status=200)
    assert [(item["gatewayId"], item["status"], item["connections"]) for item in seen["items"]] == [
        (second.id, "offline", 3)
    ]
    await second.beat()
    assert await _ids(admin, status="online") == await _ids(admin)
    assert await _routes(admin, status="pending") == {}

    for job in ("heartbeats of gateways", "gateways that are gone"):
        await job_named(world, job).run()
    world.clock.advance(7 * 24 * 3_600_000)
    await job_named(world, "silent gateways").run()
    await first.beat()
    for job in ("heartbeats of gateways", "gateways that are gone"):
        world.clock.advance(1)
        await job_named(world, job).run()
    root = await world.super_admin()
    assert await _ids(root) == [first.id]
    assert (await second.refused("POST", second.path, {"connections": 0, "routesRevision": 0}))[0] == 401
    assert await _routes(root) == {"a.play.partyline.test": "active", "b.play.partyline.test": "pending"}


async def test_who_sees_the_gateways_of_a_server(world: World):
    ann, ben = await world.players("Ann", "Ben")
    _, _, (one, two) = await _scene(world, ann)
    path = f"{one.path}/gateways"
    assert len((await ann.get(path))["items"]) == 2
    assert await ben.refused("GET", path) == (404, "NOT_FOUND")
    assert await two.refused("GET", path) == (404, "NOT_FOUND")
    delegated = await one.delegated("server.settings.read")
    assert len((await delegated.get(path))["items"]) == 2
    assert await (await one.delegated("server.members.read")).refused("GET", path) == (403, "FORBIDDEN")
    await one.do("DELETE", f"{one.path}/gateway-route", status=204)
    assert (await ann.get(path))["route"] is None
