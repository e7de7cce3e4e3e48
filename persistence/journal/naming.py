"""Find the actors whose journal or snapshots hold a text, page by page, and replace what was found; no index serves
this rare query.

A page is a run of rows in the order of the primary key, of all actors of a kind. Bytes are searched where they lie, so
that a page costs as much as its rows are large, however many of them hold the text.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from persistence.connection import Connection

Place: TypeAlias = tuple[str, int]
"""(actor's id, seq): the key of a row among those of a kind."""

FIRST: Place = ("", -1)
"""The place before every row."""


class Table(NamedTuple):
    """A table that can be searched for a text.

    Args:
        page: SQL that selects (id, last seq, number of rows, whether one of them holds the text) for each actor with
            rows on the page, by id; $1 is the kind, $2 and $3 the place after which the page begins, $4 the number of
            rows, $5 the text.
        rows: the most rows on a page.
    """

    page: str
    rows: int


def _table(name: str, column: str, rows: int) -> Table:
    # A subquery with a LIMIT, and no upper bound that may be NULL: every plan of it reads the index from one place on,
    # and no more than the page.
    return Table(
        f"""
        SELECT id, max(seq), count(*), bool_or(position($5::bytea IN {column}) > 0) FROM (
            SELECT id, seq, {column} FROM {name} WHERE kind = $1 AND (id, seq) > ($2, $3) ORDER BY id, seq LIMIT $4
        ) AS page GROUP BY id ORDER BY id
        """,  # noqa: S608 - constants only
        rows,
    )


EVENTS = _table("events", "event", 2_000)
SNAPSHOTS = _table("snapshots", "state", 50)
"""A page has few snapshots, because one has up to 8 MiB (`actors/kernel/keeping.py`)."""


async def page(
    conn: Connection, table: Table, kind: str, text: bytes, after: Place
) -> tuple[list[str], Place | None]:
    """Search the next rows of a kind. Cancellation ends the query.

    Args:
        table: `EVENTS` or `SNAPSHOTS`.
        kind: the kind of the actors.
        text: the bytes that are searched for, not empty.
        after: where the page before has ended; `FIRST` from the start.

    Returns:
        The ids of the actors that hold the text in rows of this page, in the order of the index, and where the page
        ends; None after the last.
    """
    found = await conn.fetch(table.page, kind, *after, table.rows, text)
    full = sum(rows for _, _, rows, _ in found) >= table.rows
    return [id for id, _, _, holds in found if holds], (found[-1][0], found[-1][1]) if full else None


async def rewrite(conn: Connection, kind: str, id: str, changed: Mapping[int, tuple[bytes, bytes]]) -> int:
    """Replace events that still are as they were read, and delete the snapshots, inside a transaction.

    A snapshot of a state from before this change can no longer be saved either, not even one that is just being saved.

    Args:
        changed: {seq: (the event as it was read, its new encoding)}; may be empty.

    Returns:
        How many events were replaced: fewer than given when one of them has changed meanwhile, or is no longer kept.
    """
    grown = sum(len(event) - len(was) for was, event in changed.values())
    # The head is locked first, as turns do it: two transactions that rewrite events of one actor then cannot deadlock.
    # What events have shrunk by is not subtracted from `journal_bytes`: one that is missed below has not shrunk.
    await conn.execute(
        """
        UPDATE heads SET snapshots_from = seq + 1, journal_bytes = journal_bytes + $3 WHERE kind = $1 AND id = $2
        """,
        kind, id, max(0, grown),
    )  # fmt: skip
    replaced = 0
    if changed:
        tag = await conn.execute(
            """
            UPDATE events SET event = fresh.event
            FROM unnest($3::bigint[], $4::bytea[], $5::bytea[]) AS fresh (seq, was, event)
            WHERE kind = $1 AND id = $2 AND events.seq = fresh.seq AND events.event = fresh.was
            """,
            kind,
            id,
            list(changed),
            [was for was, _ in changed.values()],
            [event for _, event in changed.values()],
        )
        replaced = int(tag.rpartition(" ")[2])
    await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = $2", kind, id)
    return replaced
