"""Wire: the caller's saved public servers (service-api §4 Profile, contract §8)."""

from collections.abc import Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import trio

from actors.saved_servers.units import SAVED_MAX
from persistence.connection import Connection
from persistence.saved_servers import addresses
from tests.saved_servers.play import SAVED, names, save, save_all
from tests.support.jobs import job_named
from tests.support.one_world import in_one_world
from tests.support.world import Player, World, open_world

UNKNOWN = "0" * 24


async def test_an_address_becomes_an_unlisted_server(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    assert await ann.get(SAVED) == {"items": [], "serverIds": [], "counts": {"total": 0, "favorites": 0}}
    made = await ann.do("POST", SAVED, {"address": "Play.Example.org:25565"}, status=201)
    assert made == {
        "id": made["id"],
        "address": "play.example.org",
        "displayName": "play.example.org",
        "saved": True,
        "savedPosition": 0,
        "favorite": False,
        "favoriteCount": 0,
    }
    row = await world.service.database.read(_publication, made["id"])
    assert row == ("USER", "UNLISTED", "UNCLAIMED")
    # However it is written, and by whomever, it is the same server.
    for body in ({"address": "play.example.org."}, {"serverId": made["id"].upper()}):
        assert await ann.do("POST", SAVED, body, status=200) == made
    assert await ben.do("POST", SAVED, {"address": " PLAY.example.org "}, status=201) == made
    assert await ann.get(SAVED) == {
        "items": [made],
        "serverIds": [made["id"]],
        "counts": {"total": 1, "favorites": 0},
    }


async def _publication(conn: Connection, id: str) -> Any:
    row = await conn.fetchrow(
        "SELECT discovery_source, discovery_state, ownership_state FROM publications WHERE id = $1", id
    )
    return None if row is None else tuple(row)


@in_one_world(
    ("body", "code", "pointer"),
    [
        ({}, 422, ""),
        ({"serverId": None, "address": None}, 422, ""),
        ({"serverId": UNKNOWN, "address": "a.example"}, 422, ""),
        ({"serverId": 7}, 422, "/serverId"),
        ({"address": ""}, 422, "/address"),
        ({"address": "http://a.example"}, 422, "/address"),
        ({"address": "a.example/x"}, 422, "/address"),
        ({"address": "a.example:0"}, 422, "/address"),
        ({"address": "a.example:65536"}, 422, "/address"),
        ({"address": "a b"}, 422, "/address"),
        ({"address": "-a.example"}, 422, "/address"),
        ({"address": "x" * 300}, 422, "/address"),
        ({"serverId": UNKNOWN}, 404, None),
        ({"serverId": "nonsense"}, 422, "/serverId"),
    ],
)
async def test_what_cannot_be_saved(
    world: World, body: dict[str, object], code: int, pointer: str | None
) -> None:
    ann = await world.player("Ann")
    answer = await ann.ask("POST", SAVED, body)
    assert answer.status_code == code, answer.text
    if pointer is not None:
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert await names(ann) == []


async def test_what_moderators_took_away_is_not_there(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    (id,) = await save_all(ann, "a.example")
    await world.service.database.transact(_suppress, id)
    assert await ben.refused("POST", SAVED, {"serverId": id}) == (404, "NOT_FOUND")
    assert await ben.refused("DELETE", f"{SAVED}/{id}") == (404, "NOT_FOUND")
    assert (await save(ben, "a.example"))["id"] != id
    assert (await ann.do("DELETE", f"{SAVED}/{id}", status=200))["saved"] is False


async def _suppress(conn: Connection, id: str) -> None:
    await conn.execute("UPDATE publications SET discovery_state = 'SUPPRESSED' WHERE id = $1", id)


async def test_favourites_and_how_many_have_them(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    (id,) = await save_all(ann, "a.example")
    await save(ben, "a.example")
    path = f"{SAVED}/{id}"
    steps: list[tuple[Player, bool | None, bool, int]] = [
        (ann, True, True, 1),
        (ann, True, True, 1),
        (ben, True, True, 2),
        (ann, None, True, 2),
        (ann, False, False, 1),
        (ann, False, False, 1),
    ]
    for player, favorite, is_favorite, count in steps:
        shown = await player.do("PATCH", path, {"favorite": favorite}, status=200)
        assert (shown["favorite"], shown["favoriteCount"]) == (is_favorite, count)
    assert (await ben.get(SAVED))["counts"] == {"total": 1, "favorites": 1}
    gone = {"saved": False, "favorite": False}
    assert await ben.do("DELETE", path, status=200) == {**gone, "favoriteCount": 0}
    assert await ben.do("DELETE", path, status=200) == {**gone, "favoriteCount": 0}
    (other,) = await save_all(ben, "b.example")
    for player, favored in ((ann, id), (ben, other)):
        await player.do("PATCH", f"{SAVED}/{favored}", {"favorite": True}, status=200)
    assert await ben.do("DELETE", path, status=200) == {**gone, "favoriteCount": 1}
    assert await ben.refused("PATCH", path, {"favorite": True}) == (404, "NOT_FOUND")
    for unknown in (UNKNOWN, "nonsense"):
        assert await ann.refused("DELETE", f"{SAVED}/{unknown}") == (404, "NOT_FOUND")


async def test_an_erased_user_counts_no_more(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    (id,) = await save_all(ann, "a.example")
    await save(ben, "a.example")
    for player in (ann, ben):
        await player.do("PATCH", f"{SAVED}/{id}", {"favorite": True})
    await (await world.super_admin()).do("DELETE", f"/v1/admin/users/{ann.id}", status=204)
    assert (await ben.get(SAVED))["items"][0]["favoriteCount"] == 1


async def test_every_order_of_the_whole_list_is_accepted(world: World) -> None:
    ann = await world.player("Ann")
    ids = await save_all(ann, "a.example", "b.example", "c.example")
    for order in permutations(ids):
        shown = await ann.do("PUT", f"{SAVED}/order", {"serverIds": order}, status=200)
        assert shown == await ann.get(SAVED)
        assert shown["serverIds"] == list(order)
        assert [one["savedPosition"] for one in shown["items"]] == [0, 1, 2]
    # What is saved afterwards comes last, and a gap closes.
    (last,) = await save_all(ann, "d.example")
    await ann.do("DELETE", f"{SAVED}/{order[1]}")
    shown = await ann.get(SAVED)
    assert shown["serverIds"] == [order[0], order[2], last]
    assert [one["savedPosition"] for one in shown["items"]] == [0, 1, 2]


@in_one_world(
    ("places", "pointers"),
    [
        ([], ["/serverIds"]),
        ([0, 1], ["/serverIds"]),
        ([0, 1, 1], ["/serverIds/2"]),
        ([0, 1, 2, 2], ["/serverIds/3"]),
        ([0, 1, 2, 3], ["/serverIds/3"]),
        ([0, 1, 3], ["/serverIds/2"]),
        ([0, 1, 2, 4], ["/serverIds/3"]),
    ],
)
async def test_an_order_that_is_no_permutation(
    world: World, places: Sequence[int], pointers: Sequence[str]
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    own = await save_all(ann, "a.example", "b.example", "c.example")
    (foreign,) = await save_all(ben, "d.example")
    ids = [*own, foreign, "nonsense"]
    answer = await ann.ask("PUT", f"{SAVED}/order", {"serverIds": [ids[place] for place in places]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == pointers
    assert (await ann.get(SAVED))["serverIds"] == own


async def test_an_order_is_that_of_one_list(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    ids = await save_all(ann, "a.example", "b.example", "c.example")
    assert await save_all(ben, "a.example", "b.example", "c.example") == ids
    shown = await ann.do(
        "PUT", f"{SAVED}/order", {"serverIds": [id.upper() for id in reversed(ids)]}, status=200
    )
    assert shown["serverIds"] == ids[::-1]
    assert (await ben.get(SAVED))["serverIds"] == ids


async def test_an_empty_list_has_one_order(world: World) -> None:
    ann = await world.player("Ann")
    assert (await ann.do("PUT", f"{SAVED}/order", {"serverIds": []}))["items"] == []


async def test_many_who_save_the_same_address_find_one_server(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        players = await world.players(*(f"P{number}" for number in range(25)))
        ids: list[str] = []

        async def save_twice(player: Player) -> None:
            for _ in range(2):
                one = await save(player, "a.example")
                ids.append(one["id"])
                await player.do("PATCH", f"{SAVED}/{one['id']}", {"favorite": True})

        async with trio.open_nursery() as nursery:
            for player in players:
                nursery.start_soon(save_twice, player)
        assert len(set(ids)) == 1
        (shown,) = (await players[0].get(SAVED))["items"]
        assert shown["favoriteCount"] == 25


async def test_a_list_has_an_end(world: World) -> None:
    ann = await world.player("Ann")
    await world.service.database.transact(_fill, ann.id, SAVED_MAX - 1)
    statuses: list[int] = []

    async def ask(number: int) -> None:
        statuses.append((await ann.ask("POST", SAVED, {"address": f"{number}.example"})).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(ask, number)
    assert sorted(statuses) == [201] + [422] * 19
    ids = (await ann.get(SAVED))["serverIds"]
    assert len(ids) == SAVED_MAX == 500
    refused = await ann.ask("POST", SAVED, {"address": "more.example"})
    assert (refused.json()["code"], refused.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": SAVED_MAX})
    assert (await ann.do("PUT", f"{SAVED}/order", {"serverIds": ids[::-1]}))["serverIds"] == ids[::-1]


async def _fill(conn: Connection, user_id: str, count: int) -> None:
    await conn.execute(
        "INSERT INTO publications (id, address, display_name, discovery_source, discovery_state, ownership_state,"
        " created_at_ms, updated_at_ms) SELECT lpad(to_hex(n), 24, '0'), n || '.full', n || '.full', 'USER',"
        " 'UNLISTED', 'UNCLAIMED', 0, 0 FROM generate_series(1, $1::int) AS n",
        count,
    )
    await conn.execute(
        "INSERT INTO saved_servers (user_id, server_id, position, created_at_ms)"
        " SELECT $1, id, row_number() OVER (ORDER BY id), 0 FROM publications",
        user_id,
    )


async def test_addresses_that_nobody_saves_are_forgotten_after_a_day(world: World) -> None:
    ann = await world.player("Ann")
    kept, dropped, young = await save_all(ann, "a.example", "b.example", "c.example")
    database = world.service.database
    await database.transact(_orphan, [dropped, young])  # as erasing a user does
    await database.transact(_make_old, [kept, dropped])
    assert await job_named(world, "addresses without a saved server").run() is not False
    found = [await database.read(_publication, id) is not None for id in (kept, dropped, young)]
    assert found == [True, False, True]
    assert await names(ann) == ["a.example"]


async def test_all_that_nobody_saves_is_swept_page_by_page(world: World) -> None:
    ann, database = await world.player("Ann"), world.service.database
    ids = await save_all(ann, *(f"{letter}.example" for letter in "abcde"))
    await database.transact(_orphan, ids[:2] + ids[3:])
    sweep = partial(addresses.sweep, before_ms=world.clock.now_ms() + 1)
    places: list[tuple[int, str]] = []
    place = await database.transact(sweep, None, 2)
    while place is not None:
        places.append(place)
        place = await database.transact(sweep, place, 2)
    assert len(places) == 2
    assert [await database.read(_publication, id) is not None for id in ids] == [
        False,
        False,
        True,
        False,
        False,
    ]


async def _orphan(conn: Connection, ids: list[str]) -> None:
    await conn.execute("DELETE FROM saved_servers WHERE server_id = ANY ($1::text[])", ids)


async def test_saving_and_unsaving_an_address_never_leaves_anything_behind(world: World) -> None:
    """It goes with the last who saves it; meanwhile it is the same for all of them."""
    ann, ben = await world.players("Ann", "Ben")
    (id,) = await save_all(ann, "a.example")
    assert await save_all(ben, "a.example") == [id]
    gone = {"saved": False, "favorite": False, "favoriteCount": 0}
    assert await ann.do("DELETE", f"{SAVED}/{id}", status=200) == gone
    assert await names(ben) == ["a.example"]
    assert await ann.do("DELETE", f"{SAVED}/{id}", status=200) == gone
    assert await ben.do("DELETE", f"{SAVED}/{id}", status=200) == gone
    assert await world.service.database.read(_publication, id) is None
    assert await ben.refused("DELETE", f"{SAVED}/{id}") == (404, "NOT_FOUND")
    assert await save_all(ben, "a.example") != [id]


async def test_whoever_saves_what_another_unsaves_never_loses_it(database_url: str, tmp_path: Path) -> None:
    """A hundred save and unsave one address at once: whose last word was to save it has it."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, ben = await world.players("Ann", "Ben")

        async def save_and_go() -> None:
            for _ in range(25):
                made = await save(ann, "a.example")
                await ann.ask("DELETE", f"{SAVED}/{made['id']}")

        async def save_by_id() -> None:
            for _ in range(25):
                made = await save(ben, "a.example")
                await ben.ask("DELETE", f"{SAVED}/{made['id']}")
                again = await ben.ask("POST", SAVED, {"serverId": made["id"]})
                assert again.status_code in {201, 404}, again.text
            await save(ben, "a.example")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(save_and_go)
            nursery.start_soon(save_by_id)
        assert (await names(ann), await names(ben)) == ([], ["a.example"])


async def _make_old(conn: Connection, ids: list[str]) -> None:
    await conn.execute("UPDATE publications SET created_at_ms = 0 WHERE id = ANY ($1::text[])", ids)
