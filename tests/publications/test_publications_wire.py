"""Publishing over the wire: who may, what is taken, and whose address it is."""

from typing import Any

import pytest

from actors.ids import new_uuid
from routes.publications.parts import STATUSES
from tests.capes.stage import moderator
from tests.connect.play import GameServer, claimed, register
from tests.networks.play import Place, network
from tests.publications.play import path_of, publish, push, shown
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

BODY = {"address": "play.example.org", "displayName": "Sky"}


async def test_nothing_is_published_by_a_status(world: World):
    """A push makes no publication; once there is one, it has the status already."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    assert await shown(alice, server) is None
    assert await push(server) == {"ok": True, "serverId": server.id, "networkId": None}
    assert await shown(alice, server) is None
    made = await publish(alice, server, tags=["PvP", "pvp"], socialLinks=["https://example.org/x"])
    assert made["tags"] == ["pvp"]
    assert made["socialLinks"] == ["https://example.org/x"]
    assert (made["online"], made["playerCount"], made["motd"]) == (True, 3, "Welcome")
    assert (made["statusSource"], made["discoveryState"]) == ("CONNECT", "CONNECT")
    assert made == await shown(alice, server)


async def test_every_field_goes_in_and_comes_out(world: World):
    """PUT is the whole publication: what is left out the second time is empty again."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    links = [{"url": "https://discord.example/x", "platform": "discord", "label": None}, "http://example.org"]
    made = await publish(
        alice,
        server,
        address="Play.Example.ORG:25566",
        category="Survival",
        tags=["a", "b"],
        socialLinks=links,
        hidden=True,
        motdOverride="Hello",
    )
    assert made["address"] == "play.example.org:25566"
    assert made["category"] == "survival"
    assert made["socialLinks"] == links
    assert (made["hidden"], made["discoveryState"]) == (True, "UNLISTED")
    assert (made["motdOverride"], made["motd"]) == ("Hello", "Hello")
    again = await publish(alice, server)
    assert again["id"] == made["id"]
    assert (again["tags"], again["motdOverride"], again["hidden"]) == ([], None, False)
    assert again["discoveryState"] == "CONNECT"


async def test_removing_a_publication_twice_is_no_error(world: World):
    """Removing twice says 1 and then 0; a server that is given up takes its publication along."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    await publish(alice, server)
    answer = {"targetType": "server", "targetId": server.id}
    assert await alice.do("DELETE", path_of(server)) == {**answer, "removed": 1}
    assert await alice.do("DELETE", path_of(server)) == {**answer, "removed": 0}
    made = await publish(alice, server)
    await alice.do("DELETE", server.path, status=204)
    assert (await alice.ask("GET", f"/v1/public/servers/{made['id']}")).status_code == 404


async def test_strangers_find_nothing(world: World):
    """Another's server is as one that there is not, and a server's own secret opens none of it."""
    alice, mallory = await world.player("Alice"), await world.player("Mallory")
    server = await claimed(world, alice)
    await publish(alice, server)
    for method, body in (("GET", None), ("PUT", BODY), ("DELETE", None)):
        answers = [
            (await mallory.ask(method, path, body)).json()
            for path in (
                path_of(server),
                f"/v1/connect/publications/server/{new_uuid(bytes_of)}",
                f"/v1/connect/publications/gateway/{server.id}",
                f"/v1/connect/publications/network/{server.id}",
            )
        ]
        assert {answer["code"] for answer in answers} == {"NOT_FOUND"}
        assert (await server.ask(method, path_of(server), body)).status_code == 401
    other = await claimed(world, mallory, "Other")
    status = f"{server.path}/publication/status"
    assert await other.refused("PUT", status, {"online": True}) == (404, "NOT_FOUND")
    assert (await alice.ask("PUT", status, {"online": True})).status_code == 401


def bytes_of(count: int) -> bytes:
    """The same every time."""
    return b"\x07" * count


@in_one_world(
    ("role", "capabilities", "may"),
    [
        ("viewer", [], False),
        ("viewer", ["server.commands.write"], False),
        ("viewer", ["server.publication.write"], True),
        ("viewer", ["server.settings.write"], True),
        ("operator", [], True),
        ("admin", [], True),
    ],
)
async def test_members_as_far_as_they_may(world: World, role: str, capabilities: list[str], may: bool):
    """By the role or a capability of their own; who lacks it is refused by its name; until they are members no more."""
    alice, ben = await world.player("Alice"), await world.player("Ben")
    server = await claimed(world, alice)
    await publish(alice, server)
    member = f"{server.path}/members/{ben.id}"
    await world.grant(alice, "connect:members:write")
    await alice.do("PUT", member, {"role": role, "capabilities": capabilities})
    for method, body in (("GET", None), ("PUT", BODY), ("DELETE", None)):
        answer = await ben.ask(method, path_of(server), body)
        assert answer.status_code == (200 if may else 403)
        if not may:
            assert answer.json()["meta"]["permission"] == "server.settings.write"
    await alice.do("DELETE", member)
    assert await ben.refused("GET", path_of(server)) == (404, "NOT_FOUND")


async def test_delegated_tokens_need_the_scope(world: World):
    """`server.status.write` pushes, another scope does not."""
    server = await claimed(world, await world.player("Alice"))
    await push(await server.delegated("server.status.write"))
    reader = await server.delegated("server.settings.read")
    status = f"{server.path}/publication/status"
    assert await reader.refused("PUT", status, {"online": True}) == (403, "FORBIDDEN")


async def test_unclaimed_servers_may_push(world: World):
    """It is answered as others are, and kept by nobody: anyone can register a server."""
    server = await register(world)
    assert await push(server, kept=False) == {"ok": True, "serverId": server.id, "networkId": None}
    assert len(world.service.of(STATUSES)) == 0


@pytest.fixture
async def unpublished(world: World) -> tuple[Player, GameServer]:
    """An owner and a server of theirs."""
    alice = await world.player("Alice")
    return alice, await claimed(world, alice)


@in_one_world(
    ("field", "value"),
    [
        ("address", "https://play.example.org"),
        ("address", "play.example.org/x"),
        ("address", "user@play.example.org"),
        ("address", "play.example.org:0"),
        ("address", "play.example.org:65536"),
        ("address", ""),
        ("address", "10.0.0.1:25565"),
        ("address", "127.0.0.2"),
        ("address", "169.254.169.254"),
        ("address", "[::ffff:10.0.0.1]"),
        ("address", "localhost:25565"),
        ("address", "metadata.google.internal"),
        ("displayName", "   "),
        ("displayName", "a\u202eb"),
        ("displayName", "x" * 101),
        ("tags", ["<b>"]),
        ("tags", ["x"] * 11),
        ("category", "a\nb"),
        ("socialLinks", ["javascript:alert(1)"]),
        ("socialLinks", ["https://a@b.example"]),
        ("socialLinks", [{"url": "ftp://example.org"}]),
        ("socialLinks", [{"type": "discord"}]),
        ("socialLinks", [{"url": None}]),
        ("socialLinks", [{"url": "https://example.org", "label": "a\u202eb"}]),
        ("socialLinks", [{"url": "https://example.org", **{str(at): "" for at in range(6)}}]),
        ("socialLinks", ["https://example.org"] * 11),
        ("motdOverride", "a\u0007b"),
        ("motdOverride", "x" * 301),
    ],
)
async def test_what_is_not_taken(unpublished: tuple[Player, GameServer], field: str, value: object):
    """422, and nothing is published."""
    alice, server = unpublished
    assert await alice.refused("PUT", path_of(server), {**BODY, field: value}) == (422, "VALIDATION_FAILED")
    assert await shown(alice, server) is None


@pytest.mark.parametrize("field", ["featured", "suppressed"])
async def test_what_moderators_alone_do(world: World, field: str):
    """The owner may send back what is there, and change nothing of it; a moderator may."""
    alice, mod = await world.player("Alice"), await moderator(world)
    server = await claimed(world, alice)
    assert await alice.refused("PUT", path_of(server), {**BODY, field: True}) == (403, "FORBIDDEN")
    await alice.do("PUT", path_of(server), {**BODY, field: False})
    made = await publish(mod, server, **{field: True})
    assert made["featured"] is (field == "featured")
    await alice.do("PUT", path_of(server), {**BODY, field: True})
    assert await alice.refused("PUT", path_of(server), {**BODY, field: False}) == (403, "FORBIDDEN")
    again = await publish(alice, server)
    assert again["discoveryState"] == ("SUPPRESSED" if field == "suppressed" else "CONNECT")
    removed = await alice.ask("DELETE", path_of(server))
    assert removed.status_code == (409 if field == "suppressed" else 200)


async def test_what_moderators_do_is_in_the_audit_trail(world: World):
    """With somebody else's all of it, with their own what they alone may do; what owners do is not."""
    alice, mod, root = await world.player("Alice"), await moderator(world), await world.super_admin()
    server, own = await claimed(world, alice), await claimed(world, mod)
    await publish(alice, server)
    await publish(mod, own)
    await publish(mod, own, featured=True)
    await publish(mod, server, suppressed=True)
    await mod.do("DELETE", path_of(server))
    trail: Any = await root.get("/v1/admin/audit")
    ours = [one for one in trail["items"] if one["action"].startswith("publication.")]
    assert [(one["action"], one["detail"]["featured"], one["detail"]["suppressed"]) for one in ours] == [
        ("publication.removed", False, True),
        ("publication.changed", False, True),
        ("publication.changed", True, False),
    ]
    assert {one["actorId"] for one in ours} == {mod.id}


async def test_own_at_once_where_the_server_calls_from(world: World):
    """An address of our own network is taken from a server that calls from there, and counts as its own."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    await push(server)
    made = await publish(alice, server, address="127.0.0.1:25565")
    assert (made["ownershipState"], made["discoveryState"]) == ("OWNED", "CONNECT")
    assert made["ownershipVerifiedAt"] is not None
    moved = await publish(alice, server, address="play.example.org")
    assert (moved["ownershipState"], moved["ownershipVerifiedAt"]) == ("PENDING", None)


async def test_own_below_the_gateway_domain_and_in_verified_domains(place: Place):
    """Each proof makes it OWNED; a foreign route's host and a foreign domain stay PENDING."""
    world = place.world
    alice, mallory = await world.player("Alice"), await world.player("Mallory")
    net, other = await network(alice), await claimed(world, mallory)
    server = await net.server()
    gateway = "sky.play.partyline.test"
    assert (await publish(alice, server, address=gateway))["ownershipState"] == "OWNED"
    route = {"routeHost": gateway, "backendHost": "203.0.113.9", "backendPort": 25565}
    await server.do("PUT", f"{server.path}/gateway-route", route, status=200)
    assert (await publish(mallory, other, address=gateway))["ownershipState"] == "PENDING"
    assert (await publish(alice, net, address=gateway))["ownershipState"] == "OWNED"
    assert (await publish(alice, net, address="mc.example.org"))["ownershipState"] == "PENDING"
    await place.verified(net, "example.org")
    assert (await publish(alice, net, address="mc.example.org"))["ownershipState"] == "OWNED"
    assert (await publish(alice, server, address="lobby.example.org:25570"))["ownershipState"] == "OWNED"
    assert (await publish(mallory, other, address="mc.example.org"))["ownershipState"] == "PENDING"
    shown_net: Any = await shown(alice, net)
    assert shown_net["connectTargetType"] == "network"
    assert shown_net["connectNetworkId"] == net.id
