"""Wire: the list of users, by name, page by page (service-api §4 Admin)."""

from tests.support.one_world import in_one_world
from tests.support.world import Player, World

USERS = "/v1/admin/users"


async def names(reader: Player, **query: object) -> list[str]:
    """Of all pages, each of two users; names of super-admins and admins are left out unless they are asked for."""
    found, cursor = [], ""
    while cursor is not None:
        page = await reader.get(USERS, limit=2, **query, **({"cursor": cursor} if cursor else {}))
        assert page["hasMore"] == (page["nextCursor"] is not None)
        assert len(page["items"]) <= 2
        found += [item["name"] for item in page["items"]]
        cursor = page["nextCursor"]
    return found


async def test_pages_go_through_all_by_name(world: World) -> None:
    admin = await world.ranked("Zoe", "admin")
    await world.players("bea", "Ann", "ann", "Ärla", "Bob", "annika")
    ordered = await names(admin)
    assert [name.lower() for name in ordered] == ["ann", "ann", "annika", "bea", "bob", "zoe", "ärla"]
    assert sorted(await names(admin, query="AN")) == ["Ann", "ann", "annika"]
    assert await names(admin, query="%C3%84") == ["Ärla"]
    assert await names(admin, query="nobody") == []


async def test_who_has_a_role(world: World) -> None:
    admin, mona = await world.ranked("Adam", "admin"), await world.ranked("Mona", "moderator")
    await world.player("Ann")
    assert await names(admin, role="moderator") == ["Mona"]
    assert await names(admin, role="moderator", query="a") == []
    assert await names(admin, role="super-admin") == []
    (item,) = (await admin.get(USERS, role="admin"))["items"]
    assert item | {"createdAt": "", "lastSeenAt": ""} == {
        "userId": admin.id,
        "name": "Adam",
        "roles": ["admin"],
        "highestRoleLabel": "Admin",
        "homeRegion": None,
        "createdAt": "",
        "lastSeenAt": "",
    }
    (found,) = (await admin.get(USERS, query=mona.id.upper()))["items"]
    assert (found["name"], found["highestRoleLabel"]) == ("Mona", "Moderator")
    assert (await admin.get(USERS, query=mona.id, role="admin"))["items"] == []


@in_one_world("query", ["role=user", "role=root", "query=" + "x" * 65, "limit=x", "query=%00"])
async def test_a_bad_filter_of_the_list_of_users_is_refused(world: World, query: str) -> None:
    admin = await world.ranked("Adam", "admin")
    assert await admin.refused("GET", f"{USERS}?{query}") == (400, "BAD_QUERY")
