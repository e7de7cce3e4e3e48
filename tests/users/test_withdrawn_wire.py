"""Wire: a node of chat, friends or totems that a grant has closed is opened again for everybody (contract §2 Gate)."""

from actors.users.permissions import ABSENT_GRANTS
from persistence.users.permissions import GREW, remove_from_catalog
from routes.users.parts import USER_DIRECTORY
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until
from tests.support.world import Player, World

CATALOG, CHAT = "/v1/admin/permissions", "/v1/social/chat/conversations"
NODE = "social:chat.read"


async def may(player: Player) -> bool:
    status = (await player.ask("GET", CHAT)).status_code
    assert status in {200, 403}
    return status == 200


async def withdraw(world: World, node: str = NODE) -> int:
    root = await world.super_admin()
    return (await root.do("DELETE", f"{CATALOG}/{node}", status=200))["removed"]


async def nodes(world: World) -> set[str]:
    return {one["node"] for one in (await (await world.super_admin()).get(CATALOG))["items"]}


async def test_a_withdrawn_node_is_everybody_s_but_for_the_denied(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await world.grant(cid, NODE, negated=True)
    await world.grant(ann, NODE)
    assert [await may(player) for player in (ann, ben, cid)] == [True, False, False]
    assert await withdraw(world) == 1
    assert NODE not in await nodes(world)
    assert [await may(player) for player in (ann, ben, cid)] == [True, True, False]
    assert NODE in (await ben.get("/v1/auth/verify"))["permissions"]
    assert await withdraw(world) == 0


async def test_the_last_grant_that_goes_opens_nothing_by_itself(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await world.grant(ann, NODE)
    root = await world.super_admin()
    await root.do("DELETE", f"/v1/admin/users/{ann.id}/permissions/{NODE}", status=200)
    assert [await may(player) for player in (ann, ben)] == [False, False]
    assert await withdraw(world) == 1
    assert [await may(player) for player in (ann, ben)] == [True, True]


async def test_the_next_grant_closes_it_again(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await world.grant(ann, NODE)
    await withdraw(world)
    await world.grant(cid, NODE)
    assert [await may(player) for player in (ann, ben, cid)] == [True, False, True]
    assert NODE in await nodes(world)


async def test_late_word_of_a_grant_closes_nothing(world: World) -> None:
    """NOTIFY comes when it comes; what the process itself has done since is not undone by it."""
    ann, ben = await world.players("Ann", "Ben")
    await world.grant(ann, NODE)
    await withdraw(world)
    assert await may(ben)
    world.service.of(USER_DIRECTORY).heard(GREW + NODE)
    assert await may(ben)


async def test_another_process_is_heard(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await world.grant(ann, NODE)
    assert not await may(ben)
    await world.service.database.transact(remove_from_catalog, NODE)
    await wait_until(lambda: may(ben))


@in_one_world("node", sorted(ABSENT_GRANTS))
async def test_every_node_that_grants_by_absence_can_be_withdrawn(world: World, node: str) -> None:
    await world.grant(await world.player("Ann"), node)
    assert (await withdraw(world, node), await withdraw(world, node)) == (1, 0)


@in_one_world(
    ("node", "refusal"),
    [
        ("news:write", (409, "INVALID_STATE")),
        ("social:friends.max", (409, "INVALID_STATE")),
        ("social:*", (409, "INVALID_STATE")),
        ("nobody:knows", (409, "INVALID_STATE")),
        ("social::chat", (404, "NOT_FOUND")),
        ("a%20b", (404, "NOT_FOUND")),
    ],
)
async def test_other_nodes_stay(world: World, node: str, refusal: tuple[int, str]) -> None:
    root = await world.super_admin()
    before = await nodes(world)
    assert await root.refused("DELETE", f"{CATALOG}/{node}") == refusal
    assert await nodes(world) == before
