"""The commit of many actors' turns in one transaction: what is written, and which turns are refused.

The asyncio side, with its queue and connection, is `bridge_writer.py`; here is the SQL of one batch.

Theory of operation. One statement checks the fences, moves the heads, appends the journal and keeps the
receipts; then each kind writes its rows for all of its turns; then COMMIT. Two conditions stand before
everything else, and a turn that fails one of them writes nothing while its neighbours commit:

- **Fence.** The lease rows are read `FOR SHARE`. Taking a lease over is an UPDATE of that row, so it waits
  until this batch has ended, and a batch that comes second waits for the takeover and then reads the new
  fence, whatever the snapshot of its statement said. (A condition on `leases` without the lock would be
  judged by the snapshot, and a stale write could land behind a takeover.)
- **Head.** The UPDATE demands the `seq` that the turn was decided on. Journal and receipts are inserted from
  what that UPDATE returned, so that nothing of a refused turn gets in.

Invariants: an actor has at most one turn in a batch. Nothing here commits.
"""

from collections.abc import Sequence
from typing import Any

from persistence.connection import Connection
from persistence.errors import Fenced, HeadMoved, PersistenceError
from persistence.receipts import KEEP_UNLESS_EXPIRED
from persistence.turn import Persist, Turn

# $1…$9 are columns over the turns, $10 the shards, $11…$13 columns over the journal, $14…$19 over the
# receipts, $20 the time. `n` numbers the turns from 1.
_WRITE = """
WITH turn AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[], $6::bigint[],
                         $7::bigint[], $8::bytea[], $9::bigint[])
    WITH ORDINALITY AS t (kind, id, shard, fence, seq, next_seq, due_at_ms, summary, at_ms, n)
), held AS MATERIALIZED (
    SELECT shard, fence FROM leases WHERE shard = ANY ($10::integer[]) ORDER BY shard FOR SHARE
), moved AS (
    UPDATE heads SET seq = turn.next_seq, due_at_ms = turn.due_at_ms, summary = turn.summary,
                     updated_at_ms = turn.at_ms
    FROM turn JOIN held ON held.shard = turn.shard AND held.fence = turn.fence
    WHERE heads.kind = turn.kind AND heads.id = turn.id AND heads.seq = turn.seq
    RETURNING turn.n, turn.kind, turn.id, turn.at_ms
), journaled AS (
    INSERT INTO events (kind, id, seq, at_ms, event)
    SELECT moved.kind, moved.id, entry.seq, moved.at_ms, entry.event
    FROM unnest($11::bigint[], $12::bigint[], $13::bytea[]) AS entry (n, seq, event) JOIN moved USING (n)
), kept AS (
    INSERT INTO receipts (key, fingerprint, status, reply, expires_at_ms)
    SELECT receipt.key, receipt.fingerprint, receipt.status, receipt.reply, receipt.expires_at_ms
    FROM unnest($14::bigint[], $15::bytea[], $16::bytea[], $17::integer[], $18::bytea[], $19::bigint[])
         AS receipt (n, key, fingerprint, status, reply, expires_at_ms) JOIN moved USING (n)
    KEEP_UNLESS_EXPIRED
)
SELECT turn.n, held.shard IS NOT NULL AS held
FROM turn LEFT JOIN held ON held.shard = turn.shard AND held.fence = turn.fence
WHERE turn.n NOT IN (SELECT n FROM moved)
""".replace("KEEP_UNLESS_EXPIRED", KEEP_UNLESS_EXPIRED.format(now_ms="$20::bigint"))


async def write(conn: Connection, turns: Sequence[Turn]) -> list[PersistenceError | None]:
    """Write the turns inside the caller's transaction.

    Args:
        conn: inside a READ COMMITTED transaction, to be committed when this returns and rolled back when it
            raises.
        turns: at least one, of different actors.

    Returns: for each turn None, or why it alone was left out: `Fenced` or `HeadMoved`.

    Raises: whatever the database or a kind's `persist` raises: then nothing of the batch may be committed.
    Cancellation: as a raise.
    """
    refused = await conn.fetch(_WRITE, *_arguments(turns))
    outcomes: list[PersistenceError | None] = [None] * len(turns)
    for row in refused:
        turn = turns[row["n"] - 1]
        outcomes[row["n"] - 1] = _refusal(turn, held=row["held"])
    for persist, written in _by_kind(turns, outcomes).items():
        await persist(conn, written)
    return outcomes


def _refusal(turn: Turn, *, held: bool) -> PersistenceError:
    if held:
        return HeadMoved(f"{turn.kind} {turn.id} is not at {turn.seq}")
    return Fenced(f"shard {turn.shard} is not held under fence {turn.fence}")


def _by_kind(turns: Sequence[Turn], outcomes: Sequence[PersistenceError | None]) -> dict[Persist, list[Turn]]:
    """{persist: turns that have events for it}, in the order in which the kinds come up."""
    groups: dict[Persist, list[Turn]] = {}
    for turn, refusal in zip(turns, outcomes, strict=True):
        if refusal is None and turn.events:
            groups.setdefault(turn.persist, []).append(turn)
    return groups


def _arguments(turns: Sequence[Turn]) -> list[Any]:
    """The twenty parameters of `_WRITE`."""
    heads = zip(
        *(
            (t.kind, t.id, t.shard, t.fence, t.seq, t.seq + len(t.journal), t.due_at_ms, t.summary, t.at_ms)
            for t in turns
        ),
        strict=True,
    )
    entries = [
        (n, seq, event) for n, t in enumerate(turns, 1) for seq, event in enumerate(t.journal, t.seq + 1)
    ]
    receipts = [
        (n, r.key, r.fingerprint, r.status, r.reply, r.expires_at_ms)
        for n, t in enumerate(turns, 1)
        for r in t.receipts
    ]
    return [
        *heads,
        list({t.shard for t in turns}),
        *_columns(entries, 3),
        *_columns(receipts, 6),
        max(t.at_ms for t in turns),
    ]


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[Sequence[Any]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width
