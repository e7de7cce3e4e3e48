"""Extensions: the catalog and its permissions, what servers register, and commands that name an action."""

from functools import partial
from pathlib import Path

from persistence.connect import extensions
from persistence.connection import Connection
from persistence.shop.entitlements import end_of_node
from persistence.users.permissions import remove_grant
from tests.connect.play import claimed
from tests.shop.play import Shop, may
from tests.support.jobs import clean_connect
from tests.support.locks import crossed
from tests.support.world import World, open_world

CATALOG = "/v1/connect/extensions"
SHOP = {"extensionId": "shop", "name": "Shop", "description": "Sells"}
ACTIONS = [
    {
        "id": "grant",
        "label": "Grant",
        "description": "Gives something",
        "schema": {
            "version": "1",
            "fields": [{"key": "item", "label": "Item", "type": "string", "required": True}],
        },
    }
]


async def test_a_private_extension_is_shown_to_its_owner_and_holders_of_its_node(world: World):
    ann, bob = await world.players("Ann", "Bob")
    made = await ann.do("POST", CATALOG, SHOP, status=201)
    assert (made["extensionId"], made["ownerId"], made["visibility"]) == ("shop", ann.id, "public")
    assert (await bob.ask("POST", CATALOG, SHOP)).status_code == 409
    assert (await bob.get(CATALOG))["items"] == [made]
    assert await bob.refused("PUT", f"{CATALOG}/shop", {"name": "Mine"}) == (403, "FORBIDDEN")
    changed = await ann.do("PUT", f"{CATALOG}/shop", {"visibility": "private"}, status=200)
    assert (changed["name"], changed["visibility"]) == ("Shop", "private")
    world.clock.advance(1_000)
    for nothing in ({}, {"name": "Shop", "visibility": "private", "description": None}):
        assert await ann.do("PUT", f"{CATALOG}/shop", nothing, status=200) == changed
    assert (await bob.get(CATALOG))["items"] == []
    assert await bob.refused("PUT", f"{CATALOG}/shop", {"name": "Mine"}) == (404, "NOT_FOUND")
    await world.grant(bob, "svc.connect.extensions.shop")
    assert (await bob.get(CATALOG))["items"] == [changed]
    await bob.do("PUT", f"{CATALOG}/shop", {"name": "Ours"}, status=200)
    for id in ("../x", "Shop", "ѕhop", "a..b", ".a", "", "a" * 65):
        assert await ann.refused("POST", CATALOG, {**SHOP, "extensionId": id}) == (422, "VALIDATION_FAILED")


async def test_names_and_descriptions_are_texts_like_all_others(world: World):
    ann = await world.player("Ann")
    made = await ann.do("POST", CATALOG, SHOP | {"name": " Shop ", "description": "a\r\nb"}, status=201)
    assert (made["name"], made["description"]) == ("Shop", "a\nb")
    server = await claimed(world, ann, "S")
    registration = f"{server.path}/extensions/shop"
    registered = await server.do(
        "PUT", registration, {"name": " Our shop ", "description": "a\r\nb"}, status=200
    )
    assert (registered["name"], registered["description"]) == ("Our shop", "a\nb")
    new = {"extensionId": "other", "name": "Other"}
    for change, pointer, code in (
        ({"name": "   "}, "/name", "REQUIRED"),
        ({"name": "a\nb"}, "/name", "BAD_TEXT"),
        ({"name": "\u202epohs"}, "/name", "BAD_TEXT"),
        ({"name": "\u200b"}, "/name", "BAD_TEXT"),
        ({"description": "a\x1b[2J"}, "/description", "BAD_TEXT"),
    ):
        for asker, method, path, body in (
            (ann, "POST", CATALOG, new | change),
            (ann, "PUT", f"{CATALOG}/shop", change),
            (server, "PUT", registration, change),
        ):
            answer = await asker.ask(method, path, body)
            errors = [(one["pointer"], one["code"]) for one in answer.json().get("errors", ())]
            assert (answer.status_code, errors) == (422, [(pointer, code)]), (method, path, change)
    (left,) = (await ann.get(CATALOG))["items"]
    assert left == made
    assert (await server.get(f"{server.path}/extensions"))["items"] == [registered]


async def test_the_catalog_comes_in_pages_by_id_and_has_an_etag(world: World):
    ann = await world.player("Ann")
    for id in ("c", "a", "b"):
        await ann.do("POST", CATALOG, {**SHOP, "extensionId": id}, status=201)
    page = await ann.get(CATALOG, limit=2)
    assert [one["extensionId"] for one in page["items"]] == ["a", "b"]
    rest = await ann.get(CATALOG, limit=2, cursor=page["nextCursor"])
    assert [one["extensionId"] for one in rest["items"]] == ["c"]
    assert not rest["hasMore"]
    whole = await ann.ask("GET", CATALOG)
    known = {"if-none-match": whole.headers["etag"]}
    assert (await ann.ask("GET", CATALOG, headers=known)).status_code == 304
    await ann.do("POST", CATALOG, {**SHOP, "extensionId": "d"}, status=201)
    assert (await ann.ask("GET", CATALOG, headers=known)).status_code == 200


async def test_a_server_registers_what_it_has(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    path = f"{server.path}/extensions/shop"
    body = {"name": "Our shop", "description": "", "actions": ACTIONS}
    assert await server.refused("PUT", path, body) == (404, "NOT_FOUND")
    await bob.do("POST", CATALOG, SHOP, status=201)
    made = await server.do("PUT", path, body, status=200)
    assert (made["name"], made["version"], made["actions"]) == ("Our shop", 1, ACTIONS)
    assert (made["ownerId"], made["serverId"]) == (bob.id, server.id)
    world.clock.advance(1000)
    again = await server.do("PUT", path, body, status=200)
    assert (again["version"], again["registeredAt"]) == (1, made["registeredAt"])
    assert again["lastSeenAt"] > made["lastSeenAt"]
    changed = await ann.do("PUT", path, {"actions": []}, status=200)
    assert (changed["version"], changed["name"]) == (2, "Shop")
    assert (await ann.get(f"{server.path}/extensions"))["items"] == [changed]
    assert await bob.refused("GET", f"{server.path}/extensions") == (404, "NOT_FOUND")
    assert await bob.refused("PUT", path, body) == (404, "NOT_FOUND")
    double = {"actions": [*ACTIONS, *ACTIONS]}
    assert await server.refused("PUT", path, double) == (422, "VALIDATION_FAILED")


async def test_payloads_are_held_against_the_action(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    commands = f"{server.path}/commands"
    await ann.do("POST", CATALOG, SHOP, status=201)
    await server.do("PUT", f"{server.path}/extensions/shop", {"actions": ACTIONS}, status=200)
    response = await ann.ask("POST", commands, {"action": "grant", "payload": {}})
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/payload/item")
    made = await ann.do("POST", commands, {"action": "grant", "payload": {"item": "hat"}}, status=201)
    assert made["command"]["extensionId"] == "shop"
    other = await ann.do("POST", commands, {"action": "anything"}, status=201)
    assert other["command"]["extensionId"] is None
    unknown = {"action": "anything", "extensionId": "shop"}
    assert await ann.refused("POST", commands, unknown) == (422, "VALIDATION_FAILED")


async def test_actions_are_found_of_a_server_that_is_not_in_memory(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        await ann.do("POST", CATALOG, SHOP, status=201)
        await server.do("PUT", f"{server.path}/extensions/shop", {"actions": ACTIONS}, status=200)
    async with open_world(database_url, tmp_path) as world:
        ann.world = world
        path, body = f"{server.path}/commands", {"action": "grant"}
        assert await ann.refused("POST", path, body) == (422, "VALIDATION_FAILED")
        made = await ann.do("POST", path, {**body, "payload": {"item": "x"}}, status=201)
        assert made["command"]["extensionId"] == "shop"


async def test_private_extensions_are_for_who_holds_the_permission(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    commands = f"{server.path}/commands"
    path = f"{server.path}/extensions/shop"
    await bob.do("POST", CATALOG, {**SHOP, "visibility": "private"}, status=201)
    assert await server.refused("PUT", path, {"actions": ACTIONS}) == (404, "NOT_FOUND")
    await world.grant(ann, "svc.connect.extensions.shop")
    await server.do("PUT", path, {"actions": ACTIONS}, status=200)
    body = {"action": "grant", "payload": {"item": "hat"}}
    await ann.do("POST", commands, body, status=201)
    await world.grant(ann, "svc.connect.extensions.shop", negated=True)
    assert await ann.refused("POST", commands, body) == (403, "FORBIDDEN")


async def test_extensions_of_erased_users_never_stay_in_the_catalog(world: World):
    """Nor do their permissions and the grants of these; what a server has registered stays."""
    ann, bob, root = await world.player("Ann"), await world.player("Bob"), await world.super_admin()
    server = await claimed(world, bob)
    for id in ("unused", "used"):
        await ann.do("POST", "/v1/connect/extensions", {"extensionId": id, "name": id}, status=201)
        await world.grant(bob, f"svc.connect.extensions.{id}")
    await bob.do("PUT", f"{server.path}/extensions/used", {}, status=200)
    await clean_connect(world)
    assert [one["extensionId"] for one in (await bob.get("/v1/connect/extensions"))["items"]] == [
        "unused",
        "used",
    ]
    await root.do("DELETE", f"/v1/admin/users/{ann.id}", status=204)
    await clean_connect(world)
    assert [one["extensionId"] for one in (await bob.get("/v1/connect/extensions"))["items"]] == ["used"]
    nodes = {one["node"] for one in (await root.get("/v1/admin/permissions"))["items"]}
    assert "svc.connect.extensions.used" in nodes
    assert "svc.connect.extensions.unused" not in nodes
    for whoever in (bob, root):
        held = (await whoever.get("/v1/profile/self"))["permissions"]
        assert "svc.connect.extensions.used" in held
        assert "svc.connect.extensions.unused" not in held


async def test_a_bought_right_to_an_extension_ends_with_it(world: World):
    """Also for whoever has used it before: another's extension of that name is none of theirs."""
    root = await world.super_admin()  # who alone may sell such a right
    shop = Shop(world, root)
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    node = "svc.connect.extensions.shop"
    await ann.do("POST", CATALOG, SHOP, status=201)
    await shop.buy(eve, await shop.product(grants=[{"node": node}]))
    assert await may(eve, node)
    await root.do("DELETE", f"/v1/admin/users/{ann.id}", status=204)
    await clean_connect(world)
    assert not await may(eve, node)
    await bob.do("POST", CATALOG, {**SHOP, "visibility": "private"}, status=201)
    assert await eve.refused("PUT", f"{CATALOG}/shop", {"name": "Mine"}) == (404, "NOT_FOUND")


async def test_a_right_is_revoked_while_its_extension_goes(world: World):
    root = await world.super_admin()
    shop = Shop(world, root)
    ann, eve = await world.players("Ann", "Eve")
    node, database = "svc.connect.extensions.shop", world.service.database
    await ann.do("POST", CATALOG, SHOP, status=201)
    await world.grant(eve, node)
    await shop.buy(eve, await shop.product(grants=[{"node": node}]))
    await root.do("DELETE", f"/v1/admin/users/{ann.id}", status=204)

    async def revoke(conn: Connection) -> None:
        assert await remove_grant(conn, eve.id, node) is not None

    async def end(conn: Connection) -> None:
        assert await end_of_node(conn, eve.id, node, world.clock.now_ms()) == 1

    await crossed(database, revoke, end, partial(database.transact, extensions.forget_orphans, 10))
    assert not await may(eve, node)
