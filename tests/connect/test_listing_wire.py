"""Wire: all game servers, for operators."""

from pathlib import Path

import pytest

from persistence.connect.listing import WantedServers, list_servers
from tests.connect.play import claimed, register
from tests.networks.play import network
from tests.publications.play import publish, push
from tests.support.jobs import job_named
from tests.support.world import Player, World, open_world

SERVERS = "/v1/admin/connect/servers"


async def names(admin: Player, **query: object) -> list[str]:
    """Of all pages, each of two servers."""
    found, cursor = [], ""
    while cursor is not None:
        page = await admin.get(SERVERS, limit=2, **query, **({"cursor": cursor} if cursor else {}))
        found += [item["name"] for item in page["items"]]
        cursor = page["nextCursor"]
    return found


async def test_servers_are_found(world: World) -> None:
    admin = await world.ranked("Adam", "admin")
    ann, ben = await world.players("Ann", "Ben")
    net = await network(ann)
    sky = await claimed(world, ann, "Sky")
    await claimed(world, ben, "skyline")
    await register(world, "Äther")
    agent = await net.server("Agent")
    assert await names(admin) == ["Agent", "Sky", "skyline", "Äther"]
    assert await names(admin, query="SKY") == ["Sky", "skyline"]
    assert await names(admin, query="%C3%A4") == ["Äther"]
    assert await names(admin, query=sky.id.upper()) == ["Sky"]
    assert await names(admin, ownerId=ann.id) == ["Agent", "Sky"]
    assert await names(admin, networkId=net.id) == ["Agent"]
    assert await names(admin, claimed="false") == ["Äther"]
    assert await names(admin, claimed="true", query="sky", ownerId=ben.id) == ["skyline"]
    assert agent.id in {item["serverId"] for item in (await admin.get(SERVERS))["items"]}


async def test_what_is_shown(world: World) -> None:
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    server = await claimed(world, ann)
    published = await publish(ann, server)
    await push(server, 5)
    await server.get(f"{server.path}/commands")
    (item,) = (await admin.get(SERVERS))["items"]
    assert (item["ownerId"], item["ownerName"], item["listening"]) == (ann.id, "Ann", True)
    assert (item["status"]["online"], item["status"]["playerCount"]) == (True, 5)
    assert (item["publicationId"], item["publicationState"]) == (published["id"], "CONNECT")
    assert server.secret not in str(item)
    assert "secret" not in str(item).lower()


async def test_who_may_look(world: World) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("GET", SERVERS) == (403, "FORBIDDEN")
    assert await (await world.ranked("Mona", "moderator")).refused("GET", SERVERS) == (403, "FORBIDDEN")
    await world.grant(ann, "admin:connect:manage")
    assert (await ann.get(SERVERS))["items"] == []


async def test_a_cursor_is_a_place(world: World) -> None:
    """Servers of one name are each shown once."""
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    made = {(await claimed(world, ann, "Same")).id for _ in range(3)}
    first = await world.service.database.read(list_servers, WantedServers(limit=2))
    place = (first[1].name_lower, first[1].server.server_id)
    rest = await world.service.database.read(list_servers, WantedServers(after=place, limit=2))
    assert {row.server.server_id for row in (*first, *rest)} == made
    assert len(await names(admin)) == 3


@pytest.mark.one_node(because="when a server has called is up to a minute old on other nodes")
async def test_when_a_server_has_called_outlives_a_restart(database_url: str, tmp_path: Path) -> None:
    """Rows alone tell then how long a server has been silent, and so what is forgotten of it."""
    async with open_world(database_url, tmp_path) as world:
        admin = await world.ranked("Adam", "admin")
        server = await claimed(world, await world.player("Ann"))
        world.clock.advance(60_000)
        await server.get(f"{server.path}/commands")
        (before,) = (await admin.get(SERVERS))["items"]
        await job_named(world, "calls of game servers").run()
    async with open_world(database_url, tmp_path) as world:
        (after,) = (await (await world.ranked("Adam", "admin")).get(SERVERS))["items"]
        assert after["lastSeenAt"] == before["lastSeenAt"] > before["createdAt"]
