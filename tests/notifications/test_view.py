"""The view: what rows tell of a past, and that a snapshot with the events after it is the next snapshot."""

from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import Forbidden, Invalid
from actors.kernel.facets import Forgotten
from actors.notifications.view import (
    NOTIFICATIONS,
    SHOWN,
    Added,
    NotificationAdded,
    NotificationEntry,
    NotificationsRead,
    NotificationsSnapshot,
    NotificationsState,
    Read,
    delta,
    happenings,
    load,
    mark,
    replay,
    snapshot,
)
from persistence.bridge.database import Database
from persistence.notifications.notifications import Notification, prune
from tests.notifications.rows import NOW_MS, added, make_users, notification, user


def row(number: int, seq: int, read_seq: int | None = None) -> Notification:
    read_at_ms = None if read_seq is None else NOW_MS + read_seq
    return Notification(f"{number:024x}", number, seq, "news", None, b"{}", NOW_MS, read_at_ms, read_seq)


@given(st.lists(st.sampled_from(["add", "read"]), max_size=30), st.data())
def test_rows_tell_the_whole_past_or_say_that_they_cannot(steps: list[str], data: st.DataObject) -> None:
    rows: list[Notification] = []
    happened: list[Added | Read] = []
    for seq, step in enumerate(steps, 1):
        unread = [place for place, known in enumerate(rows) if known.read_seq is None]
        if step == "read" and unread:
            chosen = data.draw(st.sets(st.sampled_from(unread), min_size=1))
            for place in chosen:
                rows[place] = row(rows[place].number, rows[place].seq, seq)
            happened.append(Read(tuple(rows[place] for place in sorted(chosen))))
        else:
            rows.append(row(len(rows) + 1, seq))
            happened.append(Added(rows[-1]))
    upto = len(happened)
    after = data.draw(st.integers(0, upto))
    told = happenings(data.draw(st.permutations(rows)), after, upto)
    assert told is not None
    assert [seq for seq, _ in told] == list(range(after + 1, upto + 1))
    for seq, one in told:
        match one, happened[seq - 1]:
            case Added(now), Added(then):
                assert now.id == then.id
            case Read(now_read), Read(then_read):
                assert now_read == then_read
            case _:
                pytest.fail(f"{seq} is told as another event")
    if after < upto and isinstance(happened[-1], Added):
        # Its row is gone: the past is no longer whole.
        assert happenings(rows[:-1], after, upto) is None


def test_it_is_its_owners_alone() -> None:
    state = NotificationsState(user(1), "e", 0, (), 0)
    assert NOTIFICATIONS.rendering.audience(state, user(1)) is None
    with pytest.raises(Forbidden):
        NOTIFICATIONS.rendering.audience(state, user(2))


def followed(shown: NotificationsSnapshot, events: list[object]) -> NotificationsSnapshot:
    """What a client makes of a snapshot and the data of the events after it."""
    items: list[NotificationEntry] = list(shown.items)
    unread = shown.unread
    for event in events:
        assert isinstance(event, NotificationAdded | NotificationsRead)
        unread = event.unread
        if isinstance(event, NotificationAdded):
            items = [event.notification, *(one for one in items if not driven_out(one, event, items))][:SHOWN]
        else:
            items = [entry_read(one, event.read_at) if one.id in event.ids else one for one in items]
    return NotificationsSnapshot(items=tuple(items), unread=unread)


def driven_out(one: NotificationEntry, added: NotificationAdded, items: list[NotificationEntry]) -> bool:
    """Whether a notification is gone because of another that was added before it in the list."""
    new = added.notification
    if added.kept is None or (one.kind, one.actor_id) != (new.kind, new.actor_id):
        return False
    alike = [it.id for it in items if (it.kind, it.actor_id) == (new.kind, new.actor_id)]
    return one.id in alike[added.kept - 1 :]


def entry_read(one: NotificationEntry, read_at: str) -> NotificationEntry:
    return NotificationEntry(one.id, one.kind, one.actor_id, one.data, one.created_at, read_at)


async def test_a_snapshot_and_its_events_are_the_next_snapshot(database: Database) -> None:
    await make_users(database, 1)
    me = user(1)
    shown: list[tuple[int, NotificationsSnapshot]] = []

    async def look() -> NotificationsState:
        state = await database.read(load, me)
        assert state is not None
        shown.append((state.offset, snapshot(state, None)))
        return state

    await look()
    for step in range(60):
        await added(database, notification(2 * step), notification(2 * step + 1))
        if step % 3 == 0:
            ids = [f"{number:024x}" for number in range(step, 2 * step + 1)]
            await database.transact(partial(mark, ids=ids, before_ms=None, now_ms=NOW_MS + step), me)
        await look()
    last = await look()
    for offset, before in shown:
        past = await database.read(replay, me, offset, last.offset)
        assert past is not None
        events = [delta(last, happening, None).data for _, happening in past]
        assert len(events) == last.offset - offset
        assert followed(before, events) == snapshot(last, None)


@pytest.mark.parametrize("seed", range(3))
async def test_so_it_is_where_one_drives_out_another(database: Database, seed: int) -> None:
    random, me = Random(seed), user(1)
    await make_users(database, 1)
    state = await database.read(load, me)
    assert state is not None
    followed_to, told = snapshot(state, None), 0
    for number in range(1, 120):
        kind, by = random.choice(["party_invite", "server_invite", "cape_moderated"]), random.randrange(2)
        one = notification(number, kind=kind, actor_id=user(by), at_ms=NOW_MS + number)
        await added(database, one)
        before, state = state, await database.read(load, me)
        assert state is not None
        past = await database.read(replay, me, before.offset, state.offset)
        assert past is not None
        told += len(past)
        followed_to = followed(followed_to, [delta(state, happening, None).data for _, happening in past])
        assert followed_to == snapshot(state, None)
    assert told == 119


async def test_what_has_gone_cannot_be_told(database: Database) -> None:
    await make_users(database, 1)
    await added(database, notification(1), notification(2, at_ms=NOW_MS + 1))
    assert await database.read(replay, user(1), 0, 2) is not None
    await database.transact(partial(prune, now_ms=NOW_MS + 90 * 24 * 3600 * 1000), 100)
    assert await database.read(replay, user(1), 0, 2) is None
    assert await database.read(replay, user(1), 1, 2) is not None
    assert await database.read(load, user(7)) is None


async def test_a_reading_names_something(database: Database) -> None:
    with pytest.raises(Invalid):
        await database.transact(partial(mark, ids=None, before_ms=None, now_ms=0), user(1))


def test_a_change_without_an_event_is_shown() -> None:
    with pytest.raises(Forgotten):
        delta(NotificationsState(user(1), "e", 0, (), 0), "notifications", None)
