"""Wire: what was played until a session has ended counts, however short it was, and once."""

from functools import partial
from typing import Any

import pytest

from persistence.connect import sessions
from persistence.connection import Connection
from persistence.quests import totals, visits
from persistence.users.erasure import erase
from tests.connect.play import GameServer, claimed
from tests.friends.play import make_friends
from tests.quests.play import (
    HOUR_MS,
    MINUTE_MS,
    QUESTS,
    begin_day,
    count,
    drawing,
    end_of,
    progress,
)
from tests.support.locks import crossed
from tests.support.waiting import wait_until
from tests.support.world import Player, World

MINUTES = ("play_minutes", 30)


async def leave(server: GameServer, session: Any) -> None:
    """Let a player's session end."""
    await server.do("DELETE", f"{server.path}/sessions/{session['sessionId']}")


async def stay(world: World, server: GameServer, player: Player, ms: int) -> None:
    """Let a player in for so long."""
    session = await server.seat(player)
    world.advance(ms)
    await leave(server, session)


async def nobody_is_there(world: World) -> bool:
    """Whether all sessions have ended."""
    return await world.service.database.read(sessions.everywhere) == []


async def played(world: World, player: Player, day: int) -> tuple[int, int, int]:
    """Minutes and servers of a day, and whether a friend was there."""
    found = (await world.service.database.read(totals.read, [(player.id, day)]))[player.id, day]
    return found.minutes, found.servers, found.friends


async def test_sessions_between_two_counts_count_whole_and_once(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day, MINUTES) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await ann.get(QUESTS)
    await stay(world, server, ann, 4 * MINUTE_MS)
    for _ in range(2):
        await count(world)
        assert await progress(ann, "play_minutes") == 2, "alone there, so half of it"
    await stay(world, server, ben, 1)
    await count(world)
    assert await progress(ann, "play_minutes") == 4, "somebody else was there on this day"


async def test_the_rest_of_a_session_counts_beside_what_was_counted_and_what_comes_after(
    world: World,
) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day, MINUTES) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await server.seat(ben)
    await ann.get(QUESTS)
    session = await server.seat(ann)
    world.advance(90_000)
    await count(world)
    world.advance(30_000)
    await leave(server, session)
    world.advance(7 * MINUTE_MS)
    await stay(world, server, ann, 40_000)
    world.advance(MINUTE_MS)
    await server.seat(ann)
    world.advance(20_000)
    await server.seat(ann)  # a new ticket in place of the session
    world.advance(2 * MINUTE_MS)
    for _ in range(2):
        await count(world)
        assert await progress(ann, "play_minutes") == 5


@pytest.mark.parametrize(
    ("before", "after"), [(1, 1), (MINUTE_MS, MINUTE_MS - 1), (MINUTE_MS - 1, MINUTE_MS)]
)
async def test_a_session_over_midnight_counts_for_both_days_to_the_millisecond(
    world: World, before: int, after: int
) -> None:
    day = begin_day(world, at_ms=24 * HOUR_MS - before)
    ann, ben, owner = [await drawing(world, name, day) for name in ("Ann", "Ben", "Owner")]
    server = await claimed(world, owner)
    await make_friends(ann, ben)
    await server.seat(ben)
    await stay(world, server, ann, before + after)
    assert world.clock.now_ms() == end_of(day) + after
    await count(world)
    for one, ms in ((day, before), (day + 1, after)):
        assert await played(world, ann, one) == (ms // MINUTE_MS, ms // MINUTE_MS, 1)


async def test_the_end_of_a_session_at_midnight_is_no_part_of_the_next_day(world: World) -> None:
    day = begin_day(world, at_ms=24 * HOUR_MS - MINUTE_MS)
    ann, ben, owner = [await drawing(world, name, day) for name in ("Ann", "Ben", "Owner")]
    server = await claimed(world, owner)
    await make_friends(ann, ben)
    await server.seat(ben)
    await stay(world, server, ann, MINUTE_MS)
    await count(world)
    assert [await played(world, ann, one) for one in (day, day + 1)] == [(1, 1, 1), (0, 0, 0)]


@pytest.mark.parametrize("overlap", [-1, 0, 1])
async def test_friends_who_have_both_left_have_met_if_they_were_there_at_once(
    world: World, overlap: int
) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day, ("friends_played", 1)) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await make_friends(ann, ben)
    for player in (ann, ben):
        await player.get(QUESTS)
    of_ann = await server.seat(ann)
    world.advance(10_000 - max(overlap, 0))
    if overlap > 0:
        of_ben = await server.seat(ben)
        world.advance(overlap)
        await leave(server, of_ann)
    else:
        await leave(server, of_ann)
        world.advance(-overlap)
        of_ben = await server.seat(ben)
    world.advance(10_000)
    await leave(server, of_ben)
    await count(world)
    met = int(overlap > 0)
    assert [await progress(player, "friends_played") for player in (ann, ben)] == [met, met]


async def test_who_owns_the_server_is_met_and_earns_nothing(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, owner = [await drawing(world, name, day) for name in ("Ann", "Owner")]
    server = await claimed(world, owner)
    await make_friends(ann, owner)
    await server.seat(ann)
    world.advance(MINUTE_MS)
    await count(world)
    await stay(world, server, owner, MINUTE_MS)
    await count(world)
    assert await played(world, owner, day) == (0, 0, 0)
    assert await played(world, ann, day) == (1, 1, 1)


@pytest.mark.parametrize("how", ["the server is removed", "the session runs out", "the server is given away"])
async def test_however_it_ends_it_counts(world: World, how: str) -> None:
    day = begin_day(world)
    ann, owner, heir = [await drawing(world, name, day) for name in ("Ann", "Owner", "Heir")]
    server = await claimed(world, owner)
    await server.seat(ann)
    await server.seat(owner)
    hours = 12 if how == "the session runs out" else 2
    world.advance(hours * HOUR_MS)
    if how == "the server is removed":
        await owner.do("DELETE", server.path)
    elif how == "the server is given away":
        invite = {"inviteeUserId": heir.id, "role": "owner", "capabilities": [], "note": ""}
        made = await owner.do("POST", f"{server.path}/invites", invite, status=201)
        await heir.do("POST", f"/v1/connect/server-invites/{made['id']}/accept", status=200)
    else:
        world.advance(MINUTE_MS)
        await wait_until(partial(nobody_is_there, world))
    await count(world)
    assert await played(world, ann, day) == (hours * 30, 1, 0)
    assert await played(world, owner, day) == (0, 0, 0)


async def test_a_session_ends_while_its_player_is_being_erased(world: World) -> None:
    ann, owner = await world.players("Ann", "Owner")
    server = await claimed(world, owner)
    session = await server.seat(ann)

    async def hold(conn: Connection) -> None:
        await conn.execute("SELECT FROM users WHERE id = $1 FOR UPDATE", ann.id)

    erased = partial(erase, user_id=ann.id, now_ms=world.clock.now_ms(), even_if_held=True)
    await crossed(world.service.database, hold, erased, partial(leave, server, session))
    assert await nobody_is_there(world)
    assert await world.service.database.read(visits.ended, 10) == []


async def test_who_is_erased_leaves_nothing_to_count(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day, MINUTES) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await ben.get(QUESTS)
    for player in (ann, ben):
        await stay(world, server, player, 2 * MINUTE_MS)
    root = await world.super_admin()
    await root.do("DELETE", f"/v1/admin/users/{ann.id}", status=204)
    await count(world)
    assert await world.service.database.read(visits.ended, 10) == []
    assert await progress(ben, "play_minutes") == 1
