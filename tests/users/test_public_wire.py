"""Wire: users as anybody sees them (contract §10)."""

from actors.ids import new_uuid
from persistence.connection import Connection
from tests.friends.play import make_friends
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

SUPPORTERS = "/v1/public/supporters"


def public(identifier: str) -> str:
    return f"/v1/public/users/{identifier}"


async def show(player: Player, visibility: str) -> None:
    body = {"privacy": {"serverListVisibility": visibility}}
    await player.do("PATCH", "/v1/profile/settings", body)


async def test_by_id_and_by_name(world: World) -> None:
    ann, root = await world.player("Ann"), await world.super_admin()
    nobody = world.nobody()
    shown = await nobody.get(public(ann.id))
    assert set(shown) == {"userId", "name", "online", "highestRoleLabel", "capeId", "createdAt"}
    assert (shown["userId"], shown["name"], shown["capeId"]) == (ann.id, "Ann", None)
    assert [await nobody.get(public(text)) for text in ("Ann", "aNN", ann.id.upper())] == [shown] * 3
    assert (await nobody.get(public(root.id)))["highestRoleLabel"] == "Super Admin"
    first = await nobody.ask("GET", public("Ann"))
    again = await nobody.ask("GET", public("Ann"), headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


async def test_nobody_or_more_than_one(world: World) -> None:
    await world.players("Tom", "tom")
    nobody = world.nobody()
    for identifier in ("Tom", "An", "%25", "An_", new_uuid(bytes), "%20", "x" * 300):
        assert await nobody.refused("GET", public(identifier)) == (404, "NOT_FOUND"), identifier


@in_one_world(
    ("visibility", "shuns", "online"),
    [
        ("PUBLIC", None, True),
        ("FRIENDS", None, None),
        ("PRIVATE", None, None),
        ("PUBLIC", "hides", None),
        ("PUBLIC", "blocks", None),
        ("PUBLIC", "is limited", True),
    ],
)
async def test_whether_online_shows(
    world: World, visibility: str, shuns: str | None, online: bool | None
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await show(ann, visibility)
    await make_friends(ann, ben)
    if shuns in {"hides", "is limited"}:
        chosen = {"visibility": "HIDDEN" if shuns == "hides" else "LIMITED"}
        await ann.do("PATCH", f"/v1/social/friends/{ben.id}", chosen)
    elif shuns == "blocks":
        await ann.do("POST", "/v1/social/friends/blocks", {"targetId": ben.id})
    offline = None if online is None else False
    assert (await world.nobody().get(public(ann.id)))["online"] is offline
    async with ann.live():
        # The token of whoever asks makes no difference.
        for asking in (world.nobody(), ben, ann):
            assert (await asking.get(public(ann.id)))["online"] is online


async def support(conn: Connection, user_id: str, tier: str, since_ms: int) -> None:
    await conn.execute(
        "UPDATE users SET supporter_tier = $2, supporter_since_ms = $3 WHERE id = $1", user_id, tier, since_ms
    )


async def test_supporters_are_listed_by_since_when(world: World) -> None:
    ann, ben, _ = await world.players("Ann", "Ben", "Cid")
    assert await world.nobody().get(SUPPORTERS) == {"items": []}
    for player, tier, since_ms in ((ann, "gold", 2000), (ben, "silver", 1000)):
        await world.service.database.transact(support, player.id, tier, since_ms)
    items = (await world.nobody().get(SUPPORTERS))["items"]
    assert items == [
        {"userId": ben.id, "name": "Ben", "tier": "silver", "since": "1970-01-01T00:00:01.000Z"},
        {"userId": ann.id, "name": "Ann", "tier": "gold", "since": "1970-01-01T00:00:02.000Z"},
    ]
    assert (await world.nobody().get(SUPPORTERS, limit=1))["items"] == items[:1]
