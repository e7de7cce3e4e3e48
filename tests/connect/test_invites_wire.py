"""Invites to a server over the wire: their life, who may what, and how a server is passed on."""

from collections.abc import Callable
from typing import Any

import trio

from actors.connect.commands import CreateInvite, RevokeInvite
from actors.connect.rules_invites import INVITE_MS, MAX_INVITES
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed
from tests.friends import rows
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.world import Player, World

ACCEPT = "/v1/connect/server-invites"


async def _invite(inviter: Player, server: GameServer, invitee: Player, role: str = "viewer", **more: object):
    body = {"inviteeUserId": invitee.id, "role": role, **more}
    return await inviter.do("POST", f"{server.path}/invites", body, status=201)


async def _status(owner: Player, server: GameServer, invite: dict[str, Any]) -> str:
    items = (await owner.get(f"{server.path}/invites"))["items"]
    return next(one["status"] for one in items if one["id"] == invite["id"])


async def test_an_invite_makes_a_member(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    made = await _invite(ann, server, bob, capabilities=["server.settings.write"], note="come and help")
    assert made == {
        "id": made["id"],
        "serverId": server.id,
        "inviterId": ann.id,
        "inviteeUserId": bob.id,
        "role": "viewer",
        "capabilities": ["server.settings.write"],
        "note": "come and help",
        "status": "pending",
        "createdAt": made["createdAt"],
        "expiresAt": made["expiresAt"],
    }
    (notice,) = (await bob.get("/v1/notifications"))["items"]
    assert (notice["kind"], notice["actorId"]) == ("server_invite", ann.id)
    assert notice["data"] == {
        "inviteId": made["id"],
        "serverId": server.id,
        "serverName": "Lobby",
        "role": "viewer",
        "note": "come and help",
        "expiresAt": made["expiresAt"],
    }
    path = f"{ACCEPT}/{made['id']}/accept"
    for one in (ann, eve):
        assert await one.refused("POST", path) == (404, "NOT_FOUND")
    assert (await server.refused("POST", path))[0] == 401
    assert await bob.refused("GET", f"{server.path}/members") == (404, "NOT_FOUND")
    accepted = await bob.do("POST", path, status=200)
    assert accepted == {**made, "status": "accepted"}
    (_, member) = (await bob.get(f"{server.path}/members"))["items"]
    assert (member["userId"], member["role"], member["capabilities"], member["addedBy"]) == (
        bob.id,
        "viewer",
        ["server.settings.write"],
        ann.id,
    )
    assert await bob.refused("POST", path) == (409, "INVALID_STATE")
    assert await ann.refused("DELETE", f"{server.path}/invites/{made['id']}") == (409, "INVALID_STATE")
    again = {"inviteeUserId": bob.id, "role": "viewer"}
    assert await ann.refused("POST", f"{server.path}/invites", again) == (409, "INVALID_STATE")
    await bob.do("DELETE", f"{server.path}/members/{bob.id}", status=204)
    assert await bob.refused("POST", path) == (409, "INVALID_STATE")


async def test_the_invited_sees_what_they_are_offered_and_may_decline(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    first, second = await claimed(world, ann), await claimed(world, ann)
    one = await _invite(ann, first, bob, note="come")
    other = await _invite(ann, second, bob, "admin")
    shown = (await bob.get(ACCEPT))["items"]
    assert shown == [
        {**made, "serverName": "Lobby", "inviterName": "Ann"}
        for made in sorted((one, other), key=lambda made: (made["createdAt"], made["id"]), reverse=True)
    ]
    assert (await eve.get(ACCEPT))["items"] == (await ann.get(ACCEPT))["items"] == []
    path = f"{ACCEPT}/{one['id']}/decline"
    for stranger in (ann, eve):
        assert await stranger.refused("POST", path) == (404, "NOT_FOUND")
    for _ in range(2):
        await bob.do("POST", path, status=204)
    assert await _status(ann, first, one) == "revoked"
    assert await bob.refused("POST", f"{ACCEPT}/{one['id']}/accept") == (410, "INVITE_EXPIRED")
    await bob.do("POST", f"{ACCEPT}/{other['id']}/accept", status=200)
    assert await bob.refused("POST", f"{ACCEPT}/{other['id']}/decline") == (409, "INVALID_STATE")
    assert (await bob.get(ACCEPT))["items"] == []
    await _invite(ann, first, bob)
    world.clock.advance(INVITE_MS)
    bob.headers["authorization"] = f"Bearer {world.token(bob.id, bob.name)}"
    assert (await bob.get(ACCEPT))["items"] == []


async def test_invites_are_told_live(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    async with bob.live("/v1/social/live?channels=notifications&mode=delta") as live:
        with patience():
            while (await live.receive_json()).get("type") != "snapshot":
                pass
            await _invite(ann, server, bob)
            frame = await live.receive_json()
    assert "server_invite" in str(frame)


async def test_an_invite_lasts_seven_days(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    first = await _invite(ann, server, bob)
    world.clock.advance(INVITE_MS)
    bob.headers["authorization"] = f"Bearer {world.token(bob.id, bob.name)}"
    ann.headers["authorization"] = f"Bearer {world.token(ann.id, ann.name)}"
    assert await bob.refused("POST", f"{ACCEPT}/{first['id']}/accept") == (410, "INVITE_EXPIRED")
    assert await _status(ann, server, first) == "expired"
    await ann.do("DELETE", f"{server.path}/invites/{first['id']}", status=204)
    assert await _status(ann, server, first) == "expired"
    await _invite(ann, server, bob)


async def _revoke(ann: Player, server: GameServer, bob: Player, eve: Player, made: dict[str, Any]) -> None:
    for _ in range(2):
        await bob.do("DELETE", f"{server.path}/invites/{made['id']}", status=204)


async def _demote(ann: Player, server: GameServer, bob: Player, eve: Player, made: dict[str, Any]) -> None:
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "viewer"}, status=200)


async def _remove(ann: Player, server: GameServer, bob: Player, eve: Player, made: dict[str, Any]) -> None:
    await ann.do("DELETE", f"{server.path}/members/{bob.id}", status=204)


async def _leave(ann: Player, server: GameServer, bob: Player, eve: Player, made: dict[str, Any]) -> None:
    await bob.do("DELETE", f"{server.path}/members/{bob.id}", status=204)


async def _admit(ann: Player, server: GameServer, bob: Player, eve: Player, made: dict[str, Any]) -> None:
    await ann.do("PUT", f"{server.path}/members/{eve.id}", {"role": "viewer"}, status=200)


@in_one_world("deed", [_revoke, _demote, _remove, _leave, _admit], ids=lambda deed: deed.__name__)
async def test_what_ends_an_invite(world: World, deed: Callable[..., Any]):
    """Revoking it; the inviter's loss of what it offers; and being made a member otherwise."""
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "admin"}, status=200)
    made = await _invite(bob, server, eve, "admin")
    await deed(ann, server, bob, eve, made)
    assert await _status(ann, server, made) == "revoked"
    assert await eve.refused("POST", f"{ACCEPT}/{made['id']}/accept") == (410, "INVITE_EXPIRED")


async def test_who_can_be_invited(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "admin"}, status=200)
    path = f"{server.path}/invites"
    for one, body, refusal in (
        (ann, {"inviteeUserId": ann.id, "role": "viewer"}, (422, "VALIDATION_FAILED")),
        (ann, {"inviteeUserId": "x", "role": "viewer"}, (422, "VALIDATION_FAILED")),
        (ann, {"inviteeUserId": eve.id, "role": "king"}, (422, "VALIDATION_FAILED")),
        (ann, {"inviteeUserId": eve.id, "role": "viewer", "note": "x" * 301}, (422, "VALIDATION_FAILED")),
        (ann, {"inviteeUserId": server.id, "role": "viewer"}, (404, "NOT_FOUND")),
        (ann, {"inviteeUserId": bob.id, "role": "viewer"}, (409, "INVALID_STATE")),
        (bob, {"inviteeUserId": ann.id, "role": "viewer"}, (409, "INVALID_STATE")),
        (bob, {"inviteeUserId": eve.id, "role": "owner"}, (403, "FORBIDDEN")),
    ):
        assert await one.refused("POST", path, body) == refusal, body
    await _invite(bob, server, eve)
    assert await ann.refused("POST", path, {"inviteeUserId": eve.id, "role": "admin"}) == (
        409,
        "INVALID_STATE",
    )
    unknown = "0" * 24
    assert await eve.refused("POST", f"{ACCEPT}/{unknown}/accept") == (404, "NOT_FOUND")
    assert await eve.refused("POST", f"{ACCEPT}/x/accept") == (404, "NOT_FOUND")


async def test_blocks_keep_invites_away(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    body = {"inviteeUserId": bob.id, "role": "viewer"}
    for blocker, blocked in ((ann, bob), (bob, ann)):
        await world.block(blocker, blocked)
        assert await ann.refused("POST", f"{server.path}/invites", body) == (403, "BLOCKED")
        await world.block(blocker, blocked, blocked=False)
    made = await _invite(ann, server, bob)
    assert [one["id"] for one in (await bob.get(ACCEPT))["items"]] == [made["id"]]
    await world.block(bob, ann)
    assert (await bob.get(ACCEPT))["items"] == []
    await world.block(bob, ann, blocked=False)
    await world.block(ann, bob)
    assert (await bob.get(ACCEPT))["items"] == []
    assert await bob.refused("POST", f"{ACCEPT}/{made['id']}/accept") == (403, "BLOCKED")


async def test_some_servers_invite_friends_only(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    policy = {"inviteRequiresDirectFriend": True}
    await ann.do("PATCH", f"{server.path}/access-policy", policy, status=200)
    body = {"inviteeUserId": bob.id, "role": "viewer"}
    assert await ann.refused("POST", f"{server.path}/invites", body) == (403, "FORBIDDEN")
    await world.service.database.transact(rows.befriend, ann.id, bob.id, world.clock.now_ms())
    await _invite(ann, server, bob)


async def test_a_server_is_passed_on(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "viewer"}, status=200)
    to_eve = await _invite(ann, server, eve, "owner")
    made = await _invite(ann, server, bob, "owner")
    async with ann.live(f"{server.path}/stream") as live:
        with patience():
            await live.receive_json()
            await bob.do("POST", f"{ACCEPT}/{made['id']}/accept", status=200)
            told = (await live.receive_json())["members"]
    shown = (await bob.get(f"{server.path}/members"))["items"]
    assert told == shown
    assert [(one["name"], one["role"]) for one in shown] == [("Bob", "owner"), ("Ann", "admin")]
    assert [one["id"] for one in (await ann.get("/v1/connect/servers"))["items"]] == []
    (mine,) = (await bob.get("/v1/connect/servers"))["items"]
    assert (mine["serverId"], mine["ownerId"]) == (server.id, bob.id)
    # Ann is an admin now: she offers no ownership, and what she has offered is void.
    assert await _status(bob, server, to_eve) == "revoked"
    assert await ann.refused("POST", f"{server.path}/secret/rotate") == (403, "FORBIDDEN")
    assert await ann.refused("DELETE", f"{server.path}/members/{bob.id}") == (403, "FORBIDDEN")
    await bob.do("POST", f"{server.path}/secret/rotate", status=200)
    await ann.do("DELETE", f"{server.path}/members/{ann.id}", status=204)
    assert await ann.refused("GET", f"{server.path}/members") == (404, "NOT_FOUND")


async def test_a_server_of_a_network_is_not_passed_on(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    network = await ann.do("POST", "/v1/connect/networks", {"name": "Net"}, status=201)
    made = await _invite(ann, server, bob, "owner")
    await ann.do("PATCH", server.path, {"networkId": network["network"]["networkId"]}, status=200)
    assert await bob.refused("POST", f"{ACCEPT}/{made['id']}/accept") == (409, "INVALID_STATE")
    await ann.do("DELETE", f"{server.path}/invites/{made['id']}", status=204)
    body = {"inviteeUserId": bob.id, "role": "owner"}
    assert await ann.refused("POST", f"{server.path}/invites", body) == (409, "INVALID_STATE")


async def test_a_hundred_acceptances_make_one_member(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    made = await _invite(ann, server, bob)
    statuses: list[int] = []

    async def accept() -> None:
        statuses.append((await bob.ask("POST", f"{ACCEPT}/{made['id']}/accept")).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(accept)
    assert sorted(statuses) == [200] + [409] * 99
    assert len((await ann.get(f"{server.path}/members"))["items"]) == 2


async def test_one_of_two_owners_to_be_wins(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    invites = [(one, await _invite(ann, server, one, "owner")) for one in (bob, eve)]
    statuses: list[int] = []

    async def accept(player: Player, invite: dict[str, Any]) -> None:
        statuses.append((await player.ask("POST", f"{ACCEPT}/{invite['id']}/accept")).status_code)

    async with trio.open_nursery() as nursery:
        for player, invite in invites:
            nursery.start_soon(accept, player, invite)
    assert sorted(statuses) == [200, 410]
    roles = [one["role"] for one in (await ann.get(f"{server.path}/members"))["items"]]
    assert roles == ["owner", "admin"]


async def test_an_invite_that_is_sent_twice_with_one_key_is_one(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    body = {"inviteeUserId": bob.id, "role": "viewer"}
    replies = [
        await ann.ask("POST", f"{server.path}/invites", body, headers={"idempotency-key": "one"})
        for _ in range(2)
    ]
    assert replies[0].json() == replies[1].json()
    assert len((await bob.get("/v1/notifications"))["items"]) == 1


async def test_finished_invites_make_room(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    kind = world.service.of(GAME_SERVERS).server
    service = world.home(kind.name, server.id)
    ids = [f"{number:024x}" for number in range(MAX_INVITES + 1)]
    for id in ids:  # past the edge, whose rates would not let this be
        invite = CreateInvite(
            actor_id=ann.id,
            invite_id=id,
            notice_id=id,
            invitee_user_id=bob.id,
            role="viewer",
            capabilities=(),
            note="",
        )
        await service.system.ask(kind, server.id, invite)
        await service.system.ask(kind, server.id, RevokeInvite(ann.id, id))
    assert {one["id"] for one in (await ann.get(f"{server.path}/invites", limit=200))["items"]} == set(
        ids[1:]
    )
    await _invite(ann, server, bob)
    assert len((await ann.get(f"{server.path}/invites", limit=200))["items"]) == MAX_INVITES
