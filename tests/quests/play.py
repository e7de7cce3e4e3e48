"""Quests for tests: users who draw a certain quest, and a day that passes."""

import secrets
from typing import Any

from actors.ids import new_uuid
from actors.quests.day import day_of, ends_at_ms
from actors.quests.drawing import draw_first
from tests.support.jobs import job_named
from tests.support.world import Player, World

QUESTS = "/v1/quests/daily-games"
REROLL = f"{QUESTS}/reroll"
LEVEL = "/v1/profile/level"

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


def begin_day(world: World, *, at_ms: int = 0) -> int:
    """Let the next day begin, and time stand still; returns the day.

    Args:
        at_ms: how much of that day has passed, in milliseconds since midnight.
    """
    world.clock.stop()
    day = day_of(world.clock.now_ms()) + 1
    world.advance(day * 24 * HOUR_MS + at_ms - world.clock.now_ms())
    return day


def end_of(day: int) -> int:
    """The first moment of the next day."""
    return ends_at_ms(day)


async def drawing(world: World, name: str, day: int, *wanted: tuple[str, int]) -> Player:
    """Make a new user among whose quests of a day are these, each as (kind, goal)."""
    while True:
        id = new_uuid(secrets.token_bytes)
        drawn = {(one.kind, one.goal) for one in draw_first(id, day)[0]}
        if drawn >= set(wanted):
            break
    player = Player(world, id, name, world.token(id, name, ttl_seconds=3 * 86_400))
    await player.get("/v1/auth/verify")
    return player


async def pass_minutes(world: World, minutes: int) -> None:
    """Let minutes pass, and have the service count them."""
    world.advance(minutes * MINUTE_MS)
    await count(world)


async def count(world: World) -> None:
    """Have the service count all that is to be counted."""
    for name in ("launches of quests", "progress of quests"):
        assert await job_named(world, name).run() is not False


async def progress(player: Player, kind: str) -> int:
    """The progress of a player's quest of this kind today."""
    return (await quest(player, kind))["progress"]


async def quest(player: Player, kind: str) -> Any:
    """A player's quest of this kind today."""
    (found,) = [one for one in (await player.get(QUESTS))["quests"] if one["kind"] == kind]
    return found


async def experience(player: Player) -> int:
    """All experience that a player has earned."""
    return (await player.get(LEVEL))["totalXp"]
