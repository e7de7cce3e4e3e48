"""Members of a server over the wire: who may what by which role, who may change whom, and what streams are told."""

import pytest

from actors.connect.capabilities import OF_ROLE
from tests.connect.play import GameServer, claimed
from tests.support.one_world import in_one_world
from tests.support.waiting import patience, wait_until
from tests.support.websocket import Client, Closed, Refused
from tests.support.world import Player, World

MEMBERS_NODES = ("connect:members:read", "connect:members:write")


async def _join(owner: Player, server: GameServer, player: Player, role: str, *capabilities: str):
    body = {"role": role, "capabilities": capabilities}
    return await owner.do("PUT", f"{server.path}/members/{player.id}", body, status=200)


async def test_members_are_added_changed_and_removed_and_leave(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    made = await _join(ann, server, bob, "viewer", "server.commands.write")
    assert made == {
        "userId": bob.id,
        "name": "Bob",
        "role": "viewer",
        "capabilities": ["server.commands.write"],
        "addedBy": ann.id,
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
    }
    assert await _join(ann, server, bob, "viewer", "server.commands.write") == made
    (first, second) = (await bob.get(f"{server.path}/members"))["items"]
    assert (first["userId"], first["name"], first["role"]) == (ann.id, "Ann", "owner")
    assert second == made
    changed = await _join(ann, server, bob, "operator")
    assert (changed["role"], changed["capabilities"], changed["createdAt"]) == (
        "operator",
        [],
        made["createdAt"],
    )
    # Whoever gives up the right to change members is told again that it was done.
    await _join(ann, server, bob, "admin")
    himself, key = f"{server.path}/members/{bob.id}", {"idempotency-key": "k"}
    given = [await bob.ask("PUT", himself, {"role": "viewer"}, headers=key) for _ in range(2)]
    assert [response.status_code for response in given] == [200, 200], given[1].text
    assert (given[0].content, given[1].headers["idempotent-replayed"]) == (given[1].content, "true")
    for headers in ({}, {"idempotency-key": "k2"}):
        refused = await bob.ask("PUT", himself, {"role": "viewer"}, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
    refused = await eve.ask("PUT", f"{server.path}/members/{eve.id}", {"role": "viewer"}, headers=key)
    assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")
    assert await eve.refused("GET", f"{server.path}/members") == (404, "NOT_FOUND")
    unknown = f"{server.path}/members/{server.id}"
    assert await ann.refused("PUT", unknown, {"role": "viewer"}) == (404, "NOT_FOUND")
    assert await ann.refused("DELETE", f"{server.path}/members/{eve.id}") == (404, "NOT_FOUND")
    await bob.do("DELETE", f"{server.path}/members/{bob.id}", status=204)
    assert await bob.refused("GET", f"{server.path}/settings") == (404, "NOT_FOUND")
    await _join(ann, server, bob, "viewer")
    await ann.do("DELETE", f"{server.path}/members/{bob.id}", status=204)
    assert await bob.refused("DELETE", f"{server.path}/members/{bob.id}") == (404, "NOT_FOUND")


# (method, path below the server, body, capability)
ROUTES: list[tuple[str, str, object, str]] = [
    ("GET", "/settings", None, "server.settings.read"),
    ("GET", "/settings/history", None, "server.settings.read"),
    ("PUT", "/settings", {"data": {}}, "server.settings.write"),
    ("GET", "/commands", None, "server.commands.read"),
    ("POST", "/commands", {"action": "a"}, "server.commands.write"),
    ("GET", "/members", None, "server.members.read"),
    ("GET", "/access-policy", None, "server.members.read"),
    ("GET", "/invites", None, "server.members.read"),
    ("PATCH", "/access-policy", {}, "server.members.write"),
    ("DELETE", "/invites/" + "0" * 24, None, "server.members.write"),
]


async def test_roles_open_what_they_say(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    for role in ("admin", "operator", "viewer"):
        player = await world.player(role.title())
        await _join(ann, server, player, role)
        for method, path, body, capability in ROUTES:
            response = await player.ask(method, server.path + path, body)
            if capability in OF_ROLE[role]:
                assert response.status_code in {200, 201, 204, 404}, (role, method, path)
                assert (response.status_code == 404) == ("000" in path)
            else:
                assert response.status_code == 403, (role, method, path)
                assert response.json()["meta"]["permission"] == capability
        # What is the owner's alone is forbidden to members; only strangers find nothing.
        for method, path in (("PATCH", ""), ("DELETE", ""), ("POST", "/secret/rotate")):
            assert await player.refused(method, server.path + path, {} if method == "PATCH" else None) == (
                403,
                "FORBIDDEN",
            )


async def test_others_may_not(world: World):
    """Strangers find nothing, servers are no users, and the nodes of the store are needed as well."""
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server, other = await claimed(world, ann), await claimed(world, eve)
    await _join(ann, server, bob, "admin")
    asked = [
        ("GET", f"{server.path}/members", None),
        ("GET", f"{server.path}/access-policy", None),
        ("GET", f"{server.path}/invites", None),
        ("PUT", f"{server.path}/members/{bob.id}", {"role": "viewer"}),
        ("DELETE", f"{server.path}/members/{bob.id}", None),
        ("PATCH", f"{server.path}/access-policy", {"accessMode": "private"}),
        ("POST", f"{server.path}/invites", {"inviteeUserId": eve.id, "role": "admin"}),
        ("DELETE", f"{server.path}/invites/{'0' * 24}", None),
    ]
    for request in asked:
        assert await eve.refused(*request) == (404, "NOT_FOUND")
        assert (await world.nobody().refused(*request))[0] == 401
        for one in (server, other):
            assert (await one.refused(*request))[0] == 401
        assert await ann.refused(request[0], request[1].replace(server.id, ann.id), request[2]) == (
            404,
            "NOT_FOUND",
        )
    for node in MEMBERS_NODES:
        await world.grant(bob, node, negated=True)
    for request in asked:
        assert await bob.refused(*request) == (403, "FORBIDDEN")


async def test_nobody_grants_more_than_they_hold(world: World):
    ann, bob, eve, dan = await world.players("Ann", "Bob", "Eve", "Dan")
    server = await claimed(world, ann)
    await _join(ann, server, bob, "operator", "server.members.write")
    await _join(ann, server, eve, "admin")
    members = f"{server.path}/members"
    for path, body in (
        (f"{members}/{dan.id}", {"role": "admin"}),
        (f"{members}/{dan.id}", {"role": "operator", "capabilities": ["server.publication.write"]}),
        (f"{members}/{bob.id}", {"role": "admin"}),
        (f"{members}/{eve.id}", {"role": "operator"}),
        (f"{members}/{ann.id}", {"role": "operator"}),
    ):
        assert await bob.refused("PUT", path, body) == (403, "FORBIDDEN"), body
    for victim in (ann, eve):
        assert await bob.refused("DELETE", f"{members}/{victim.id}") == (403, "FORBIDDEN")
        invite = {"inviteeUserId": dan.id, "role": "admin"}
        assert await bob.refused("POST", f"{server.path}/invites", invite) == (403, "FORBIDDEN")
    own = {"role": "operator", "capabilities": ["server.members.write"]}
    await bob.do("PUT", f"{members}/{dan.id}", own, status=200)
    for one, body, refusal in (
        (ann, {"role": "viewer"}, (409, "INVALID_STATE")),
        (ann, {"role": "owner"}, (422, "VALIDATION_FAILED")),
        (eve, {"role": "viewer"}, (403, "FORBIDDEN")),
    ):
        assert await one.refused("PUT", f"{members}/{ann.id}", body) == refusal
    assert await ann.refused("DELETE", f"{members}/{ann.id}") == (409, "INVALID_STATE")
    assert await eve.refused("PUT", f"{members}/{eve.id}", {"role": "owner"}) == (422, "VALIDATION_FAILED")
    await eve.do("PUT", f"{members}/{bob.id}", {"role": "viewer"}, status=200)
    await eve.do("PUT", f"{members}/{eve.id}", {"role": "viewer"}, status=200)
    assert await eve.refused("PUT", f"{members}/{eve.id}", {"role": "admin"}) == (403, "FORBIDDEN")


@in_one_world(
    ("body", "pointer"),
    [
        ({}, "/role"),
        ({"role": "root"}, "/role"),
        ({"role": None}, "/role"),
        ({"role": "viewer", "capabilities": ["server.sessions.write"]}, "/capabilities/0"),
        ({"role": "viewer", "capabilities": ["server.settings.read"] * 8}, "/capabilities"),
    ],
)
async def test_bodies_that_are_none(world: World, body: object, pointer: str):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    response = await ann.ask("PUT", f"{server.path}/members/{bob.id}", body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


async def test_a_block_keeps_from_being_made_a_member(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    await world.block(bob, ann)
    path = f"{server.path}/members/{bob.id}"
    assert await ann.refused("PUT", path, {"role": "viewer"}) == (403, "BLOCKED")
    await world.block(bob, ann, blocked=False)
    await ann.do("PUT", path, {"role": "viewer"}, status=200)


async def _json(client: Client):
    with patience():
        return await client.receive_json()


async def test_streams_are_told(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await _join(ann, server, bob, "operator")
    stream = f"{server.path}/stream"
    headers = [("x-server-id", server.id)]
    with pytest.raises(Refused) as refused:
        async with eve.live(stream):
            pass
    assert refused.value.status == 404
    async with (
        ann.live(stream) as all_,
        bob.live(stream) as some,
        server.live(stream, headers=headers) as own,
    ):
        for live in (all_, some, own):
            assert (await _json(live))["type"] == "settings_snapshot"
        await _join(ann, server, eve, "viewer")
        for live in (all_, own):
            frame = await _json(live)
            assert frame["type"] == "members"
            assert [(one["name"], one["role"]) for one in frame["members"]] == [
                ("Ann", "owner"),
                ("Bob", "operator"),
                ("Eve", "viewer"),
            ]
        policy = {"accessMode": "invite_only", "inviteRequiresDirectFriend": True}
        await ann.do("PATCH", f"{server.path}/access-policy", policy, status=200)
        for live in (all_, own):
            assert await _json(live) == {"type": "access_policy", "accessPolicy": policy}
        await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
        told = [(await _json(some))["type"] for _ in range(3)]  # an operator is told what a viewer is
        assert told == ["members", "access_policy", "settings_updated"]
        await _join(ann, server, bob, "viewer")
        assert (await _json(some))["type"] == "members"
        await ann.do("DELETE", f"{server.path}/members/{bob.id}", status=204)
        with pytest.raises(Closed) as closed:
            await _json(some)
        assert closed.value.code in {4403, 4404}


async def test_streams_end_with_the_node_of_members(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    async with ann.live(f"{server.path}/stream") as live:
        await _json(live)
        await world.grant(ann, "connect:members:read", negated=True)
        with pytest.raises(Closed) as closed:
            await _json(live)
        assert closed.value.code == 4403
    async with ann.live(f"{server.path}/stream") as live:  # without it, one is told of all the rest
        await _json(live)
        await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
        assert (await _json(live))["type"] == "settings_updated"


async def test_tokens_of_the_server_are_told_as_far_as_they_are_for_it(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    reader = await server.delegated("server.settings.read")
    async with reader.live(f"{server.path}/stream", headers=[("x-server-id", server.id)]) as live:
        await _json(live)
        await _join(ann, server, bob, "viewer")
        await ann.do("PUT", f"{server.path}/settings", {"data": {"a": 1}}, status=200)
        assert (await _json(live))["type"] == "settings_updated"


async def test_the_channel_tells_members_too(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    async with ann.live("/v1/social/live?channels=") as live:
        await _json(live)
        ask = {"id": 1, "op": "subscribe", "channel": f"server:{server.id}", "params": {"mode": "delta"}}
        await live.send_json(ask)
        assert (await _json(live))["ok"]
        snapshot = await _json(live)
        await _join(ann, server, bob, "viewer")
        event = await _json(live)
        assert (event["event"], event["offset"]) == ("members", snapshot["offset"] + 1)
        assert [one["userId"] for one in event["data"]] == [ann.id, bob.id]


async def test_streams_are_told_of_new_names(world: World):
    """Of the owner and of members, as lists show them, and under no offset: nothing of the server's has moved."""
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await _join(ann, server, bob, "admin")
    async with ann.live(f"{server.path}/stream") as live, ann.live("/v1/social/live?channels=") as channel:
        assert (await _json(live))["type"] == "settings_snapshot"
        await _json(channel)
        ask = {"id": 1, "op": "subscribe", "channel": f"server:{server.id}", "params": {"mode": "delta"}}
        await channel.send_json(ask)
        assert (await _json(channel))["ok"]
        snapshot = await _json(channel)
        for player, called, wanted in ((bob, "Bobby", ["Ann", "Bobby"]), (ann, "Anna", ["Anna", "Bobby"])):
            renamed = Player(world, player.id, called, world.token(player.id, called))
            await renamed.get("/v1/auth/verify")
            ann = renamed if player is ann else ann  # a token with the former name would bring that back
            frame, event = await _json(live), await _json(channel)
            assert frame["members"] == event["data"] == (await ann.get(f"{server.path}/members"))["items"]
            assert [one["name"] for one in frame["members"]] == wanted
            assert event["offset"] is None
        assert (await _join(ann, server, bob, "viewer"))["name"] == "Bobby"
        assert [one["name"] for one in (await _json(live))["members"]] == ["Anna", "Bobby"]
        assert (await _json(channel))["offset"] == snapshot["offset"] + 1
        # Who is no member changes nothing, and a name that is known is not told again.
        await Player(world, eve.id, "Eva", world.token(eve.id, "Eva")).get("/v1/auth/verify")
        await _join(ann, server, eve, "viewer")
        assert [one["name"] for one in (await _json(live))["members"]] == ["Anna", "Bobby", "Eva"]


async def test_erased_users_belong_no_more(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await _join(ann, server, bob, "admin")
    await bob.do("POST", f"{server.path}/invites", {"inviteeUserId": eve.id, "role": "viewer"}, status=201)
    root = await world.super_admin()
    await root.do("DELETE", f"/v1/admin/users/{bob.id}", status=204)
    (owner,) = (await ann.get(f"{server.path}/members"))["items"]
    assert owner["userId"] == ann.id
    (invite,) = (await ann.get(f"{server.path}/invites"))["items"]
    assert invite["status"] == "revoked"  # who has sent it could not grant it any more
    await ann.do("POST", f"{server.path}/invites", {"inviteeUserId": eve.id, "role": "viewer"}, status=201)
    await root.do("DELETE", f"/v1/admin/users/{eve.id}", status=204)
    await ann.do("PATCH", f"{server.path}/access-policy", {"accessMode": "private"}, status=200)
    assert [one["inviteeUserId"] for one in (await ann.get(f"{server.path}/invites"))["items"]] == []
    await root.do("DELETE", f"/v1/admin/users/{ann.id}", status=204)

    async def gone() -> bool:
        return (await server.refused("GET", f"{server.path}/settings"))[0] == 401

    await wait_until(gone)
