"""Wire: every route by which somebody in charge changes something writes one line of the audit trail; what is refused
writes none (contract §2, reliability §3 Admin).

The table of plays is held against the declared routes: a new one of them has to say here how it is heard of.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from actors.ids import new_uuid
from routes import TABLE
from tests.capes.stage import ADMIN as CAPES
from tests.capes.stage import cape_in
from tests.connect.play import claimed
from tests.gateways.play import stored_gateway
from tests.publications.play import publish
from tests.shop.play import A_PRODUCT, ALL_PURCHASES, PRODUCTS, Shop
from tests.support.world import Player, World

AUDIT = "/v1/admin/audit"
USER = "/v1/admin/users/{userId}"


@dataclass(frozen=True)
class Play:
    """How a route is called.

    Args:
        prepare: makes what it is about, and returns the path's parameters that are not the user.
        body: of the request.
        action: that the trail names.
        refused: a body that is refused, where there is one.
        of_user: the trail names the user whom it was done to.
        of_thing: the path's parameter that the trail names in their place.
    """

    action: str
    body: Any = None
    prepare: Callable[[World, Player, Player], Awaitable[dict[str, str]]] | None = None
    refused: Any = None
    of_user: bool = True
    of_thing: str | None = None


async def a_grant(world: World, root: Player, ann: Player) -> dict[str, str]:
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", {"node": "a:b"})
    return {"node": "a:b"}


async def a_role(world: World, root: Player, ann: Player) -> dict[str, str]:
    await root.do("PUT", f"/v1/admin/users/{ann.id}/roles/admin")
    return {"role": "admin"}


async def another_role(world: World, root: Player, ann: Player) -> dict[str, str]:
    return {"role": "moderator"}


async def a_closed_node(world: World, root: Player, ann: Player) -> dict[str, str]:
    await world.grant(ann, "totem:read")
    return {"node": "totem:read"}


async def a_note(world: World, root: Player, ann: Player) -> dict[str, str]:
    made = await root.do("POST", f"/v1/admin/users/{ann.id}/notes", {"text": "Watch her."})
    return {"noteId": made["id"]}


async def a_report(world: World, root: Player, ann: Player) -> dict[str, str]:
    made = await root.do("POST", "/v1/social/friends/reports", {"targetId": ann.id})
    return {"id": made["id"]}


async def a_cape(world: World, root: Player, ann: Player) -> dict[str, str]:
    return {"id": (await cape_in("pending", ann, root))["id"]}


async def a_product(world: World, root: Player, ann: Player) -> dict[str, str]:
    return {"productId": (await Shop(world, root).product())["id"]}


async def a_pending_purchase(world: World, root: Player, ann: Player) -> dict[str, str]:
    shop = Shop(world, root)
    order = await shop.order(ann, await shop.product())
    return {"purchaseId": order["purchases"][0]["id"]}


async def a_paid_purchase(world: World, root: Player, ann: Player) -> dict[str, str]:
    shop = Shop(world, root)
    return {"purchaseId": (await shop.buy(ann, await shop.product()))["id"]}


async def a_publication(world: World, root: Player, ann: Player) -> dict[str, str]:
    return {"id": (await publish(ann, await claimed(world, ann)))["id"]}


async def a_gateway(world: World, root: Player, ann: Player) -> dict[str, str]:
    return {"gatewayId": await stored_gateway(world)}


PLAYS: dict[tuple[str, str], Play] = {
    ("POST", f"{USER}/permissions"): Play("permission.granted", {"node": "a:b"}, refused={"node": "a b"}),
    ("DELETE", f"{USER}/permissions/{{node}}"): Play("permission.removed", prepare=a_grant),
    ("DELETE", "/v1/admin/permissions/{node}"): Play(
        "permission.withdrawn", prepare=a_closed_node, of_user=False
    ),
    ("PUT", f"{USER}/roles/{{role}}"): Play("role.added", prepare=another_role),
    ("DELETE", f"{USER}/roles/{{role}}"): Play("role.removed", prepare=a_role),
    ("DELETE", USER): Play("user.erased"),
    ("POST", f"{USER}/revoke-tokens"): Play("tokens.revoked"),
    ("POST", f"{USER}/notes"): Play("note.added", {"text": "Watch her."}, refused={"text": " "}),
    ("PATCH", f"{USER}/notes/{{noteId}}"): Play("note.changed", {"text": "Do not."}, a_note, {"text": ""}),
    ("DELETE", f"{USER}/notes/{{noteId}}"): Play("note.removed", prepare=a_note),
    ("PATCH", "/v1/admin/reports/{id}"): Play(
        "report.settled", {"status": "actioned"}, a_report, {"status": "gone"}
    ),
    ("PATCH", f"{CAPES}/{{id}}"): Play("cape.moderated", {"status": "approved"}, a_cape, {"status": "draft"}),
    ("DELETE", f"{CAPES}/{{id}}"): Play("cape.deleted", prepare=a_cape),
    ("PUT", "/v1/admin/launcher/network-guard-allowlist"): Play(
        "allowlist.changed", {"hosts": ["example.org"]}, refused={"hosts": ["1.2.3.4"]}, of_user=False
    ),
    ("PATCH", "/v1/admin/connect/gateways/{gatewayId}"): Play(
        "gateway.changed", {"status": "draining"}, a_gateway, {"status": "offline"}, of_user=False
    ),
    ("PATCH", "/v1/admin/connect/publications/{id}"): Play(
        "publication.moderated", {"suppressed": True}, a_publication, {"reason": "a\nb"}, of_thing="id"
    ),
    ("POST", PRODUCTS): Play("product.created", A_PRODUCT, refused=A_PRODUCT | {"slug": "-"}, of_user=False),
    ("PATCH", f"{PRODUCTS}/{{productId}}"): Play(
        "product.changed",
        {"revision": 1, "name": "Gleam"},
        a_product,
        {"revision": 1, "name": ""},
        of_user=False,
    ),
    ("POST", f"{ALL_PURCHASES}/{{purchaseId}}/mark-paid"): Play(
        "purchase.changed", {"note": "cash"}, a_pending_purchase, {"note": 7}
    ),
    ("POST", f"{ALL_PURCHASES}/{{purchaseId}}/refund"): Play("purchase.changed", None, a_paid_purchase),
}


def test_every_such_route_is_in_the_table():
    declared = {
        (route.method, route.path)
        for route in TABLE.endpoints
        if route.path.startswith("/v1/admin/") and route.method != "GET"
    }
    assert declared == set(PLAYS)


@pytest.mark.parametrize(("method", "path"), PLAYS)
async def test_a_change_is_one_line_of_the_trail(world: World, method: str, path: str) -> None:
    play = PLAYS[method, path]
    ann, root = await world.player("Ann"), await world.super_admin()
    named = {} if play.prepare is None else await play.prepare(world, root, ann)
    before = len((await root.get(AUDIT))["items"])

    async def call(player: Player, body: Any, user_id: str = ann.id, **more: str) -> int:
        asked = path.format(userId=user_id, **named)
        return (await player.ask(method, asked, body, headers=more)).status_code

    assert await call(world.nobody(), play.body) == 401
    assert await call(ann, play.body) == 403
    if "{userId}" in path:
        assert await call(root, play.body, new_uuid(bytes)) == 404
    if play.refused is not None:
        assert await call(root, play.refused) == 422
    assert len((await root.get(AUDIT))["items"]) == before
    assert await call(root, play.body, **{"x-request-id": "rid-audit"}) in {200, 201, 204}
    items = (await root.get(AUDIT))["items"]
    assert len(items) == before + 1
    line = items[0]
    target_id = ann.id if play.of_user else None
    if play.of_thing is not None:
        target_id = named[play.of_thing]
    assert (line["action"], line["actorId"], line["targetId"], line["requestId"]) == (
        play.action, root.id, target_id, "rid-audit",
    )  # fmt: skip
