"""Wire: what of one day, and of one user, is not that of another; and how long it is kept."""

from collections.abc import Sequence

import pytest

from actors.quests import units_progress
from actors.quests.day import day_of
from actors.quests.table import progress_of
from actors.time import DAY_MS
from persistence.connection import Connection
from persistence.quests import play, quests, totals
from persistence.quests.company import Launch
from persistence.quests.play import Stretch
from persistence.quests.totals import DayTotals
from tests.connect.play import claimed
from tests.friends.play import make_friends
from tests.party.play import gather
from tests.quests.play import HOUR_MS, QUESTS, REROLL, begin_day, count, drawing, progress
from tests.support.jobs import job_named
from tests.support.world import World

TABLES = ("quest_days", "daily_quests", "quest_play", "quest_launches", "quest_company")
PRUNING = ("old quests", "old play of quests", "old launches of quests", "old company of quests")


async def test_a_reroll_leaves_the_quests_of_others_and_of_other_days(world: World) -> None:
    day = begin_day(world, at_ms=HOUR_MS)
    ann, ben = [await drawing(world, name, day) for name in ("Ann", "Ben")]
    of_yesterday = (await ann.get(QUESTS))["quests"]
    world.advance(DAY_MS)
    before, of_ben = await ann.get(QUESTS), await ben.get(QUESTS)
    after = await ann.do("POST", REROLL, status=200)
    assert {one["id"] for one in before["quests"]}.isdisjoint(one["id"] for one in after["quests"])
    assert await ben.get(QUESTS) == of_ben
    kept = await world.service.database.read(quests.read, ann.id, day)
    assert kept is not None
    assert [one.id for one in kept.quests] == [one["id"] for one in of_yesterday]
    assert (kept.rerolls, after["rerollsLeft"]) == (0, 0)


async def test_a_party_counts_again_on_the_next_day_and_for_its_own_members(world: World) -> None:
    begin_day(world, at_ms=HOUR_MS)
    day = day_of(world.clock.now_ms()) + 1
    size = ("party_size", 3)
    ann, ben, cid, dan, eve = [
        await drawing(world, name, day, size) for name in ("Ann", "Ben", "Cid", "Dan", "Eve")
    ]
    await gather(ann, ben, cid)
    await count(world)
    world.advance(DAY_MS)
    for player in (ann, dan):
        await player.get(QUESTS)
    await count(world)
    assert (await progress(ann, "party_size"), await progress(dan, "party_size")) == (3, 0)
    await gather(dan, eve)
    await count(world)
    assert await progress(dan, "party_size") == 2


@pytest.mark.parametrize("gone_first", [True, False])
async def test_whose_session_has_run_out_meets_nobody(world: World, gone_first: bool) -> None:
    begin_day(world)
    day = day_of(world.clock.now_ms())
    ann, ben = [await drawing(world, name, day, ("friends_played", 1)) for name in ("Ann", "Ben")]
    server = await claimed(world, await world.player("Owner", ttl_seconds=3 * 86_400))
    await make_friends(ann, ben)
    first, second = (ann, ben) if gone_first else (ben, ann)
    await server.seat(first)
    world.advance(12 * HOUR_MS)
    await server.seat(second)
    await count(world)
    assert [await progress(player, "friends_played") for player in (ann, ben)] == [0, 0]


@pytest.mark.parametrize(
    ("played", "launches", "expected"),
    [
        ([], [], (0, 0, 0)),
        ([("s", 60_000)], [0], (0, 1, 1)),
        ([("s", 59_999)], [], (0, 0, 0)),
        ([("s", 120_000), ("t", 60_000)], [0, 0, -1], (1, 2, 2)),
        ([("shared", 120_000), ("t", 59_999)], [-1, -2], (2, 1, 0)),
    ],
)
async def test_what_a_day_amounts_to(
    world: World, played: list[tuple[str, int]], launches: list[int], expected: tuple[int, int, int]
) -> None:
    day = day_of(world.clock.now_ms())
    ann, ben = await world.players("Ann", "Ben")
    of_ann = [(ann.id, day, *one) for one in played] + [(ann.id, day - 1, "s", 9_000_000)]
    others = [
        (ben.id, day, "shared", 1),
        (ben.id, day - 1, "s", 9_000_000),
        (ben.id, day - 1, "t", 9_000_000),
    ]
    signals = [Launch(ann.id, day + offset, f"{number}") for number, offset in enumerate(launches)]
    signals += [Launch(ben.id, day, "of ben")]
    database = world.service.database
    await database.transact(_played, [*of_ann, *others])
    await database.transact(units_progress.count_launches, signals, world.clock.now_ms())
    found = (await database.read(totals.read, [(ann.id, day)]))[ann.id, day]
    assert (found.minutes, found.servers, found.launches) == expected


async def test_the_moments_of_a_day_are_bounded(world: World) -> None:
    """However often an accomplice lets somebody in and out."""
    day = day_of(world.clock.now_ms())
    ann = await world.player("Ann")
    stays = [
        Stretch(ann.id, day, "s", begins_at_ms, begins_at_ms + 60_000)
        for begins_at_ms in range(0, 61_000 * (play.VISITS_MAX + 1), 61_000)
    ]

    async def unit(conn: Connection) -> list[int]:
        return [len(await play.count(conn, [one])) for one in stays]

    counted = await world.service.database.transact(unit)
    assert counted == [1] * play.VISITS_MAX + [0]
    found = (await world.service.database.read(totals.read, [(ann.id, day)]))[ann.id, day]
    assert (found.minutes, found.servers) == (play.VISITS_MAX // 2, 1)


async def _played(conn: Connection, rows: Sequence[tuple[str, int, str, int]]) -> None:
    await conn.executemany(
        "INSERT INTO quest_play (user_id, day, server_id, played_ms, counted_until_ms) VALUES ($1, $2, $3, $4, 0)",
        rows,
    )


@pytest.mark.parametrize(("minutes", "counted"), [(0, 0), (239, 239), (240, 240), (241, 240), (1_440, 240)])
def test_four_hours_of_a_day_count(minutes: int, counted: int) -> None:
    done = DayTotals(minutes, 0, 0, 0, 0)
    assert progress_of("play_minutes", 1_000, done) == counted
    assert progress_of("play_minutes", 30, done) == min(counted, 30)


async def test_a_week_is_kept(world: World) -> None:
    begin_day(world)
    today = day_of(world.clock.now_ms())
    ann, database = await world.player("Ann"), world.service.database
    await database.transact(_note, ann.id, [today - age for age in (0, 7, 8, 30)])
    for name in PRUNING:
        assert await job_named(world, name).run() is not False
    assert await database.read(_days) == {table: [today - 7, today] for table in TABLES}


async def _note(conn: Connection, user_id: str, days: Sequence[int]) -> None:
    await conn.executemany(
        "INSERT INTO quest_days (user_id, day, draws) VALUES ($1, $2, 3)", _each(user_id, days)
    )
    await conn.executemany(
        "INSERT INTO daily_quests (id, user_id, day, slot, kind, goal, xp)"
        " VALUES (lpad($2::integer::text, 24, '0'), $1, $2, 0, 'party_size', 3, 100)",
        _each(user_id, days),
    )
    await _played(conn, [(user_id, day, "s", 1) for day in days])
    await conn.executemany("INSERT INTO quest_launches VALUES ($1, $2, 'signal')", _each(user_id, days))
    await conn.executemany("INSERT INTO quest_company (user_id, day) VALUES ($1, $2)", _each(user_id, days))


def _each(user_id: str, days: Sequence[int]) -> list[tuple[str, int]]:
    return [(user_id, day) for day in days]


async def _days(conn: Connection) -> dict[str, list[int]]:
    found = {}
    for table in TABLES:
        rows = await conn.fetch(f"SELECT day FROM {table} ORDER BY day")
        found[table] = [row["day"] for row in rows]
    return found
