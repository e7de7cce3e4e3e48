"""Flame streaks: what rows make of the days on which two were in touch, and what a model makes of the same days."""

from collections.abc import Sequence
from random import Random
from typing import cast

import pytest

from actors.friends.public import flame_streak
from actors.friends.streaks import Streaks
from actors.time import DAY_MS
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from persistence.friends import links
from persistence.friends.links import Link
from persistence.users.users import arrive

ANN, BEN, CID = (f"00000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))

DAY = 20_000


async def make_friends(database: Database) -> None:
    """Ann and Ben are friends; Cid is nobody's."""

    async def unit(conn: Connection) -> None:
        for number, id in enumerate((ANN, BEN, CID)):
            await arrive(conn, id, f"user{number}", issued_at_s=0, now_ms=1)
        await links.add(conn, ANN, BEN, created_at_ms=1, accepted_at_ms=2)

    await database.transact(unit)


async def link_of(database: Database, user_id: str = ANN) -> Link:
    (link,) = await database.read(links.of_user, user_id)
    return link


@pytest.fixture
async def told(database: Database) -> list[tuple[str, str]]:
    """Whose streak was said to have changed."""
    await make_friends(database)
    return []


@pytest.fixture
async def streaks(database: Database, told: list[tuple[str, str]]) -> Streaks:
    return Streaks(database, lambda one, other: told.append((one, other)))


BOTH = ((ANN, BEN), (BEN, ANN))


@pytest.mark.parametrize(
    ("days", "first", "last"),
    [
        ([(0, "a")], None, None),
        ([(0, "a"), (1, "b")], None, None),
        ([(0, "a"), (0, "b")], 0, 0),
        ([(0, "ab"), (1, "ab"), (2, "ab")], 0, 2),
        ([(0, "ab"), (1, "a"), (2, "ab")], 2, 2),
        ([(0, "ab"), (1, "a")], 0, 0),
        ([(0, "ab"), (1, "a"), (1, "b"), (2, "b")], 0, 1),
        ([(0, "ab"), (5, "ab"), (6, "ab")], 5, 6),
        ([(3, "ab"), (1, "ab")], 3, 3),
        ([(0, "ab"), (0, "ab"), (1, "ba"), (1, "ab")], 0, 1),
    ],
)
@pytest.mark.parametrize("at_once", [False, True])
async def test_a_streak_is_a_run_of_days_of_both(
    database: Database,
    streaks: Streaks,
    days: Sequence[tuple[int, str]],
    first: int | None,
    last: int | None,
    at_once: bool,
) -> None:
    for day, who in sorted(days) if at_once else days:
        for letter in who:
            user_id, other_id = BOTH[letter == "b"]
            streaks.contact(user_id, other_id, (DAY + day) * DAY_MS + 7)
        if not at_once:
            await streaks.flush()
    await streaks.flush()
    if at_once and days != sorted(days):
        return
    for user_id in (ANN, BEN):
        link = await link_of(database, user_id)
        assert (link.first_day, link.last_day) == (
            None if first is None else DAY + first,
            None if last is None else DAY + last,
        )


async def test_what_clients_see(database: Database, streaks: Streaks, told: list[tuple[str, str]]) -> None:
    for day in (0, 1):
        for user_id, other_id in BOTH:
            streaks.contact(user_id, other_id, (DAY + day) * DAY_MS + 1_000)
    await streaks.flush()
    link = await link_of(database)
    start_ms = DAY * DAY_MS
    streak = flame_streak(link, start_ms + DAY_MS)
    assert streak is not None
    assert (streak.days, streak.active) == (2, True)
    assert streak.started_at == "2024-10-04T00:00:00.000Z"
    assert streak.last_interaction_at == "2024-10-05T00:00:01.000Z"
    assert streak.expires_at == "2024-10-07T00:00:00.000Z"
    for now_ms, active in ((start_ms + 3 * DAY_MS - 1, True), (start_ms + 3 * DAY_MS, False)):
        later = flame_streak(link, now_ms)
        assert later is not None
        assert later.active is active
    assert set(told) == {(ANN, BEN)}


async def test_strangers_have_none(database: Database, streaks: Streaks, told: list[tuple[str, str]]) -> None:
    streaks.together((ANN, BEN, CID), DAY * DAY_MS)
    await streaks.flush()
    assert told == [(ANN, BEN)]
    assert (await link_of(database)).last_day == DAY

    async def befriend(conn: Connection) -> None:
        await links.add(conn, CID, ANN, created_at_ms=1, accepted_at_ms=2)

    await database.transact(befriend)
    streaks.together((ANN, CID), DAY * DAY_MS)
    await streaks.flush()
    assert (await link_of(database, CID)).last_day is None
    streaks.forget(ANN, CID)
    streaks.together((ANN, CID), DAY * DAY_MS)
    await streaks.flush()
    assert (await link_of(database, CID)).last_day == DAY


async def test_a_day_is_written_once_for_each_side(
    database: Database, streaks: Streaks, told: list[tuple[str, str]]
) -> None:
    for minute in range(50):
        streaks.contact(ANN, BEN, DAY * DAY_MS + minute)
        await streaks.flush()
    assert told == [(ANN, BEN)]
    assert (await link_of(database)).last_contact_ms == DAY * DAY_MS


class Away:
    """A database that cannot be asked, and is told of more contacts meanwhile."""

    def __init__(self) -> None:
        self.streaks: Streaks | None = None
        self.tries = 0

    async def transact(self, _unit: object) -> list[tuple[str, str]]:
        self.tries += 1
        meet_many(self.streaks, f"{self.tries}")
        raise DatabaseUnavailable("away")


def meet_many(streaks: Streaks | None, prefix: str) -> None:
    assert streaks is not None
    for number in range(5):
        streaks.contact(f"{prefix}-{number}", ANN, DAY * DAY_MS)


async def test_a_process_that_has_just_started_moves_nothing_by_what_it_tells_again(
    database: Database, told: list[tuple[str, str]]
) -> None:
    """As of two who share a party while the service is started anew."""
    moments = (DAY * DAY_MS + 5, DAY * DAY_MS + 9_000, (DAY + 1) * DAY_MS + 7)
    for at_ms, last_ms, changes in zip(moments, (5, 5, DAY_MS + 7), (1, 1, 2), strict=True):
        started = Streaks(database, lambda one, other: told.append((one, other)))
        started.together((ANN, BEN), at_ms)
        await started.flush()
        assert (await link_of(database)).last_contact_ms == DAY * DAY_MS + last_ms
        assert len(told) == changes


async def test_what_waits_for_the_database_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.friends.streaks.WAITING_MAX", 8)
    away = Away()
    streaks = away.streaks = Streaks(cast("Database", away), lambda _one, _other: None)
    meet_many(streaks, "0")
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable):
            await streaks.flush()
    assert (away.tries, len(streaks)) == (3, 8)


async def test_a_streak_ends_with_the_friendship(database: Database, streaks: Streaks) -> None:
    streaks.together((ANN, BEN), DAY * DAY_MS)
    await streaks.flush()

    await database.transact(befriend_anew)
    assert flame_streak(await link_of(database), 0) is None


async def test_any_days_give_the_newest_run(database: Database, told: list[tuple[str, str]]) -> None:
    rng = Random(7)
    for _ in range(60):
        days = sorted((rng.randrange(12), rng.random() < 0.5) for _ in range(rng.randrange(30)))
        streaks = Streaks(database, lambda one, other: told.append((one, other)))
        for day, second in days:
            user_id, other_id = BOTH[second]
            streaks.contact(user_id, other_id, (DAY + day) * DAY_MS)
            if rng.random() < 0.5:
                await streaks.flush()
        await streaks.flush()
        link = await link_of(database)
        first, last = expected(days)
        assert (link.first_day, link.last_day) == (
            None if first is None else DAY + first,
            None if last is None else DAY + last,
        ), days
        await database.transact(befriend_anew)


async def befriend_anew(conn: Connection) -> None:
    """Ann and Ben are friends since now."""
    await links.remove(conn, ANN, BEN)
    await links.add(conn, ANN, BEN, created_at_ms=1, accepted_at_ms=2)


def expected(days: Sequence[tuple[int, bool]]) -> tuple[int | None, int | None]:
    """First and last day of the newest run."""
    both = {day for day, _ in days if {(day, False), (day, True)} <= set(days)}
    if not both:
        return None, None
    last = first = max(both)
    while first - 1 in both:
        first -= 1
    return first, last
