"""Wire: quests are drawn at the first look and drawn again, exactly as often as the user may."""

import trio

from tests.connect.play import claimed
from tests.quests.play import (
    HOUR_MS,
    LEVEL,
    QUESTS,
    REROLL,
    begin_day,
    drawing,
    experience,
    pass_minutes,
    quest,
)
from tests.support.world import Player, World

AT_ONCE = 50


async def test_first_looks_at_once_are_one_draw(world: World) -> None:
    day = begin_day(world)
    ann = await drawing(world, "Ann", day)
    seen: list[object] = []

    async def look() -> None:
        seen.append(await ann.get(QUESTS))

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(look)
    assert all(one == seen[0] for one in seen)
    assert len({one["kind"] for one in (await ann.get(QUESTS))["quests"]}) == 3


async def test_rerolls_at_once_are_one(world: World) -> None:
    day = begin_day(world)
    ann = await drawing(world, "Ann", day)
    before = await ann.get(QUESTS)
    assert before["rerollsLeft"] == 1
    answers: list[int] = []

    async def reroll() -> None:
        answers.append((await ann.ask("POST", REROLL, {})).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(reroll)
    assert sorted(answers) == [200] + [409] * (AT_ONCE - 1)
    after = await ann.get(QUESTS)
    assert after["rerollsLeft"] == 0
    assert all(one["id"] != two["id"] for one, two in zip(before["quests"], after["quests"], strict=True))
    assert all(one["kind"] != two["kind"] for one, two in zip(before["quests"], after["quests"], strict=True))
    assert await ann.refused("POST", REROLL, {}) == (409, "INVALID_STATE")


async def test_without_a_body_all_are_drawn_again(world: World) -> None:
    ann = await drawing(world, "Ann", begin_day(world))
    before = await ann.get(QUESTS)
    after = await ann.do("POST", REROLL, status=200)
    assert after["rerollsLeft"] == 0
    assert not {one["id"] for one in before["quests"]} & {one["id"] for one in after["quests"]}
    assert await ann.refused("POST", REROLL) == (409, "INVALID_STATE")


async def test_one_quest_again_and_never_a_completed_one(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann = await drawing(world, "Ann", day, ("play_minutes", 30))
    root, ben = await world.super_admin(), await drawing(world, "Ben", day)
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", {"node": "quests:rerolls", "value": 2})
    server = await claimed(world, root)
    await server.seat(ann)
    await server.seat(ben)
    first, second, third = (await ann.get(QUESTS))["quests"]
    await pass_minutes(world, 30)
    done = await quest(ann, "play_minutes")
    open_ones = [one for one in (first, second, third) if one["id"] != done["id"]]
    assert await ann.refused("POST", REROLL, {"questId": done["id"]}) == (409, "INVALID_STATE")
    assert await ann.refused("POST", REROLL, {"questId": "0" * 24}) == (404, "NOT_FOUND")
    answer = await ann.do("POST", REROLL, {"questId": open_ones[0]["id"]}, status=200)
    assert answer["rerollsLeft"] == 1
    kept = {one["id"] for one in answer["quests"]}
    assert {done["id"], open_ones[1]["id"]} < kept
    assert open_ones[0]["id"] not in kept
    assert await ann.refused("POST", REROLL, {"questId": open_ones[0]["id"]}) == (404, "NOT_FOUND")
    answer = await ann.do("POST", REROLL, {}, status=200)
    assert answer["rerollsLeft"] == 0
    assert {one["id"] for one in answer["quests"]} & kept == {done["id"]}


async def test_a_repeated_reroll_answers_as_before(world: World) -> None:
    begin_day(world)
    ann: Player = await world.player("Ann", ttl_seconds=3 * 86_400)
    key = {"idempotency-key": "again"}
    first = await ann.ask("POST", REROLL, {}, headers=key)
    again = await ann.ask("POST", REROLL, {}, headers=key)
    assert (first.status_code, again.content) == (200, first.content)
    assert (await ann.get(QUESTS)) == first.json()
    assert (await ann.get(LEVEL))["totalXp"] == await experience(ann) == 0
