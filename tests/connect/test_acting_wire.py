"""Who may act for whom (reliability G1): every route that acts for a player, by every kind of caller."""

import pytest

from tests.connect.play import FRIENDS, GameServer, claimed, register
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

ACT = "connect:social.act"
PARTY = "/v1/social/party/server"
NO_PARTY = "00000000-0000-4000-8000-000000000000"

ROUTES = [
    ("POST", f"{FRIENDS}/overview"),
    ("POST", f"{FRIENDS}/requests"),
    ("POST", f"{FRIENDS}/requests/accept"),
    ("POST", f"{FRIENDS}/requests/decline"),
    ("POST", f"{FRIENDS}/requests/cancel"),
    ("DELETE", FRIENDS),
    ("POST", f"{PARTY}/overview"),
    ("POST", PARTY),
    ("POST", f"{PARTY}/leave"),
    ("DELETE", PARTY),
    ("POST", f"{PARTY}/invites"),
    ("POST", f"{PARTY}/invites/{NO_PARTY}/accept"),
    ("POST", f"{PARTY}/invites/{NO_PARTY}/decline"),
]

CALLERS = {
    # caller: (status, code), or None where the caller is let through
    "nobody": (401, "BAD_SERVER_CREDENTIALS"),
    "the player themselves": (401, "BAD_SERVER_CREDENTIALS"),
    "a super-admin": (401, "BAD_SERVER_CREDENTIALS"),
    "an unclaimed server": (403, "FORBIDDEN"),
    "a claimed server": (403, "FORBIDDEN"),
    "another server of the same owner": (403, "FORBIDDEN"),
    "a server whose session of the player has ended": (403, "FORBIDDEN"),
    "a server whose session of the player has expired": (403, "FORBIDDEN"),
    "a server with somebody else's session": (403, "FORBIDDEN"),
    "a token for something else": (403, "FORBIDDEN"),
    "a rotated secret": (401, "BAD_SERVER_CREDENTIALS"),
    "the server that the player is on": None,
    "a token for acting": None,
    "a trusted operator's server": None,
}


async def _caller(world: World, name: str, actor: Player) -> Player:
    owner = await world.player("Owner")
    match name:
        case "nobody":
            return world.nobody()
        case "the player themselves":
            return actor
        case "a super-admin":
            return await world.super_admin()
        case "an unclaimed server":
            return await register(world)
    server = await claimed(world, owner)
    match name:
        case "a claimed server":
            return server
        case "a trusted operator's server":
            await world.grant(owner, ACT)
            return server
        case "a server with somebody else's session":
            await server.seat(owner)
            return server
    session = await server.seat(actor)
    match name:
        case "another server of the same owner":
            return await claimed(world, owner)
        case "a server whose session of the player has ended":
            await server.do("DELETE", f"{server.path}/sessions/{session['sessionId']}", status=204)
        case "a server whose session of the player has expired":
            world.clock.advance(12 * 3_600_000)
            actor.headers["authorization"] = f"Bearer {world.token(actor.id, actor.name)}"
        case "a token for something else":
            return await server.delegated("server.sessions.write", "server.status.write")
        case "a token for acting":
            return await server.delegated("server.social.act")
        case "a rotated secret":
            await owner.do("POST", f"{server.path}/secret/rotate")
            await owner.do("POST", f"{server.path}/secret/rotate")
    return server


@in_one_world("name", CALLERS)
async def test_who_may_act(world: World, name: str):
    actor, target = await world.players("Actor", "Target")
    caller = await _caller(world, name, actor)
    for method, path in ROUTES:
        response = await caller.ask(method, path, {"actorId": actor.id, "targetId": target.id})
        expected = CALLERS[name]
        if expected is None:
            assert response.status_code in {200, 201, 204, 404}, (path, response.text)
        else:
            assert (response.status_code, response.json()["code"]) == expected, path
        if expected == (403, "FORBIDDEN") and "token" not in name:
            assert response.json()["meta"] == {"permission": ACT}


async def test_no_server_learns_who_exists(world: World):
    """Players who have not consented look like players whom there are not."""
    owner, there = await world.players("Owner", "There")
    server = await claimed(world, owner)
    answers = []
    for actor_id in (there.id, server.id):
        response = await server.ask("POST", f"{FRIENDS}/overview", {"actorId": actor_id})
        document = response.json()
        del document["requestId"]
        answers.append((response.status_code, document))
    assert answers[0] == answers[1]


async def test_what_a_player_may_not_do_nobody_does_for_them(world: World):
    owner, actor, target = await world.players("Owner", "Actor", "Target")
    server = await claimed(world, owner)
    await server.seat(actor)
    await world.grant(actor, "social:friends.write", negated=True)
    body = {"actorId": actor.id, "targetId": target.id}
    response = await server.ask("POST", f"{FRIENDS}/requests", body)
    assert response.status_code == 403
    assert response.json()["meta"] == {"permission": "social:friends.write"}


async def _play(world: World) -> tuple[GameServer, Player, Player]:
    owner, ann, bob = await world.players("Owner", "Ann", "Bob")
    server = await claimed(world, owner)
    await server.seat(ann)
    await server.seat(bob)
    return server, ann, bob


async def test_friends_over_a_server(world: World):
    """The same friendship as the players' own requests would make."""
    server, ann, bob = await _play(world)
    body = {"actorId": ann.id, "targetName": "bob", "note": "well played"}
    sent = await server.do("POST", f"{FRIENDS}/requests", body, status=201)
    assert (sent["senderId"], sent["recipientId"], sent["note"]) == (ann.id, bob.id, "well played")
    seen = await server.do("POST", f"{FRIENDS}/overview", {"actorId": bob.id}, status=200)
    assert [one["id"] for one in seen["incoming"]] == [sent["id"]]
    back = {"actorId": bob.id, "targetId": ann.id}
    headers = {"idempotency-key": "accept-once"}
    for _ in range(2):
        path = f"{FRIENDS}/requests/accept"
        response = await server.ask("POST", path, back, headers=headers)
        assert (response.status_code, response.content) == (204, b"")
    assert [one["friendId"] for one in (await ann.get("/v1/social/friends"))["friends"]] == [bob.id]
    kinds = [one["kind"] for one in (await ann.get("/v1/notifications"))["items"]]
    assert kinds == ["friend_accepted"]
    await server.do("DELETE", FRIENDS, back, status=204)
    assert (await ann.get("/v1/social/friends"))["friends"] == []


@pytest.mark.parametrize(("answer", "by_sender"), [("decline", False), ("cancel", True)])
async def test_requests_end_over_a_server(world: World, answer: str, *, by_sender: bool):
    server, ann, bob = await _play(world)
    await server.do("POST", f"{FRIENDS}/requests", {"actorId": ann.id, "targetId": bob.id}, status=201)
    right, wrong = (ann, bob) if by_sender else (bob, ann)
    path = f"{FRIENDS}/requests/{answer}"
    if not by_sender:
        assert (await server.refused("POST", path, {"actorId": wrong.id, "targetId": right.id}))[0] == 404
    await server.do("POST", path, {"actorId": right.id, "targetId": wrong.id}, status=204)
    assert (await ann.get("/v1/social/friends/requests")) == {"incoming": [], "outgoing": []}


@pytest.mark.parametrize(
    ("method", "path", "who", "before"),
    [
        ("POST", f"{FRIENDS}/requests/accept", "bob", "asked"),
        ("POST", f"{FRIENDS}/requests/decline", "bob", "asked"),
        ("POST", f"{FRIENDS}/requests/cancel", "ann", "asked"),
        ("DELETE", FRIENDS, "ann", "friends"),
        ("DELETE", FRIENDS, "bob", "friends"),
    ],
)
@pytest.mark.parametrize("by", ["targetId", "targetName"])
async def test_answers_without_a_body(world: World, method: str, path: str, who: str, before: str, by: str):
    """204, and nothing after it (service-api §4, §7)."""
    server, ann, bob = await _play(world)
    await server.do("POST", f"{FRIENDS}/requests", {"actorId": ann.id, "targetId": bob.id}, status=201)
    if before == "friends":
        await server.do("POST", f"{FRIENDS}/requests", {"actorId": bob.id, "targetId": ann.id}, status=200)
    actor, target = (ann, bob) if who == "ann" else (bob, ann)
    named = {"targetId": target.id, "targetName": target.name}[by]
    response = await server.ask(method, path, {"actorId": actor.id, by: named})
    assert (response.status_code, response.content) == (204, b"")
    assert "content-type" not in response.headers
    again = await server.refused(method, path, {"actorId": actor.id, by: named})
    assert again == (404, "NOT_FOUND")


async def test_the_right_to_act_ends_at_once(world: World):
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    await world.grant(owner, ACT)
    body = {"actorId": ann.id}
    await server.do("POST", f"{FRIENDS}/overview", body, status=200)
    root = await world.super_admin()
    await root.do("DELETE", f"/v1/admin/users/{owner.id}/permissions/{ACT}", status=200)
    assert await server.refused("POST", f"{FRIENDS}/overview", body) == (403, "FORBIDDEN")
    looked_up = await server.do("POST", f"{PARTY}/lookup", {"playerIds": [ann.id]}, status=200)
    assert looked_up == {"memberships": [], "parties": []}


@pytest.mark.one_node(because="it counts to the last token")
async def test_the_players_own_limit_counts(world: World):
    server, ann, _ = await _play(world)
    names = [await world.player(f"P{number}") for number in range(21)]
    path = f"{FRIENDS}/requests"
    world.clock.stop()
    for target in names[:20]:
        await server.do("POST", path, {"actorId": ann.id, "targetId": target.id}, status=201)
    body = {"actorId": ann.id, "targetId": names[20].id}
    refused = await server.ask("POST", path, body)
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    # The server's own limit has plenty left: what it is told of is the player's.
    assert refused.headers["ratelimit-policy"] == '"friend-request";q=20;w=3600'
    assert refused.headers["ratelimit"].startswith('"friend-request";r=0;')


@in_one_world("actor_id", ["", "x", "65f0c0ffee65f0c0ffee65f0"])
async def test_actors_that_are_no_uuid(world: World, actor_id: str):
    server = await register(world)
    response = await server.ask("POST", f"{FRIENDS}/overview", {"actorId": actor_id})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/actorId"
    response = await server.ask("POST", f"{server.path}/permission-tokens", {"userId": actor_id})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/userId"
