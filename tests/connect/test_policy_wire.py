"""Who may play: the policy over the wire, and what `access` says of everybody by each mode."""

from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed, register
from tests.friends import rows
from tests.support.one_world import in_one_world
from tests.support.world import World

MODES = ("public", "network", "friends_only", "invite_only", "private")

# {who: what `access` says by each mode, in the order of MODES}
TABLE: dict[str, tuple[str, str, str, str, str]] = {
    "owner": ("owner",) * 5,
    "member": ("member",) * 5,
    "nobody known": ("!unknown_user",) * 5,
    "stranger": ("public", "!not_in_network", "!not_a_friend", "!not_invited", "!private"),
    "friend": ("public", "!not_in_network", "friend", "!not_invited", "!private"),
    "friend of a member": ("public", "!not_in_network", "!not_a_friend", "!not_invited", "!private"),
    "invited": ("public", "!not_in_network", "!not_a_friend", "invited", "!private"),
    "was invited": ("public", "!not_in_network", "!not_a_friend", "!not_invited", "!private"),
    "member next door": ("public", "network", "!not_a_friend", "!not_invited", "!private"),
    "player next door": ("public", "network", "!not_a_friend", "!not_invited", "!private"),
    "blocked by the owner": ("!blocked",) * 5,
    "blocking the owner": ("!blocked",) * 5,
    "blocked member": ("!blocked",) * 5,
}


async def _access(server: GameServer, user_id: str) -> str:
    said = await server.get(f"{server.path}/access", userId=user_id)
    return ("" if said["allowed"] else "!") + said["reason"]


async def test_who_may_come_to_play_follows_the_table(world: World):
    owner = await world.player("Owner")
    server, next_door = await claimed(world, owner), await claimed(world, owner, "Next door")
    network = await owner.do("POST", "/v1/connect/networks", {"name": "Net"}, status=201)
    for one in (server, next_door):
        await owner.do("PATCH", one.path, {"networkId": network["network"]["networkId"]}, status=200)
    people = {who: await world.player("P" + who.title().replace(" ", "")) for who in TABLE if who != "owner"}
    people["owner"] = owner
    befriend = world.service.database.transact
    await befriend(rows.befriend, owner.id, people["friend"].id, world.clock.now_ms())
    await befriend(rows.befriend, people["member"].id, people["friend of a member"].id, world.clock.now_ms())
    for who, where in (("member", server), ("member next door", next_door)):
        await owner.do("PUT", f"{where.path}/members/{people[who].id}", {"role": "viewer"}, status=200)
    for who in ("was invited", "invited"):
        body = {"inviteeUserId": people[who].id, "role": "viewer"}
        made = await owner.do("POST", f"{server.path}/invites", body, status=201)
        if who == "was invited":
            await owner.do("DELETE", f"{server.path}/invites/{made['id']}", status=204)
    await next_door.seat(people["player next door"])
    await owner.do(
        "PUT", f"{server.path}/members/{people['blocked member'].id}", {"role": "viewer"}, status=200
    )
    for who in ("blocked by the owner", "blocked member"):
        await world.block(owner, people[who])
    await world.block(people["blocking the owner"], owner)
    for column, mode in enumerate(MODES):
        await owner.do("PATCH", f"{server.path}/access-policy", {"accessMode": mode}, status=200)
        said = {
            who: await _access(
                server, network["network"]["networkId"] if who == "nobody known" else people[who].id
            )
            for who in TABLE
        }
        assert said == {who: row[column] for who, row in TABLE.items()}, mode
    for who, row in TABLE.items():
        if row == ("!blocked",) * 5:
            assert await people[who].refused("POST", f"{server.path}/join-tickets") == (403, "BLOCKED")


async def test_a_mode_network_without_a_network_opens_to_members_alone(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    await ann.do("PATCH", f"{server.path}/access-policy", {"accessMode": "network"}, status=200)
    assert await _access(server, ann.id) == "owner"
    assert await _access(server, bob.id) == "!not_in_network"


async def test_a_patch_of_the_policy_leaves_what_it_leaves_out(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/access-policy"
    assert await ann.get(path) == {"accessMode": "public", "inviteRequiresDirectFriend": False}
    changed = {"accessMode": "friends_only", "inviteRequiresDirectFriend": True}
    assert await ann.do("PATCH", path, changed, status=200) == changed
    assert await ann.do("PATCH", path, {}, status=200) == changed
    assert await ann.do("PATCH", path, {"inviteRequiresDirectFriend": False}, status=200) == {
        **changed,
        "inviteRequiresDirectFriend": False,
    }
    assert (await ann.get(path))["accessMode"] == "friends_only"


@in_one_world(
    "body",
    [
        {"accessMode": "open"},
        {"accessMode": None},
        {"accessMode": ["public"]},
        {"inviteRequiresDirectFriend": 1},
        {"inviteRequiresDirectFriend": None},
        [],
    ],
)
async def test_policies_that_are_none(world: World, body: object):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/access-policy"
    assert await ann.refused("PATCH", path, body) == (422, "VALIDATION_FAILED")


async def test_who_may_ask(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other, lonely = await claimed(world, ann), await claimed(world, bob), await register(world)
    path = f"{server.path}/access?userId={bob.id}"
    assert await other.refused("GET", path) == (404, "NOT_FOUND")
    for one in (ann, world.nobody()):
        assert (await one.refused("GET", path))[0] == 401
    assert await lonely.refused("GET", f"{lonely.path}/access?userId={bob.id}") == (404, "NOT_FOUND")
    for query in ("", "?userId=", "?userId=x"):
        assert await server.refused("GET", f"{server.path}/access{query}") == (400, "BAD_QUERY")
    reader, blind = (
        await server.delegated("server.members.read"),
        await server.delegated("server.status.write"),
    )
    assert (await reader.get(f"{server.path}/access", userId=bob.id))["allowed"] is True
    assert await blind.refused("GET", path) == (403, "FORBIDDEN")


async def test_a_template_gives_its_policy(world: World):
    ann, bob = await world.players("Ann", "Bob")
    template = await claimed(world, ann, "Template")
    policy = {"accessMode": "invite_only", "inviteRequiresDirectFriend": True}
    await ann.do("PATCH", f"{template.path}/access-policy", policy, status=200)
    await ann.do("PATCH", template.path, {"isTemplate": True}, status=200)
    for owner, mode in ((ann, "invite_only"), (bob, "public")):
        server = await claimed(world, owner, "Copy", templateId=template.id)
        assert (await owner.get(f"{server.path}/access-policy"))["accessMode"] == mode


async def test_a_server_remembers(world: World):
    """Members, invites and policy are the same when the server is read again from its rows."""
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "operator"}, status=200)
    body = {"inviteeUserId": eve.id, "role": "viewer"}
    await ann.do("POST", f"{server.path}/invites", body, status=201)
    await ann.do("PATCH", f"{server.path}/access-policy", {"accessMode": "invite_only"}, status=200)
    service = world.home("server", server.id)
    live = service.system.peek(service.of(GAME_SERVERS).server, server.id)
    read = await service.database.read(service.of(GAME_SERVERS).server.load, server.id)
    assert live is not None
    assert (live.members, live.invites) == (read.members, read.invites)
    assert (live.row, dict(live.sessions)) == (read.row, dict(read.sessions))
