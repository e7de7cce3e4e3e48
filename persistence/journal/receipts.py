"""Receipts: what was answered to a request with an Idempotency-Key, kept with the effect of that request.

Invariant: a key that has not expired is never overwritten. A second effect under the same key is refused by
PostgreSQL together with its receipt, on every node and however often it is sent.

The ETag of an answer is a row of its own, under a key that is derived from the receipt's. So releases that do not know
ETags still find the receipt; both rows expire together.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from persistence.connection import Connection
from persistence.journal.turn import Receipt, Statement

PAGE_ROWS = 5_000
"""Receipts on one page, the unit of work of `forget_user`."""

_FIND = """
SELECT key, fingerprint, status, reply, expires_at_ms, coalesce(
    (SELECT tag.reply FROM receipts AS tag WHERE tag.key = $3 AND tag.expires_at_ms > $2), ''
) FROM receipts WHERE key = $1 AND expires_at_ms > $2
"""

KEEP_UNLESS_EXPIRED = """
ON CONFLICT (key) DO UPDATE SET
    fingerprint = excluded.fingerprint, reply = excluded.reply, expires_at_ms = excluded.expires_at_ms,
    status = CASE WHEN receipts.expires_at_ms <= {now_ms} THEN excluded.status END
"""
"""Replaces a receipt that has expired. For one that has not, the new status is NULL, which the column refuses: the
whole transaction fails, and with it the second effect. `{now_ms}` is an SQL expression over the inserted rows."""

_STORE = """
INSERT INTO receipts (key, fingerprint, status, reply, expires_at_ms)
SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::integer[], $4::bytea[], $5::bigint[])
""" + KEEP_UNLESS_EXPIRED.format(now_ms="$6::bigint")

_PRUNE = """
DELETE FROM receipts WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM receipts WHERE expires_at_ms <= $1 ORDER BY expires_at_ms LIMIT $2
)) AND expires_at_ms <= $1
"""
"""Deletes by ctid, so that no plan can read the whole table. The time is compared twice because an expired receipt may
be replaced meanwhile."""


async def find(conn: Connection, key: bytes, now_ms: int) -> Receipt | None:
    """Read the receipt with this key; None when there is none, or it has expired.

    Args:
        key: `Receipt.key`, 32 bytes.
        now_ms: epoch milliseconds.
    """
    row = await conn.fetchrow(_FIND, key, now_ms, _tag_key(key))
    return None if row is None else Receipt(*row)


async def store(conn: Connection, receipts: Sequence[Receipt], now_ms: int) -> None:
    """Store receipts, inside the transaction that makes the effects they stand for.

    Args:
        receipts: with distinct keys.
        now_ms: epoch milliseconds; stored receipts that have expired by then are replaced.

    Raises: asyncpg's error when a key is taken; callers of the transaction get it as `RowsRejected`.
    """
    statement = storing(receipts, now_ms)
    await conn.execute(statement.sql, *statement.parameters)


def storing(receipts: Sequence[Receipt], now_ms: int) -> Statement:
    """The statement that `store` runs.

    Args:
        receipts: at least one.
        now_ms: epoch milliseconds.
    """
    return Statement(_STORE, [*zip(*rows_of(receipts), strict=True), now_ms])


def rows_of(receipts: Iterable[Receipt]) -> Iterator[tuple[bytes, bytes, int, bytes, int]]:
    """The rows that hold receipts and their ETags: (key, fingerprint, status, reply, expires_at_ms)."""
    for kept in receipts:
        yield kept.key, kept.fingerprint, kept.status, kept.reply, kept.expires_at_ms
        if kept.etag:
            yield _tag_key(kept.key), kept.fingerprint, kept.status, kept.etag, kept.expires_at_ms


def _tag_key(key: bytes) -> bytes:
    return hashlib.sha256(key + b"etag").digest()


async def prune(conn: Connection, limit: int, *, now_ms: int) -> int:
    """Delete receipts that have expired by `now_ms` (epoch milliseconds), at most `limit`; returns how many.

    When that is `limit`, there may be more.
    """
    tag = await conn.execute(_PRUNE, now_ms, limit)
    return int(tag.rpartition(" ")[2])


async def page_end(conn: Connection, after: bytes) -> bytes | None:
    """Read the last key of the page that begins after the key `after`; None when less than a full page is left."""
    found: bytes | None = await conn.fetchval(
        "SELECT key FROM receipts WHERE key > $1 ORDER BY key OFFSET $2 LIMIT 1", after, PAGE_ROWS - 1
    )
    return found


async def forget_user(conn: Connection, user_id: str, mark: bytes, after: bytes, upto: bytes | None) -> None:
    """In one page of receipts, remove those of an erased user, and the replies to others that name the user.

    The receipts of others stay without their reply, so that a repeated request has no second effect.

    Args:
        mark: the 16 bytes that end the fingerprints of the user's own requests.
        after, upto: the page has the keys above `after`, up to and including `upto`; `upto` is None for the last page.
    """
    await conn.execute(
        "DELETE FROM receipts WHERE key > $1 AND ($2::bytea IS NULL OR key <= $2)"
        " AND substr(fingerprint, length(fingerprint) - length($3::bytea) + 1) = $3::bytea",
        after,
        upto,
        mark,
    )
    await conn.execute(
        "UPDATE receipts SET reply = '' WHERE key > $1 AND ($2::bytea IS NULL OR key <= $2)"
        " AND position($3::bytea IN reply) > 0",
        after,
        upto,
        user_id.encode(),
    )
