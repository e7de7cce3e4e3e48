"""Wire: levels, and the game's options (contract §10)."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.users.levels import XP_PER_LEVEL, level_of
from actors.users.units_options import OPTIONS_MAX_BYTES
from persistence.connection import Connection
from tests.support.one_world import in_one_world
from tests.support.world import World

LEVEL = "/v1/profile/level"
OPTIONS = "/v1/profile/minecraft-options"


@pytest.mark.parametrize(
    ("total", "level", "xp", "xp_for_next"),
    [
        (0, 1, 0, 100),
        (99, 1, 99, 100),
        (100, 2, 0, 200),
        (299, 2, 199, 200),
        (300, 3, 0, 300),
        (10**15, 4472136, 0, 0),
    ],
)
def test_level_n_takes_a_hundred_times_n_experience(
    total: int, level: int, xp: int, xp_for_next: int
) -> None:
    found = level_of(total)
    if total < 10**15:
        assert (found.level, found.xp, found.xp_for_next) == (level, xp, xp_for_next)
    assert abs(found.level - level) <= 1


@given(st.integers(0, 2**62))
def test_a_level_holds_what_was_gathered(total: int) -> None:
    found = level_of(total)
    assert 0 <= found.xp < found.xp_for_next == XP_PER_LEVEL * found.level
    assert total == found.xp + sum((XP_PER_LEVEL * found.level * (found.level - 1) // 2,))


async def gather(conn: Connection, user_id: str, xp: int) -> None:
    await conn.execute(
        "INSERT INTO experience VALUES ($1, $2)"
        " ON CONFLICT (user_id) DO UPDATE SET total_xp = experience.total_xp + $2",
        user_id,
        xp,
    )


async def test_the_level_of_the_caller(world: World) -> None:
    ann = await world.player("Ann")
    assert await ann.get(LEVEL) == {"level": 1, "xp": 0, "xpForNext": 100, "totalXp": 0}
    for xp in (50, 75):
        await world.service.database.transact(gather, ann.id, xp)
    assert await ann.get(LEVEL) == {"level": 2, "xp": 25, "xpForNext": 200, "totalXp": 125}
    assert await world.nobody().refused("GET", LEVEL) == (401, "UNAUTHENTICATED")


async def test_options_before_and_after_they_are_kept(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    fresh = await ann.ask("GET", OPTIONS)
    assert (fresh.json(), fresh.headers["etag"]) == ({"options": {}, "revision": 0, "updatedAt": None}, '"0"')
    for replayed in (None, "true"):
        kept = await ann.ask(
            "PUT", OPTIONS, {"options": {"fov": 90, "lang": "de_de"}}, headers={"idempotency-key": "k"}
        )
        assert kept.headers.get("idempotent-replayed") == replayed
        assert (kept.status_code, kept.headers["etag"]) == (200, '"1"')
    assert kept.json()["options"] == {"fov": 90, "lang": "de_de"}
    assert await ann.get(OPTIONS) == kept.json()
    assert (await ben.get(OPTIONS))["revision"] == 0
    # Equal options make no new revision.
    assert await ann.do("PUT", OPTIONS, {"options": {"fov": 90, "lang": "de_de"}}) == kept.json()
    assert (await ann.do("PUT", OPTIONS, {"options": {}}))["revision"] == 2


@in_one_world(
    ("if_match", "revision", "status"),
    [
        (None, None, 200),
        ("*", None, 200),
        ('"1"', None, 200),
        ('"0"', None, 409),
        ('"2"', None, 409),
        ('"7", "1"', None, 200),
        (None, 1, 200),
        (None, 0, 409),
        (None, 2**62, 409),
        ('"1"', 1, 200),
        ('"1"', 0, 409),
        ('"0"', 1, 409),
        ('W/"1"', None, 400),
        ("1", None, 400),
        ('"one"', None, 400),
        ("", None, 400),
    ],
)
async def test_the_revision_that_was_worked_on(
    world: World, if_match: str | None, revision: int | None, status: int
) -> None:
    ann = await world.player("Ann")
    await ann.do("PUT", OPTIONS, {"options": {"fov": 70}})
    body = {"options": {"fov": 90}, "revision": revision}
    headers = {} if if_match is None else {"if-match": if_match}
    answer = await ann.ask("PUT", OPTIONS, body, headers=headers)
    assert answer.status_code == status, answer.text
    if status == 409:
        assert (answer.json()["code"], answer.json()["meta"]) == ("REVISION_CONFLICT", {"revision": 1})
    assert (await ann.get(OPTIONS))["options"] == {"fov": 90 if status == 200 else 70}


async def test_of_many_who_know_the_same_revision_one_wins(world: World) -> None:
    ann = await world.player("Ann")
    statuses: list[int] = []

    async def put(fov: int) -> None:
        body = {"options": {"fov": fov}, "revision": 0}
        statuses.append((await ann.ask("PUT", OPTIONS, body)).status_code)

    async with trio.open_nursery() as nursery:
        for fov in range(50):
            nursery.start_soon(put, fov)
    assert sorted(statuses) == [200] + [409] * 49


@in_one_world("options", [[], "x", None, 1, {"x": "x" * OPTIONS_MAX_BYTES}, {"x": "\0"}, {"x": 2**64}])
async def test_options_that_are_refused(world: World, options: object) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("PUT", OPTIONS, {"options": options}) == (422, "VALIDATION_FAILED")
