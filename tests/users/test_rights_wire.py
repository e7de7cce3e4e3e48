"""Wire: what a user may do, node by node, with the reason."""

from typing import Any

from actors.time import iso
from tests.shop.play import open_shop
from tests.support.one_world import in_one_world
from tests.support.world import Player, World


def rights_of(user: Player) -> str:
    return f"/v1/admin/users/{user.id}/rights"


async def verdict(root: Player, user: Player, node: str) -> Any:
    (item,) = (await root.get(rights_of(user), node=node))["items"]
    assert item["node"] == node
    return item


NO_REASON = {
    "pattern": None, "role": None, "purchaseId": None, "expiresAt": None, "givenAt": None, "givenBy": None,
    "givenByName": None,
}  # fmt: skip


async def test_each_node_has_its_reason(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    whole = await root.get(rights_of(ann))
    assert (whole["roles"], whole["highestRoleLabel"]) == (["user"], "User")
    nodes = [item["node"] for item in whole["items"]]
    assert nodes == sorted(nodes)
    assert await verdict(root, ann, "shop:manage") == {
        "node": "shop:manage", "allowed": False, "quota": False, "value": None,
        "reason": NO_REASON | {"by": "nothing"},
    }  # fmt: skip
    assert (await verdict(root, ann, "totem:read"))["reason"] == NO_REASON | {"by": "default"}
    versions = (await verdict(root, ann, "versions:read"))["reason"]
    assert versions == NO_REASON | {"by": "role", "role": "user"}

    await root.do("PUT", f"/v1/admin/users/{ann.id}/roles/admin")
    reason = (await verdict(root, ann, "shop:manage"))["reason"]
    assert (reason["by"], reason["role"], reason["givenBy"], reason["givenByName"]) == (
        "role", "admin", root.id, "Root",
    )  # fmt: skip
    ends = iso(world.clock.now_ms() + 60_000)
    denial = {"node": "shop:*", "negated": True, "expiresAt": ends}
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", denial)
    denied = await verdict(root, ann, "shop:manage")
    assert not denied["allowed"]
    reason = denied["reason"]
    assert (reason["by"], reason["pattern"], reason["expiresAt"], reason["givenBy"]) == (
        "denied", "shop:*", ends, root.id,
    )  # fmt: skip
    assert reason["givenAt"] is not None
    assert "shop:*" not in {item["node"] for item in (await root.get(rights_of(ann)))["items"]}


async def test_quantities_and_purchases(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    unset = await verdict(root, ann, "social:friends.max")
    assert (unset["allowed"], unset["quota"], unset["value"], unset["reason"]["by"]) == (
        True, True, None, "default",
    )  # fmt: skip
    await world.grant(ann, "social:friends.max", value={"value": 500, "unit": "count"})
    granted = await verdict(root, ann, "social:friends.max")
    assert (granted["value"], granted["reason"]["by"]) == ({"value": 500, "unit": "count"}, "granted")
    shop = await open_shop(world)
    order = await shop.buy(ann, await shop.product())
    bought = await verdict(root, ann, "perk:glow")
    assert bought["allowed"]
    assert (bought["reason"]["by"], bought["reason"]["purchaseId"]) == ("bought", order["id"])


@in_one_world("node", ["a:*", "a b", "%00", "x" * 201, "a::b"])
async def test_what_is_no_node(world: World, node: str) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    assert await root.refused("GET", f"{rights_of(ann)}?node={node}") == (400, "BAD_QUERY")


async def test_rights_of_an_unknown_user_are_not_found(world: World) -> None:
    root = await world.super_admin()
    path = "/v1/admin/users/00000000-0000-4000-8000-000000000000/rights"
    assert await root.refused("GET", path) == (404, "NOT_FOUND")
