"""Rows of notifications: numbered and counted without a gap, bounded, and read by their owner alone."""

from collections import Counter
from functools import partial

import trio

from persistence.bridge.database import Database
from persistence.notifications import notifications
from persistence.notifications.notifications import KEPT_MAX, KEPT_MS, OF_PAIR_MAX, Head, Notification
from tests.notifications.rows import NOW_MS, added, make_users, notification, user


async def listed(database: Database, user_id: str = user(1)) -> list[Notification]:
    return await database.read(notifications.newest, user_id)


async def read(
    database: Database, user_id: str, *ids: str, before_ms: int | None = None
) -> notifications.Marked:
    return await database.transact(
        partial(notifications.mark_read, ids=ids, before_ms=before_ms, now_ms=NOW_MS), user_id
    )


async def test_each_takes_the_next_offset_of_its_user(database: Database) -> None:
    await make_users(database, 1, 2)
    await added(database, notification(1), notification(2, user(2)), notification(3))
    await added(database, notification(4))
    assert [(row.id[-1], row.number, row.seq) for row in await listed(database)] == [
        ("4", 3, 3), ("3", 2, 2), ("1", 1, 1),
    ]  # fmt: skip
    assert await database.read(notifications.head_of, user(1)) == Head(f"{NOW_MS + 1:x}", 3)
    assert await database.read(notifications.head_of, user(2)) == Head(f"{NOW_MS + 2:x}", 1)


async def test_the_epoch_is_there_before_the_first(database: Database) -> None:
    await make_users(database, 1)
    before = await database.read(notifications.head_of, user(1))
    await added(database, notification(1))
    after = await database.read(notifications.head_of, user(1))
    assert before is not None and after is not None
    assert (before.epoch, before.seq, after.seq) == (after.epoch, 0, 1)
    assert await database.read(notifications.head_of, user(7)) is None


async def test_users_who_are_no_more_get_none(database: Database) -> None:
    await make_users(database, 1)
    await added(database, notification(1, user(7)), notification(2))
    assert [row.number for row in await listed(database)] == [1]
    await added(database)


async def test_reading_takes_one_offset_for_all_that_were_unread(database: Database) -> None:
    await make_users(database, 1, 2)
    await added(database, *(notification(n, at_ms=NOW_MS + n) for n in range(1, 5)), notification(5, user(2)))
    assert await read(database, user(1), f"{1:024x}", f"{5:024x}", "f" * 24) == notifications.Marked(1, 3)
    assert await read(database, user(1), before_ms=NOW_MS + 4) == notifications.Marked(2, 1)
    assert await read(database, user(1), before_ms=NOW_MS + 4) == notifications.Marked(0, 1)
    assert [(row.number, row.read_seq) for row in await listed(database)] == [
        (4, None), (3, 6), (2, 6), (1, 5),
    ]  # fmt: skip
    head = await database.read(notifications.head_of, user(1))
    assert head is not None and head.seq == 6
    moved = await database.read(notifications.moved_since, user(1), 3, 5)
    assert sorted(row.number for row in moved) == [1, 4]
    assert (await listed(database, user(2)))[0].read_at_ms is None
    assert await read(database, user(3), before_ms=NOW_MS) == notifications.Marked(0, 0)


async def test_of_one_user_the_newest_500_are_kept(database: Database) -> None:
    await make_users(database, 1)
    await added(database, *(notification(n) for n in range(1, KEPT_MAX + 1)))
    await added(database, *(notification(n) for n in range(KEPT_MAX + 1, KEPT_MAX + 4)))
    rows = await listed(database)
    assert (len(rows), rows[0].number, rows[-1].number) == (KEPT_MAX, KEPT_MAX + 3, 4)


async def test_what_is_too_old_goes(database: Database) -> None:
    await make_users(database, 1, 2)
    late_ms = NOW_MS + KEPT_MS
    await added(database, notification(1), notification(2, at_ms=NOW_MS + 1), notification(3, user(2)))
    pruned = await database.transact(partial(notifications.prune, now_ms=late_ms), 5)
    assert sorted(pruned) == [user(1), user(2)]
    assert [row.number for row in await listed(database)] == [2]
    assert await database.read(notifications.count_unread, user(1)) == 1


async def test_many_at_once_leave_no_gap(database: Database) -> None:
    await make_users(database, *range(1, 6))
    async with trio.open_nursery() as nursery:
        for turn in range(50):
            ids = range(turn * 5, turn * 5 + 5)
            order = ids if turn % 2 else reversed(ids)
            rows = [notification(n, user(n % 5 + 1)) for n in order]
            nursery.start_soon(added, database, *rows)
    for number in range(1, 6):
        rows = await listed(database, user(number))
        assert [row.seq for row in rows] == list(range(50, 0, -1))


async def test_nobody_drives_out_what_others_have_said(database: Database) -> None:
    await make_users(database, 1, 2)
    await added(database, *(notification(number) for number in range(1, 41)))
    flood = {
        kind: [notification(100 * place + n, kind=kind, actor_id=user(99)) for n in range(60)]
        for place, kind in enumerate(
            ("friend_request", "friend_accepted", "party_invite", "server_invite", "news"), 10
        )
    }
    for rows in flood.values():
        # One by one, several at once, and more at once than are kept.
        for row in rows[:20]:
            await added(database, row)
        await added(database, *rows[20:25], notification(int(rows[0].id, 16) + 90, user(2)))
        await added(database, *rows[25:])
    kept = await listed(database)
    assert Counter(row.kind for row in kept if row.actor_id == user(99)) == Counter(OF_PAIR_MAX)
    assert sum(OF_PAIR_MAX.values()) == 40
    assert [row.id for row in kept if row.actor_id != user(99)] == [f"{n:024x}" for n in range(40, 0, -1)]
    # They are the newest of each kind, and everybody else has theirs.
    for kind, rows in flood.items():
        newest = [row.id for row in reversed(rows)][: OF_PAIR_MAX[kind]]
        assert [row.id for row in kept if (row.kind, row.actor_id) == (kind, user(99))] == newest
    assert len(await listed(database, user(2))) == len(flood)


async def test_the_bound_of_a_pair_is_exact_under_concurrency(database: Database) -> None:
    await make_users(database, 1)
    for start in range(0, 60, 20):
        async with trio.open_nursery() as nursery:
            for n in range(start, start + 20):
                nursery.start_soon(added, database, notification(n, kind="server_invite", actor_id=user(99)))
        assert len(await listed(database)) == min(start + 20, OF_PAIR_MAX["server_invite"])


async def test_what_moderators_say_is_bounded_by_the_whole_alone(database: Database) -> None:
    await make_users(database, 1)
    said = (notification(n, kind="cape_moderated", actor_id=user(99)) for n in range(40))
    await added(database, *said)
    assert len(await listed(database)) == 40
