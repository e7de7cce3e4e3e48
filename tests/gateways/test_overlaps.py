"""Changes of gateways whose reactions run in another order than they were committed in: memory says what rows say."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.gateways import units
from persistence.connection import Connection
from persistence.gateways import gateways
from routes.changes import change_by_itself
from routes.gateways.parts import GATEWAY_REGISTRY
from routes.gateways.reactions import AllGateways, MissedGateways
from tests.gateways.play import GATEWAYS, REGISTER, TOKEN, Gateway, gateway, identity
from tests.support.cluster import nats, open_cluster
from tests.support.losing import proxy, settled
from tests.support.nats import NatsServer
from tests.support.proxy import Proxy
from tests.support.world import World, open_world

__all__ = ["nats", "proxy"]

FIRST = "the-first-to-commit"
"""A region, which one transaction alone sends to PostgreSQL."""

COMMIT = b"COMMIT\0"

EXECUTE = b"E\0\0\0\t\0"
"""What begins the execution of a statement that PostgreSQL has parsed."""


@pytest.fixture
async def world(proxy: Proxy, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(proxy.url, tmp_path, gateway_token=TOKEN) as world:
        yield world


async def _registered_twice(proxy: Proxy, here: World, there: World) -> Gateway:
    """Register a gateway twice, the second time on another node; the reactions to the first run last. Returns the
    second, whose secret is valid."""
    committed = proxy.hold_at(COMMIT, after=FIRST.encode())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.nobody().ask, "POST", REGISTER, identity(region=FIRST))
        await committed.wait()
        second = await gateway(there)
        proxy.let_go()
    return second


async def test_of_two_registrations_the_later_one_has_the_secret(proxy: Proxy, world: World) -> None:
    second = await _registered_twice(proxy, world, world)
    await second.beat()


@pytest.mark.slow
async def test_so_on_every_node(proxy: Proxy, tmp_path: Path, nats: NatsServer) -> None:
    async with open_cluster(proxy.url, tmp_path, nats, "a", "b", gateway_token=TOKEN) as cluster:
        a, b = cluster.worlds.values()
        second = await _registered_twice(proxy, a, b)
        for node in (a, b):
            at = Gateway(node, {"gatewayId": second.id, "gatewaySecret": ""})
            at.headers = second.headers
            await at.beat()


async def test_a_gateway_that_is_forgotten_is_not_brought_back(proxy: Proxy, world: World) -> None:
    one, admin = await gateway(world), await world.super_admin()
    committed = proxy.hold_at(COMMIT, after=FIRST.encode())

    async def remove(conn: Connection) -> Any:
        await conn.execute("UPDATE gateways SET online = false")
        return await units.forget(conn, 1, world.clock.now_ms() + 1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(admin.ask, "PATCH", f"{GATEWAYS}/{one.id}", {"region": FIRST})
        await committed.wait()
        assert await change_by_itself(world.service, remove, about=AllGateways()) == 1
        proxy.let_go()
    assert world.service.of(GATEWAY_REGISTRY).rows() == []


@pytest.mark.parametrize("about", [AllGateways(), MissedGateways()])
async def test_what_changes_while_all_are_read_is_newer(proxy: Proxy, world: World, about: object) -> None:
    former = await gateway(world)
    has_read = proxy.hold_at(EXECUTE, after=b"FROM gateways ORDER BY")
    world.service.reconciler.add(about)
    await has_read.wait()
    second, other = await gateway(world), await gateway(world, "gw2.example.net")
    proxy.let_go()
    await settled(world)
    await second.beat()
    await other.beat()
    assert second.id == former.id
    assert await _rows(world) == world.service.of(GATEWAY_REGISTRY).rows()[::-1]


async def _rows(world: World) -> Sequence[object]:
    return await world.service.database.read(gateways.read_all)
