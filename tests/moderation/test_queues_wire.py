"""Wire: how much waits for moderators, live, and who sees what of it."""

from typing import Any

from actors.moderation.queues import INTERVAL_MS
from tests.capes.stage import OWN, cape_in, moderator
from tests.support.spec import spec
from tests.support.waiting import patience
from tests.support.websocket import Client
from tests.support.world import Player, World
from tests.users.play import erase

LIVE = "/v1/social/live?channels=moderation"
REPORTS = "/v1/admin/reports"


async def shown(client: Client) -> tuple[Any, Any]:
    """(reports, capes) of the next snapshot."""
    data = (await client.receive_until(type="snapshot", channel="moderation"))["data"]
    spec().check_frame("ModerationSnapshot", data)
    return data["reports"], data["capes"]


async def until(world: World, client: Client, wanted: tuple[Any, Any]) -> None:
    with patience():
        world.advance(INTERVAL_MS)
        while await shown(client) != wanted:
            world.advance(INTERVAL_MS)


async def until_named(world: World, client: Client, *wanted: tuple[str, Any]) -> None:
    with patience():
        world.advance(INTERVAL_MS)
        while (
            not set(wanted)
            <= (await client.receive_until(type="snapshot", channel="moderation"))["data"].items()
        ):
            world.advance(INTERVAL_MS)


async def reported(by: Player, whom: Player) -> str:
    made = await by.do("POST", "/v1/social/friends/reports", {"targetId": whom.id}, status=201)
    return str(made["id"])


async def test_what_waits_is_counted(world: World) -> None:
    mod = await moderator(world)
    ann, ben = await world.players("Ann", "Ben")
    await reported(ann, ben)
    async with mod.live(LIVE) as client:
        assert await shown(client) == (1, 0)
        id = await reported(ben, ann)
        await until(world, client, (2, 0))
        await mod.do("PATCH", f"{REPORTS}/{id}", {"status": "dismissed"})
        await until(world, client, (1, 0))
        await mod.do("PATCH", f"{REPORTS}/{id}", {"status": "open"})
        await until(world, client, (2, 0))
        cape = await cape_in("pending", ann, mod)
        await until(world, client, (2, 1))
        await ann.do("POST", f"{OWN}/{cape['id']}/withdraw")
        await until(world, client, (2, 0))
        await ann.do("POST", f"{OWN}/{cape['id']}/submit")
        await until(world, client, (2, 1))
        await mod.do("PATCH", f"/v1/admin/capes/{cape['id']}", {"status": "approved"})
        await until(world, client, (2, 0))
        await cape_in("pending", ben, mod)
        other = await cape_in("pending", ben, mod)
        await until(world, client, (2, 2))
        await ben.do("DELETE", f"{OWN}/{other['id']}")
        await until(world, client, (2, 1))
        await erase(world, ben)
        await until(world, client, (2, 0))


async def test_nobody_is_told_of_reports_about_themselves(world: World) -> None:
    root, mod, ann = await world.super_admin(), await moderator(world), await world.player("Ann")
    own = await reported(ann, mod)
    async with mod.live(LIVE) as client, root.live(LIVE) as other:
        first = await client.receive_until(type="snapshot", channel="moderation")
        assert (first["data"]["reports"], await shown(other)) == (0, (1, 0))
        await reported(root, mod)
        await until(world, other, (2, 0))
        await root.do("PATCH", f"{REPORTS}/{own}", {"status": "dismissed"})
        await reported(ann, root)
        await until(world, other, (2, 0))
        with patience():
            world.advance(INTERVAL_MS)
            told = await client.receive_until(type="snapshot", channel="moderation")
        assert (told["data"]["reports"], told["offset"]) == (1, first["offset"] + 1)
        await root.do("PUT", f"/v1/admin/users/{mod.id}/roles/super-admin")
        await until(world, client, (2, 0))


async def test_snapshot_and_events_are_a_fresh_snapshot(world: World) -> None:
    mod = await moderator(world)
    ann, ben = await world.players("Ann", "Ben")
    async with mod.live("/v1/social/live?channels=") as client:
        subscribe = {"id": 1, "op": "subscribe", "channel": "moderation", "params": {"mode": "delta"}}
        await client.send_json(subscribe)
        first = (await client.receive_until(type="snapshot"))["data"]
        await reported(ann, ben)
        world.advance(INTERVAL_MS)
        event = await client.receive_until(type="event")
        spec().check_frame("ModerationChanged", event["data"])
        assert event["event"] == "moderation_changed"
        async with mod.live(LIVE) as other:
            assert (await other.receive_until(type="snapshot"))["data"] == {**first, **event["data"]}


async def test_what_came_last_is_named(world: World) -> None:
    """The number of those that wait is the same where one comes and another is judged between two frames."""
    root, mod, ann, ben = (
        await world.super_admin(),
        await moderator(world),
        *await world.players("Ann", "Ben"),
    )
    first = await reported(ann, ben)
    async with mod.live(LIVE) as client, root.live(LIVE) as other:
        told = (await client.receive_until(type="snapshot", channel="moderation"))["data"]
        assert (told["reports"], told["newestReportId"], told["newestCapeId"]) == (1, first, None)
        about_mod = await reported(ben, mod)
        await until_named(world, other, ("reports", 2), ("newestReportId", about_mod))
        await mod.do("PATCH", f"{REPORTS}/{first}", {"status": "dismissed"})
        second = await reported(ben, ann)
        await until_named(world, client, ("reports", 1), ("newestReportId", second))
        older = await cape_in("pending", ann, mod)
        newer = await cape_in("pending", ben, mod)
        await ann.do("POST", f"{OWN}/{older['id']}/withdraw")
        world.advance(1)
        await ann.do("POST", f"{OWN}/{older['id']}/submit")
        await until_named(world, client, ("capes", 2), ("newestCapeId", older["id"]))
        await mod.do("PATCH", f"/v1/admin/capes/{older['id']}", {"status": "blocked"})
        await until_named(world, client, ("capes", 1), ("newestCapeId", newer["id"]))


async def test_everybody_sees_what_they_may_judge(world: World) -> None:
    root = await world.super_admin()
    mod, admin, ann = await moderator(world), await world.ranked("Adam", "admin"), await world.player("Ann")
    await world.grant(ann, "capes:moderate")
    for player, wanted in ((mod, (0, 0)), (admin, (0, None)), (ann, (None, 0)), (root, (0, 0))):
        async with player.live(LIVE) as client:
            assert await shown(client) == wanted, player.name
    async with (await world.player("Eve")).live(LIVE) as client:
        told = await client.receive_until(type="unsubscribed")
        assert (told["channel"], told["code"]) == ("moderation", "FORBIDDEN")


async def test_what_is_seen_follows_the_rights(world: World) -> None:
    root, mod = await world.super_admin(), await moderator(world)
    role = f"/v1/admin/users/{mod.id}/roles/moderator"
    async with mod.live(LIVE) as client:
        assert await shown(client) == (0, 0)
        with patience():
            await world.grant(mod, "capes:moderate", negated=True)
            assert await shown(client) == (0, None)
            await root.do("DELETE", f"/v1/admin/users/{mod.id}/permissions/capes:moderate")
            assert await shown(client) == (0, 0)
            await root.do("DELETE", role)
            assert (await client.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"
