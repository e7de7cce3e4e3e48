"""Wire: a change of rights is true at once for requests, and open sockets end by themselves, whichever way it comes
about (contract §2 Revocation)."""

from collections.abc import Awaitable, Callable

import pytest

from actors.time import iso
from actors.users.permissions import ABSENT_GRANTS
from persistence.users.permissions import Grant, put_grant
from tests.connect.play import claimed
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.websocket import Client
from tests.support.world import Player, World

Change = Callable[[World, Player, str], Awaitable[None]]


async def negated(world: World, ann: Player, node: str) -> None:
    await world.grant(ann, node, negated=True)


async def removed(world: World, ann: Player, node: str) -> None:
    root = await world.super_admin()
    await root.do("DELETE", f"/v1/admin/users/{ann.id}/permissions/{node}", status=200)


async def expired(world: World, ann: Player, node: str) -> None:
    root = await world.super_admin()
    ends = {"node": node, "expiresAt": iso(world.clock.now_ms() + 60_000)}
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", ends)
    world.clock.advance(60_000)


async def elsewhere(world: World, ann: Player, node: str) -> None:
    """By another process, of which this one hears by the database alone."""

    async def write(conn):
        await put_grant(conn, ann.id, Grant(node, negated=True), node_id="0" * 24, now_ms=0)

    await world.service.database.transact(write)


CHANGES: dict[str, Change] = {change.__name__: change for change in (negated, removed, expired, elsewhere)}

CHAT, FRIENDS, SETTINGS = "social:chat.read", "social:friends.read", "connect:settings:read"

SOCKETS = {
    "conversation": ("/v1/social/chat/conversations/{room}/live", CHAT, "/v1/social/chat/conversations"),
    "inbox": ("/v1/social/chat/live", CHAT, "/v1/social/chat/conversations"),
    "friends": ("/v1/social/friends/live", FRIENDS, "/v1/social/friends"),
    "server": ("/v1/connect/servers/{server}/stream", SETTINGS, "/v1/connect/servers/{server}/settings"),
    "one for everything": ("/v1/social/live?channels=inbox", CHAT, "/v1/social/chat/conversations"),
}
"""{socket: (its path, the node that it needs, a GET that needs the same)}"""


# What a role gives as well is not gone with a grant.
CELLS = [
    (name, change)
    for name in SOCKETS
    for change in CHANGES
    if SOCKETS[name][1] != SETTINGS or change in {"negated", "elsewhere"}
]


@pytest.mark.parametrize(("name", "change"), CELLS)
async def test_rights_are_taken_at_once(world: World, name: str, change: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    path, node, same = SOCKETS[name]
    room, server = await ann.talk_to(ben), await claimed(world, ann)
    names = {"room": room.id, "server": server.id}
    await world.grant(ann, node)
    async with ann.live(path.format(**names)) as socket:
        await socket.receive_json()
        assert await _answered(ann, same.format(**names)) == 200
        await CHANGES[change](world, ann, node)
        with patience():
            await _lets_go(socket, name)
        assert await _answered(ann, same.format(**names)) == 403


async def test_rights_are_given_at_once(world: World) -> None:
    ann, root = await world.player("Ann"), await world.super_admin()
    path, totem = f"/v1/admin/users/{ann.id}/permissions", "/v1/profile/personal-totem"
    # The node is in the catalog from the first grant on, so that it must be held; a denial is none.
    for body, status in (
        ({"node": "totem:read", "negated": True}, 403),
        ({"node": "totem:read"}, 200),
        ({"node": "totem:read", "expiresAt": iso(world.clock.now_ms())}, 403),
        ({"node": "totem:*"}, 200),
        ({"node": "totem:*", "negated": True}, 403),
    ):
        await root.do("POST", path, body, status=201)
        assert await _answered(ann, totem) == status, body


@in_one_world("node", sorted(ABSENT_GRANTS))
async def test_what_is_taken_from_one_user_is_left_to_all_others(world: World, node: str) -> None:
    ann, ben, root = await world.player("Ann"), await world.player("Ben"), await world.super_admin()

    async def hold() -> list[bool]:
        held = [await player.get("/v1/auth/verify") for player in (ann, ben, await world.player("Cid"))]
        return [node in one["permissions"] for one in held]

    await world.grant(ann, node, negated=True)
    assert await hold() == [False, True, True]
    catalog = await root.ask("GET", "/v1/admin/permissions")
    assert node not in {one["node"] for one in catalog.json()["items"]}
    known = {"if-none-match": catalog.headers["etag"]}
    assert (await root.ask("GET", "/v1/admin/permissions", headers=known)).status_code == 304
    await world.grant(ann, node)
    assert (await root.ask("GET", "/v1/admin/permissions", headers=known)).status_code == 200
    await world.grant(ben, node, negated=True)
    assert await hold() == [True, False, False]


async def _answered(player: Player, path: str) -> int:
    return (await player.ask("GET", path)).status_code


async def _lets_go(socket: Client, name: str) -> None:
    if name == "one for everything":
        assert (await socket.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"
    else:
        assert (await socket.wait_closed()).code == 4403
