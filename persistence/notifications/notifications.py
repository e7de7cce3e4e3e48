"""Notifications of users in rows, and the offsets of each user's channel.

Every addition of a notification has an offset, and so does every marking as read. Both are stored in the rows, so that
the events that a client has missed can be reconstructed, as long as no such row is deleted. A change that deletes or
alters rows without being an event (by their age, or the erasure of a user whom they name) takes an offset that no row
has: a client that was last told of an earlier offset then gets a fresh snapshot.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from persistence.connection import Connection, Row
from persistence.notifications.kinds import KINDS, NotificationKind

KEPT_MS = 90 * 24 * 3600 * 1000
"""How long notifications are kept (contract §5)."""

KEPT_MAX = 500
"""The most notifications of one user; the oldest are deleted."""

OF_PAIR_MAX: Mapping[str, int] = MappingProxyType(
    {kind: rules.of_pair_max for kind, rules in KINDS.items() if rules.of_pair_max is not None}
)
"""{kind: how many of it that one actor has caused are kept for one user}; only `KEPT_MAX` bounds the others."""


class NewNotification(msgspec.Struct, frozen=True):
    """A notification to be added.

    Args:
        id: objectId.
        user_id: the user who is notified.
        actor_id: the user who has caused it, or None.
        data: encoded JSON object.
        created_at_ms: epoch milliseconds.
    """

    id: str
    user_id: str
    kind: NotificationKind
    actor_id: str | None
    data: bytes
    created_at_ms: int


class Notification(msgspec.Struct, frozen=True):
    """A notification as stored.

    Args:
        id: objectId.
        number: its place among the user's notifications, for paging.
        seq: the offset at which it was added.
        kind, actor_id, data, created_at_ms: as in `NewNotification`.
        read_at_ms: None while it is unread.
        read_seq: the offset at which it was read.
    """

    id: str
    number: int
    seq: int
    kind: str
    actor_id: str | None
    data: bytes
    created_at_ms: int
    read_at_ms: int | None
    read_seq: int | None


class Head(msgspec.Struct, frozen=True):
    """The epoch and last offset of a user's channel."""

    epoch: str
    seq: int


class Marked(msgspec.Struct, frozen=True):
    """The result of marking notifications as read.

    Args:
        count: how many notifications were unread and are read now.
        unread: how many are still unread.
    """

    count: int
    unread: int


async def add(conn: Connection, rows: Sequence[NewNotification]) -> None:
    """Store notifications, in the transaction of their cause; users who no longer exist are skipped.

    Of one kind by one actor only the newest are kept (`OF_PAIR_MAX`), so that one user cannot displace the
    notifications of others. To be called once in a transaction, because it locks the users' heads in the
    order of their ids; a kind's `persist` leaves it to the writer.
    """
    rows = _newest_of_pairs(rows)
    if not rows:
        return
    many = Counter(row.user_id for row in rows)
    heads = await conn.fetch(_MOVE_HEADS, list(many), list(many.values()))
    await conn.execute(
        _ADD,
        *([head[name] for head in heads] for name in ("user_id", "seq", "added")),
        [row.id for row in rows],
        [row.user_id for row in rows],
        [row.kind for row in rows],
        [row.actor_id for row in rows],
        [row.data for row in rows],
        [row.created_at_ms for row in rows],
        list(OF_PAIR_MAX),
        list(OF_PAIR_MAX.values()),
        KEPT_MAX,
    )


def _newest_of_pairs(rows: Sequence[NewNotification]) -> list[NewNotification]:
    """Those of a transaction's rows that are to be kept, in their order."""
    kept: list[NewNotification] = []
    met: Counter[tuple[str, str | None, str]] = Counter()
    for row in reversed(rows):
        pair = row.user_id, row.actor_id, row.kind
        met[pair] += 1
        if row.actor_id is None or met[pair] <= OF_PAIR_MAX.get(row.kind, KEPT_MAX):
            kept.append(row)
    return kept[::-1]


async def head_of(conn: Connection, user_id: str) -> Head | None:
    """The epoch and last offset of a user's channel, or None when there is no such user.

    The epoch of a user who was never notified is the one that the first notification will write.
    """
    row = await conn.fetchrow(
        "SELECT coalesce(head.epoch, to_hex(users.created_at_ms)), coalesce(head.seq, 0) FROM users"
        " LEFT JOIN notification_heads AS head ON head.user_id = users.id WHERE users.id = $1",
        user_id,
    )
    return None if row is None else Head(*row)


async def newest(
    conn: Connection, user_id: str, *, below: int | None = None, limit: int = KEPT_MAX
) -> list[Notification]:
    """The user's notifications, newest first.

    Args:
        below: only numbers below this; None = from the newest.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT * FROM notifications WHERE user_id = $1 AND ($2::bigint IS NULL OR number < $2)"
        " ORDER BY number DESC LIMIT $3",
        user_id,
        below,
        limit,
    )
    return [_notification(row) for row in rows]


async def count_unread(conn: Connection, user_id: str) -> int:
    """How many of the user's notifications are unread."""
    count: int = await conn.fetchval(
        "SELECT count(*) FROM notifications WHERE user_id = $1 AND read_at_ms IS NULL", user_id
    )
    return count


async def moved_since(conn: Connection, user_id: str, after: int, upto: int) -> list[Notification]:
    """The notifications that were added or read at the offsets above `after`, up to `upto`; in no order."""
    rows = await conn.fetch(
        "SELECT * FROM notifications WHERE user_id = $1"
        " AND (seq > $2 AND seq <= $3 OR read_seq > $2 AND read_seq <= $3)",
        user_id,
        after,
        upto,
    )
    return [_notification(row) for row in rows]


async def mark_read(
    conn: Connection, user_id: str, *, ids: Collection[str], before_ms: int | None, now_ms: int
) -> Marked:
    """Mark notifications of the user as read: the named ones, and those created before a time.

    Args:
        ids: the named notifications; ids that are not the user's are ignored.
        before_ms: exclusive bound on `created_at_ms`, or None.
        now_ms: epoch milliseconds.
    """
    seq: int | None = await conn.fetchval(
        "SELECT seq FROM notification_heads WHERE user_id = $1 FOR NO KEY UPDATE", user_id
    )
    if seq is None:
        return Marked(0, 0)
    marked = await conn.fetch(
        "UPDATE notifications SET read_at_ms = $4, read_seq = $5 WHERE user_id = $1 AND read_at_ms IS NULL"
        " AND (id = ANY ($2::text[]) OR created_at_ms < $3) RETURNING id",
        user_id,
        list(ids),
        before_ms,
        now_ms,
        seq + 1,
    )
    if marked:
        await conn.execute("UPDATE notification_heads SET seq = $2 WHERE user_id = $1", user_id, seq + 1)
    return Marked(len(marked), await count_unread(conn, user_id))


async def take_offset(conn: Connection, user_ids: Collection[str]) -> None:
    """Take an offset of each of these users' channels, before a change of their rows that is no event.

    Locks the users' heads in the order of their ids, as `add` does.
    """
    await conn.execute(
        """
        WITH held AS (
            SELECT user_id FROM notification_heads WHERE user_id = ANY ($1::text[])
            ORDER BY user_id FOR NO KEY UPDATE
        )
        UPDATE notification_heads AS head SET seq = head.seq + 1 FROM held WHERE head.user_id = held.user_id
        """,
        list(user_ids),
    )


async def prune(conn: Connection, limit: int, *, now_ms: int) -> list[str]:
    """Delete notifications that are too old, at most `limit`; returns the user id of each."""
    old = await conn.fetch(
        "SELECT id, user_id FROM notifications WHERE created_at_ms <= $1 ORDER BY created_at_ms LIMIT $2",
        now_ms - KEPT_MS,
        limit,
    )
    if old:
        await take_offset(conn, {row["user_id"] for row in old})
        await conn.execute(
            "DELETE FROM notifications WHERE id = ANY ($1::text[])", [row["id"] for row in old]
        )
    return [row["user_id"] for row in old]


_MOVE_HEADS = """
INSERT INTO notification_heads AS head (user_id, epoch, seq, added)
SELECT users.id, to_hex(users.created_at_ms), given.many, given.many
FROM unnest($1::text[], $2::bigint[]) AS given (user_id, many) JOIN users ON users.id = given.user_id
ORDER BY users.id
ON CONFLICT (user_id) DO UPDATE SET seq = head.seq + excluded.seq, added = head.added + excluded.added
RETURNING user_id, seq, added
"""

# A separate statement, so that it sees everything that was added before the heads were locked. Its DELETEs do not see
# the rows that it inserts, which are the newest.
_ADD = """
WITH moved AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS m (user_id, seq, added)
), new AS (
    SELECT given.*, count(*) OVER (PARTITION BY user_id) AS many,
        row_number() OVER (PARTITION BY user_id ORDER BY place) AS nth
    FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bigint[])
        WITH ORDINALITY AS given (id, user_id, kind, actor_id, data, created_at_ms, place)
), bound AS (
    SELECT * FROM unnest($10::text[], $11::bigint[]) AS b (kind, most)
), crowded AS (
    DELETE FROM notifications USING (
        SELECT old.id, bound.most - fresh.many AS most,
            row_number() OVER (PARTITION BY old.user_id, old.actor_id, old.kind ORDER BY old.number DESC) AS nth
        FROM (SELECT user_id, actor_id, kind, count(*) AS many FROM new GROUP BY user_id, actor_id, kind) AS fresh
        JOIN bound USING (kind)
        JOIN notifications AS old USING (user_id, actor_id, kind)
    ) AS of_pair
    WHERE notifications.id = of_pair.id AND of_pair.nth > of_pair.most
), gone AS (
    DELETE FROM notifications USING moved
    WHERE notifications.user_id = moved.user_id AND notifications.number <= moved.added - $12::bigint
)
INSERT INTO notifications (id, user_id, number, seq, kind, actor_id, data, created_at_ms)
SELECT new.id, new.user_id, moved.added - new.many + new.nth, moved.seq - new.many + new.nth,
    new.kind, new.actor_id, new.data, new.created_at_ms
FROM new JOIN moved USING (user_id)
"""


def _notification(row: Row) -> Notification:
    return Notification(*(row[name] for name in Notification.__struct_fields__))
