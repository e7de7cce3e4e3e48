"""The caller's own servers, restarts, races, and erasure."""

from pathlib import Path
from typing import Any

import trio

from tests.connect.play import claimed
from tests.publications.play import PUBLIC, flush, names, path_of, publish, push
from tests.support.world import Player, World, open_world

OWN = "/v1/profile/servers"


async def test_own_servers_with_what_is_published(world: World):
    """All of them, oldest first; with a tag those that are published with it; nobody else's."""
    alice, mallory = await world.player("Alice"), await world.player("Mallory")
    first, second = await claimed(world, alice, "First"), await claimed(world, alice, "Second")
    await claimed(world, mallory, "Third")
    await push(first, 4)
    await publish(
        alice, second, tags=["PvP"], motdOverride="Ours", displayName="Play here", category="Survival"
    )
    found: Any = await alice.get(OWN)
    assert [one["serverId"] for one in found] == [first.id, second.id]
    assert [(one["playerCount"], one["online"], one["motd"]) for one in found] == [
        (4, True, "Welcome"),
        (0, False, "Ours"),
    ]
    assert (found[0]["publication"], found[0]["address"], found[0]["tags"]) == (None, None, [])
    assert found[1]["publication"]["address"] == found[1]["address"] == "play.example.org"
    assert {one["source"] for one in found} == {"CONNECT"}
    shown = [(one["displayName"], one["category"], one["favorite"]) for one in found]
    assert shown == [("First", "", False), ("Play here", "survival", False)]
    saved = "/v1/profile/public-servers/saved"
    await alice.do("POST", saved, {"serverId": found[1]["publication"]["id"]}, status=201)
    await alice.do("PATCH", f"{saved}/{found[1]['publication']['id']}", {"favorite": True}, status=200)
    assert [one["favorite"] for one in await alice.get(OWN)] == [False, True]
    assert [one["serverId"] for one in await alice.get(OWN, tag="PVP")] == [second.id]
    assert await alice.get(OWN, tag="other") == []
    assert await world.nobody().refused("GET", OWN) == (401, "UNAUTHENTICATED")


async def test_a_restart_loses_no_status(database_url: str, tmp_path: Path):
    """What was said before the stop counts after it, by its own age."""
    async with open_world(database_url, tmp_path) as world:
        clock = world.clock
        clock.stop()
        alice = await world.player("Alice")
        server = await claimed(world, alice)
        made = await publish(alice, server)
        await push(server, 6, ago_s=30)
        await flush(world)
    async with open_world(database_url, tmp_path, clock=clock) as world:
        told = await world.nobody().get(f"{PUBLIC}/{made['id']}")
        assert (told["online"], told["playerCount"], told["motd"]) == (True, 6, "Welcome")
        world.clock.advance(61_000)
        told = await world.nobody().get(f"{PUBLIC}/{made['id']}")
        assert (told["online"], told["playerCount"]) == (False, 0)


async def test_all_who_publish_at_once_publish_one(world: World):
    """A publication of a target is one row, whoever comes first; whoever takes it back last wins."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    ids: list[str] = []

    async def put(at: int) -> None:
        ids.append((await publish(alice, server, displayName=f"Name {at}"))["id"])

    async with trio.open_nursery() as nursery:
        for at in range(20):
            nursery.start_soon(put, at)
    assert len(ids) == 20
    assert len(set(ids)) == 1
    assert len(await names(world.nobody())) == 1
    gone: list[int] = []

    async def remove() -> None:
        gone.append((await alice.do("DELETE", path_of(server)))["removed"])

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(remove)
    assert sorted(gone) == [0, 0, 0, 0, 1]


async def test_publishing_twice_with_one_key_is_once(world: World):
    """A repeated request gets the first answer; a repeated status does not count again."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    body = {"address": "play.example.org", "displayName": "Sky"}
    headers = {"idempotency-key": "publish-1"}
    answers = [await alice.ask("PUT", path_of(server), body, headers=headers) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    status = f"{server.path}/publication/status"
    answers = [
        await server.ask("PUT", status, {"online": True, "playerCapacity": 9}, headers=headers)
        for _ in range(2)
    ]
    assert [answer.json()["ok"] for answer in answers] == [True, True]


async def test_erased_users_take_their_publications_along(world: World):
    alice, root = await world.player("Alice"), await world.super_admin()
    server = await claimed(world, alice)
    await push(server)
    await publish(alice, server)
    await root.do("DELETE", f"/v1/admin/users/{alice.id}", status=204)
    assert await names(world.nobody()) == []
    await flush(world)


async def test_too_many_statuses(world: World):
    """Two a second and server; another server's are its own."""
    alice: Player = await world.player("Alice")
    server, other = await claimed(world, alice), await claimed(world, alice, "Other")
    world.clock.stop()
    answers = [
        await server.ask("PUT", f"{server.path}/publication/status", {"online": True}) for _ in range(8)
    ]
    assert {answer.status_code for answer in answers} <= {200, 429}
    assert answers[-1].status_code == 429
    await push(other)
