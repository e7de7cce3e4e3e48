"""Wire: what users do counts for their quests, once, on the day on which they did it."""

import pytest

from tests.connect.play import claimed
from tests.friends.play import make_friends
from tests.party.play import ARENA, SELECTION, gather, ready
from tests.quests.play import (
    HOUR_MS,
    MINUTE_MS,
    begin_day,
    count,
    drawing,
    end_of,
    experience,
    pass_minutes,
    progress,
    quest,
)
from tests.support.world import World


async def test_minutes_alone_are_half_and_whole_once_somebody_else_played_there(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    owner = await drawing(world, "Owner", day, ("play_minutes", 30))
    ann, ben = [await drawing(world, name, day, ("play_minutes", 30)) for name in ("Ann", "Ben")]
    server = await claimed(world, owner)
    await server.seat(owner)
    session = await server.seat(ann)
    assert await progress(ann, "play_minutes") == 0
    await pass_minutes(world, 10)
    await count(world)
    assert (await progress(ann, "play_minutes"), await progress(owner, "play_minutes")) == (5, 0)
    await server.do("DELETE", f"{server.path}/sessions/{session['sessionId']}")
    await server.seat(ben)
    await pass_minutes(world, 1)
    assert (await progress(ann, "play_minutes"), await progress(ben, "play_minutes")) == (10, 1)
    await pass_minutes(world, 28)
    assert (await progress(ben, "play_minutes"), await experience(ben)) == (29, 0)
    await pass_minutes(world, 1)
    await pass_minutes(world, 1)
    done = await quest(ben, "play_minutes")
    assert (done["progress"], done["reward"]) == (30, {"xp": 50})
    assert done["completedAt"] is not None
    assert (await experience(ben), await experience(owner)) == (50, 0)


async def test_time_on_several_servers_at_once_is_played_once(world: World) -> None:
    """As of somebody whose lobby has not ended their session, or whom an accomplice lets into many servers."""
    day = begin_day(world, at_ms=HOUR_MS)
    owner = await drawing(world, "Owner", day)
    ann, ben = [await drawing(world, name, day, ("play_minutes", 120)) for name in ("Ann", "Ben")]
    lobby, arena, den = [await claimed(world, owner, name) for name in ("Lobby", "Arena", "Den")]
    await arena.seat(ben)
    await lobby.seat(ann)
    await pass_minutes(world, 4)
    assert await progress(ann, "play_minutes") == 2, "alone"
    await den.seat(ann)
    await pass_minutes(world, 4)
    assert await progress(ann, "play_minutes") == 4, "alone on either of two"
    session = await arena.seat(ann)
    await pass_minutes(world, 4)
    assert await progress(ann, "play_minutes") == 8, "with somebody on one of three"
    world.advance(MINUTE_MS // 2)
    await arena.do("DELETE", f"{arena.path}/sessions/{session['sessionId']}")
    world.advance(MINUTE_MS // 2)
    await count(world)
    assert await progress(ann, "play_minutes") == 8, "4.5 minutes whole, and 8.5 half"
    await pass_minutes(world, 1)
    assert await progress(ann, "play_minutes") == 9
    await lobby.seat(ben)
    await pass_minutes(world, 1)
    assert (await progress(ann, "play_minutes"), await progress(ben, "play_minutes")) == (15, 15)


async def test_what_was_played_before_midnight_counts_for_that_day(world: World) -> None:
    day = begin_day(world, at_ms=23 * HOUR_MS)
    kinds = ("play_servers", 2), ("party_size", 3), ("party_launch", 1)
    ann, ben = [await drawing(world, name, day, *kinds) for name in ("Ann", "Ben")]
    root = await drawing(world, "Root", day)
    for name in ("One", "Two"):
        server = await claimed(world, root, name)
        await server.seat(ann)
        await server.seat(ben)
    first = await quest(ann, "play_servers")
    assert (first["progress"], first["goal"]) == (0, 2)
    world.advance(HOUR_MS - 1)
    await count(world)
    assert (await progress(ann, "play_servers"), await experience(ann)) == (2, 75)
    assert await experience(ben) == 0, "ben has not looked, and so has no quests"
    world.advance(1)
    fresh = await ann.do("GET", "/v1/quests/daily-games", status=200)
    assert first["id"] not in str(fresh)
    assert all(one["expiresAt"] > first["expiresAt"] and one["progress"] == 0 for one in fresh["quests"])
    assert world.clock.now_ms() == end_of(day)
    await pass_minutes(world, 1)
    quests = (await ann.get("/v1/quests/daily-games"))["quests"]
    of_today = sum(one["reward"]["xp"] for one in quests if one["completedAt"] is not None)
    assert await experience(ann) == 75 + of_today, "two servers in the new day may be a quest of it"


@pytest.mark.one_node(because="each node counts the launches of its parties until its job has written them")
async def test_friends_on_one_server_parties_and_launches(world: World) -> None:
    day = begin_day(world)
    kinds = {"friends_played": 1, "party_size": 3, "party_launch": 2}
    ann, ben, cid = [await drawing(world, name, day, *kinds.items()) for name in ("Ann", "Ben", "Cid")]
    server = await claimed(world, await drawing(world, "Owner", day))
    await make_friends(ann, ben)
    for player in (ann, ben, cid):
        await server.seat(player)
        await player.get("/v1/quests/daily-games")
    await gather(ann, ben)
    await pass_minutes(world, 1)
    assert [await progress(player, "friends_played") for player in (ann, ben, cid)] == [1, 1, 0]
    assert [await progress(player, "party_size") for player in (ann, ben, cid)] == [2, 2, 0]
    await gather(ann, cid)
    await ann.do("PUT", SELECTION, ARENA, status=200)
    for player in (ann, ben, cid, cid):
        await ready(player)
    for _ in range(2):
        await count(world)
        assert [await progress(player, "party_size") for player in (ann, ben, cid)] == [3, 3, 3]
        assert [await progress(player, "party_launch") for player in (ann, ben, cid)] == [1, 1, 1]
    await ready(cid, is_ready=False)
    await ready(cid)
    await count(world)
    assert [(await quest(player, "party_launch"))["completedAt"] is None for player in (ann, cid)] == [
        False,
        False,
    ]
    assert [await experience(player) for player in (ann, ben, cid)] == [325, 325, 225]
