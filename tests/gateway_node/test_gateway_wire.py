"""Wire: a gateway and its service: routes come as they are written, and what goes wrong heals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio

from routes.gateways.parts import CARRYING
from scripts.gateway_node.addresses import PRIVATE
from scripts.gateway_node.gateway import Gateway, Plan
from scripts.gateway_node.routes import load
from scripts.gateway_node.service import Rejected
from tests.connect.play import GameServer, claimed
from tests.gateway_node.bytes_of import handshake
from tests.gateway_node.minecraft import MinecraftServer, minecraft, status
from tests.gateway_node.play import IDENTITY, player
from tests.gateways.play import GATEWAYS, ROUTES, put_route
from tests.gateways.play import gateway as register
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until
from tests.support.world import World

LOBBY, ISLANDS = "lobby.play.partyline.test", "islands.play.partyline.test"


def plan(world: World, folder: Path, **more: object) -> Plan:
    fields = {
        "url": world.url.replace("ws", "http", 1),
        "identity": IDENTITY,
        "host": "127.0.0.1",
        "port": 0,
        "state": folder / "gateway.json",
        "allowed": PRIVATE,
        **more,
    }
    return Plan(**fields)  # type: ignore[arg-type]


@asynccontextmanager
async def running(world: World, folder: Path, **more: object) -> AsyncIterator[Gateway]:
    """A gateway for the block; it ends by being stopped, and what waits for it with it, as when the service drains."""
    gateway = Gateway(plan(world, folder, **more), lambda _line: None)
    async with trio.open_nursery() as nursery:
        await nursery.start(gateway.run)
        yield gateway
        gateway.stop()
    for service in world.services:
        service.of(CARRYING).close()


async def until_carried(gateway: Gateway, revision: int) -> None:
    async def is_carried() -> bool:
        return gateway.status().revision == revision

    await wait_until(is_carried)


async def until_closed(host: str, port: int) -> None:
    """Until a name is unknown."""

    async def is_closed() -> bool:
        async with player(port, handshake(host, 2)) as one:
            return await one.hear(1) == b""

    await wait_until(is_closed)


async def to(server: GameServer, host: str, backend: MinecraftServer, **more: object) -> None:
    """Lead a host to a server."""
    await put_route(server, host, backendHost="127.0.0.1", backendPort=backend.port, **more)


@pytest.mark.slow
async def test_players_reach_two_game_servers_by_two_names(world: World, tmp_path: Path):
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    one, two = await claimed(world, ann, "One"), await claimed(world, ann, "Two")
    async with (
        minecraft("Lobby") as lobby,
        minecraft("Islands", proxied=True) as islands,
        running(world, tmp_path) as gateway,
    ):
        await to(one, LOBBY, lobby)
        await to(two, ISLANDS, islands, proxyProtocol=True)
        await until_carried(gateway, 3)
        assert await status(LOBBY, gateway.port) == "Lobby"
        assert await status(f"{ISLANDS}.\0FML3\0", gateway.port) == "Islands"

        async def are_active() -> bool:
            items = (await admin.get(ROUTES))["items"]
            return [route["status"] for route in items] == ["active", "active"]

        await wait_until(are_active)
        await to(one, LOBBY, islands, proxyProtocol=True)
        await until_carried(gateway, 4)
        assert await status(LOBBY, gateway.port) == "Islands"
        await one.do("DELETE", f"{one.path}/gateway-route", status=204)
        await until_closed(LOBBY, gateway.port)
        assert gateway.status().service == "online"
        await wait_until(partial(_are_kept, gateway.plan, 1))


@pytest.mark.slow
async def test_a_gateway_that_an_admin_drains_lets_nobody_in_and_keeps_who_plays(
    world: World, tmp_path: Path
):
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    server = await claimed(world, ann)
    async with minecraft("Lobby") as lobby, running(world, tmp_path) as gateway:
        await to(server, LOBBY, lobby)
        await until_carried(gateway, 2)
        (item,) = (await admin.get(GATEWAYS))["items"]
        opening = handshake(LOBBY, 2)
        async with player(gateway.port, opening) as plays:
            await plays.hear(len(opening))
            await admin.do("PATCH", f"{GATEWAYS}/{item['gatewayId']}", {"status": "draining"}, status=200)
            await until_closed(LOBBY, gateway.port)
            await plays.send(b"still here")
            assert await plays.hear(10) == b"still here"
            await admin.do("PATCH", f"{GATEWAYS}/{item['gatewayId']}", {"status": "online"}, status=200)
            await until_carried(gateway, 4)
            assert await status(LOBBY, gateway.port) == "Lobby"


@pytest.mark.slow
async def test_a_secret_that_has_ended_is_replaced_at_once(world: World, tmp_path: Path):
    server = await claimed(world, await world.player("Ann"))
    async with minecraft("Lobby") as lobby, running(world, tmp_path) as gateway:
        await until_carried(gateway, 1)
        other = await register(world)
        await to(server, LOBBY, lobby)  # wakes the heartbeat that waits
        await until_carried(gateway, 2)
        assert await status(LOBBY, gateway.port) == "Lobby"
        body = {"connections": 0, "routesRevision": 0}
        assert await other.refused("POST", other.path, body) == (401, "BAD_SERVER_CREDENTIALS")


@pytest.mark.slow
async def test_a_hundred_writes_at_once_end_in_one_revision_that_it_confirms(world: World, tmp_path: Path):
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    servers = [await claimed(world, ann, f"s{number}") for number in range(10)]
    async with minecraft("Lobby") as lobby, running(world, tmp_path) as gateway:

        async def write(number: int) -> None:
            await to(servers[number % 10], f"h{number}.play.partyline.test", lobby)

        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(write, number)
        await until_carried(gateway, 101)

        async def are_active() -> bool:
            items = (await admin.get(f"{ROUTES}?status=active"))["items"]
            return len(items) == 10

        await wait_until(are_active)
        items = (await admin.get(ROUTES))["items"]
        for item in items[:2]:
            assert await status(item["routeHost"], gateway.port) == "Lobby"


@pytest.mark.slow
async def test_stopping_lets_nobody_in_and_ends_with_the_last_connection(world: World, tmp_path: Path):
    server = await claimed(world, await world.player("Ann"))
    opening = handshake(LOBBY, 2)
    async with minecraft("Lobby") as lobby:
        await to(server, LOBBY, lobby)
        async with running(world, tmp_path, drain_seconds=PATIENCE_SECONDS) as gateway:
            await until_carried(gateway, 2)
            async with player(gateway.port, opening) as plays:
                await plays.hear(len(opening))
                gateway.stop()
                await wait_until(partial(_refuses, gateway.port))
                await plays.send(b"still here")
                assert await plays.hear(10) == b"still here"
                assert gateway.status().draining
        async with trio.open_nursery() as nursery:
            gateway = Gateway(plan(world, tmp_path, drain_seconds=0.1), lambda _line: None)
            await nursery.start(gateway.run)
            await until_carried(gateway, 2)
            async with player(gateway.port, opening) as plays:
                await plays.hear(len(opening))
                gateway.stop()
                assert await plays.rest() == b""


async def _are_kept(one: Plan, count: int) -> bool:
    return len(load(one.state, one.url)) == count


async def _refuses(port: int) -> bool:
    try:
        await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
    except OSError:
        return True
    return False


async def test_who_is_not_taken_says_so(world: World, tmp_path: Path):
    for wrong in ({"token": "another"}, {"public_host": "a b"}):
        identity = msgspec.structs.replace(IDENTITY, **wrong)
        with (
            pytest.RaisesGroup(Rejected, flatten_subgroups=True),
            patience(),
        ):
            await Gateway(plan(world, tmp_path, identity=identity), lambda _line: None).run()
