"""Wire: what a moderator has suppressed is not listed again by publishing it on another server."""

from typing import Any

import pytest

from actors.publications.units_moderation import Judgement, judge
from persistence.connection import Connection
from persistence.users.audit import Stamp
from tests.capes.stage import moderator
from tests.connect.play import GameServer, claimed
from tests.networks.play import network as network_of
from tests.publications.play import path_of, publish, push, shown
from tests.saved_servers.play import SAVED
from tests.support.locks import during
from tests.support.world import Player, World

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


LISTING = "/v1/admin/connect/publications"


async def test_what_is_published_elsewhere_already_is_suppressed_as_well(world: World):
    alice, mod, admin = (
        await world.player("Alice"),
        await moderator(world),
        await world.ranked("Ada", "admin"),
    )
    servers = [await claimed(world, alice) for _ in range(4)]
    made = [
        await publish(alice, one, address=f"play.example.org{port}")
        for one, port in zip(servers, PORTS, strict=True)
    ]
    assert await states(alice, servers) == ["CONNECT"] * 4
    await admin.do("PATCH", f"{LISTING}/{made[0]['id']}", {"suppressed": True, "reason": "No."})
    assert await states(alice, servers) == ["SUPPRESSED", "SUPPRESSED", "CONNECT", "CONNECT"]
    root = await world.super_admin()
    (entry,) = (await root.get("/v1/admin/audit", targetId=made[0]["id"]))["items"]
    assert (entry["actorId"], entry["detail"]["suppressedWith"]) == (admin.id, [made[1]["id"]])
    # Each comes back by itself, and whoever suppresses by the target means its address too.
    await admin.do("PATCH", f"{LISTING}/{made[0]['id']}", {"suppressed": False})
    assert await states(alice, servers) == ["CONNECT", "SUPPRESSED", "CONNECT", "CONNECT"]
    await publish(mod, servers[2], suppressed=True, address="play.example.org:25566")
    assert await states(alice, servers) == ["CONNECT", "SUPPRESSED", "SUPPRESSED", "SUPPRESSED"]


PORTS = ("", ":25565", ":25566", ":25566")


async def test_a_stranger_who_is_suppressed_takes_nobody_along_who_owns_the_address(world: World):
    alice, mod, mallory = await world.player("Alice"), await moderator(world), await world.player("Mallory")
    server, false, network = (
        await claimed(world, alice),
        await claimed(world, mallory),
        await network_of(mallory),
    )
    for by, target in ((alice, server), (mallory, false), (mallory, network)):
        await publish(by, target)
    await prove(world, server)
    await publish(mod, false, suppressed=True)
    found = [(await shown(mod, one))["discoveryState"] for one in (server, false, network)]
    assert found == ["CONNECT", "SUPPRESSED", "SUPPRESSED"]


@pytest.mark.parametrize("saved", [False, True])
async def test_what_is_suppressed_stays_so_without_its_server(world: World, saved: bool):
    alice, bob, admin = (
        await world.player("Alice"),
        await world.player("Bob"),
        await world.ranked("Ada", "admin"),
    )
    first, second = await claimed(world, alice), await claimed(world, alice)
    made = await publish(alice, first)
    if saved:
        await bob.do("POST", SAVED, {"serverId": made["id"]}, status=201)
    await admin.do("PATCH", f"{LISTING}/{made['id']}", {"suppressed": True})
    await alice.do("DELETE", first.path, status=204)
    assert (await publish(alice, second))["discoveryState"] == "SUPPRESSED"
    await alice.do("DELETE", second.path, status=204)
    (kept,) = (await admin.get(LISTING, state="SUPPRESSED"))["items"]
    assert (kept["address"], kept["connectTargetId"]) == ("play.example.org", None)
    assert len((await bob.get(SAVED))["items"]) == saved
    await admin.do("PATCH", f"{LISTING}/{kept['id']}", {"suppressed": False})
    assert (await publish(alice, await claimed(world, alice)))["discoveryState"] == "CONNECT"


async def test_what_a_moderator_removes_is_suppressed_no_longer(world: World):
    alice, mod, admin = (
        await world.player("Alice"),
        await moderator(world),
        await world.ranked("Ada", "admin"),
    )
    server = await claimed(world, alice)
    await publish(alice, server)
    await publish(mod, server, suppressed=True)
    await mod.do("DELETE", path_of(server), status=200)
    assert (await admin.get(LISTING, state="SUPPRESSED"))["items"] == []
    assert (await publish(alice, server))["discoveryState"] == "CONNECT"


async def test_a_stranger_who_was_suppressed_and_has_left_does_not_suppress_the_owner(world: World):
    alice, mod, mallory = await world.player("Alice"), await moderator(world), await world.player("Mallory")
    server, false = await claimed(world, alice), await claimed(world, mallory)
    await push(server)
    await push(false)
    body = {"address": "127.0.0.1"}
    await publish(mallory, false, **body)
    await publish(mod, false, suppressed=True, **body)
    await disown(world, false)
    await mallory.do("DELETE", false.path, status=204)
    assert (await publish(alice, server, **body))["discoveryState"] == "CONNECT"


async def test_two_who_publish_and_suppress_one_address_wait_for_each_other(world: World):
    """What is published while its address is suppressed is suppressed, too."""
    alice = await world.player("Alice")
    first, second = await claimed(world, alice), await claimed(world, alice)
    made = await publish(alice, first)
    stamp = Stamp("0" * 24, world.clock.now_ms(), None, None)

    async def suppress(conn: Connection) -> None:
        await judge(conn, made["id"], Judgement(suppressed=True), stamp)

    async def come() -> None:
        assert (await publish(alice, second))["discoveryState"] == "SUPPRESSED"

    await during(world.service.database, suppress, come)


async def states(by: Player, servers: list[GameServer]) -> list[str]:
    return [(await shown(by, server))["discoveryState"] for server in servers]


async def disown(world: World, server: GameServer) -> None:
    async def lose(conn: Connection) -> None:
        await conn.execute("UPDATE publications SET ownership_state = 'LOST' WHERE server_id = $1", server.id)

    await world.service.database.transact(lose)


async def prove(world: World, server: GameServer) -> None:
    async def own(conn: Connection) -> None:
        await conn.execute(
            "UPDATE publications SET ownership_state = 'OWNED' WHERE server_id = $1", server.id
        )

    await world.service.database.transact(own)
