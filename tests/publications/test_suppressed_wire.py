"""Wire: what a moderator has suppressed is not listed again by publishing it on another server."""

from typing import Any

from persistence.connection import Connection
from tests.capes.stage import moderator
from tests.connect.play import GameServer, claimed
from tests.publications.play import path_of, publish, push, shown
from tests.support.world import World

BODY = {"address": "play.example.org", "displayName": "Sky Islands"}


async def test_what_is_suppressed_is_suppressed_on_another_server_as_well(world: World):
    alice, mod, root = await world.player("Alice"), await moderator(world), await world.super_admin()
    first, second, third = [await claimed(world, alice) for _ in range(3)]
    await publish(alice, first)
    await publish(mod, first, suppressed=True)
    elsewhere = {**BODY, "address": "elsewhere.example.org"}
    assert await alice.refused("PUT", path_of(first), elsewhere) == (409, "INVALID_STATE")
    again = await publish(alice, second, address="PLAY.example.org:25565", suppressed=False)
    assert again["discoveryState"] == "SUPPRESSED"
    assert (await publish(alice, third, address="other.example.org"))["discoveryState"] == "CONNECT"
    assert (await publish(alice, third))["discoveryState"] == "SUPPRESSED"
    trail: Any = await root.get("/v1/admin/audit")
    ours = [one for one in trail["items"] if one["action"] == "publication.changed"]
    assert {one["detail"]["publicationId"] for one in ours} == {
        (await shown(alice, server))["id"] for server in (first, second, third)
    }
    assert (await publish(mod, second, suppressed=False))["discoveryState"] == "CONNECT"
    assert (await publish(alice, second))["discoveryState"] == "CONNECT"  # a moderator has decided


async def test_a_stranger_who_is_suppressed_does_not_suppress_the_owner_of_the_address(world: World):
    alice, mod, mallory = await world.player("Alice"), await moderator(world), await world.player("Mallory")
    server, false = await claimed(world, alice), await claimed(world, mallory)
    await push(server)
    body = {"address": "127.0.0.1"}
    await push(false)
    await publish(mallory, false, **body)
    await publish(mod, false, suppressed=True, **body)
    await disown(world, false)
    made = await publish(alice, server, **body)
    assert (made["ownershipState"], made["discoveryState"]) == ("OWNED", "CONNECT")


async def disown(world: World, server: GameServer) -> None:
    async def lose(conn: Connection) -> None:
        await conn.execute("UPDATE publications SET ownership_state = 'LOST' WHERE server_id = $1", server.id)

    await world.service.database.transact(lose)
