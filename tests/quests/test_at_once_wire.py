"""Wire: a quest is rewarded once and exactly, however many count it at once, and whatever is drawn again meanwhile."""

import trio

from actors.quests import units_progress
from persistence.connection import Connection
from tests.connect.play import claimed
from tests.quests.play import (
    HOUR_MS,
    MINUTE_MS,
    QUESTS,
    REROLL,
    begin_day,
    count,
    drawing,
    experience,
    pass_minutes,
    quest,
)
from tests.support.locks import during
from tests.support.world import Player, World

AT_ONCE = 50


async def about_to_complete(world: World) -> Player:
    """Somebody who has played all but the last minute of thirty."""
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day, ("play_minutes", 30)) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await server.seat(ann)
    await server.seat(ben)
    await quest(ann, "play_minutes")
    await pass_minutes(world, 29)
    assert await experience(ann) == 0
    world.advance(MINUTE_MS)
    return ann


async def test_counted_by_many_at_once_it_is_rewarded_once(world: World) -> None:
    ann = await about_to_complete(world)
    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(count, world)
    done = await quest(ann, "play_minutes")
    assert done["completedAt"] is not None
    assert await experience(ann) == done["reward"]["xp"] == 50
    await count(world)
    assert await experience(ann) == 50


async def test_drawn_again_while_it_is_completed_it_stays(world: World) -> None:
    ann = await about_to_complete(world)
    shown, now_ms = await quest(ann, "play_minutes"), world.clock.now_ms()

    async def complete(conn: Connection) -> None:
        await units_progress.count_play(conn, None, 10, now_ms, now_ms)

    async def draw_again() -> None:
        assert await ann.refused("POST", REROLL, {"questId": shown["id"]}) == (409, "INVALID_STATE")

    await during(world.service.database, complete, draw_again)
    done = await quest(ann, "play_minutes")
    assert (done["id"], done["completedAt"] is not None) == (shown["id"], True)
    assert await experience(ann) == 50


async def test_drawn_again_by_many_meanwhile_it_is_rewarded_or_gone(world: World) -> None:
    ann = await about_to_complete(world)
    statuses: list[int] = []

    async def reroll() -> None:
        statuses.append((await ann.ask("POST", REROLL, {})).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(reroll)
            if number % 5 == 0:
                nursery.start_soon(count, world)
    assert sorted(statuses) == [200] + [409] * (AT_ONCE - 1)
    shown = await ann.get(QUESTS)
    rewards = [one["reward"]["xp"] for one in shown["quests"] if one["completedAt"] is not None]
    assert (await experience(ann), shown["rerollsLeft"]) == (sum(rewards), 0)
