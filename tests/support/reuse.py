"""One database for one test after the other: emptied in between, which costs a tenth of copying the template."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.session import Session
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM

MOST_TESTS = 300
"""How many tests use a database before it is replaced: deleted rows take room, and scans read them."""

_TABLES = """
SELECT oid::regclass::text AS name FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'
"""

_END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND pid <> ALL ($1::int[])
"""

# Rows are deleted without regard to references and triggers, as no row is left that these could concern. The sessions
# that have inserted rows have ended by now, so that all insertions are counted.
_DELETE = """
DO $$
DECLARE
    used text;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOREACH used IN ARRAY string_to_array('%s', ' ') LOOP
        EXECUTE 'DELETE FROM ' || used;
    END LOOP;
    PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence;
END
$$
"""

_COUNTED = """
SELECT oid::regclass::text, pg_stat_get_tuples_inserted(oid),
    pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid)
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'
"""

_NONE = (0, 0)
"""What is counted of a table of a database that was just made."""

# How often rows of the catalogs were changed: where that has not grown, the digest below need not be made.
_CHANGED = """
SELECT sum(pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))::bigint
FROM unnest(ARRAY[
    'pg_class', 'pg_attribute', 'pg_constraint', 'pg_trigger', 'pg_proc', 'pg_db_role_setting', 'schema_migrations'
]::regclass[]) AS oid
"""

# Everything that a test could change beside rows, by the number that PostgreSQL gave it when the template was made.
_SHAPE = """
SELECT md5(string_agg(thing, ' ' ORDER BY thing)) FROM (
    SELECT concat_ws('/', 'class', oid, relname, relkind, relnatts, relacl, reloptions) FROM pg_class WHERE oid >= 16384
    UNION ALL
    SELECT concat_ws('/', 'column', attrelid, attname, atttypid, attnotnull, atthasdef) FROM pg_attribute
    WHERE attrelid >= 16384 AND attnum > 0
    UNION ALL
    SELECT concat_ws('/', 'constraint', oid, convalidated) FROM pg_constraint WHERE oid >= 16384
    UNION ALL
    SELECT concat_ws('/', 'trigger', oid, tgenabled) FROM pg_trigger WHERE oid >= 16384
    UNION ALL
    SELECT concat_ws('/', 'function', oid, md5(prosrc)) FROM pg_proc WHERE oid >= 16384
    UNION ALL
    SELECT concat_ws('/', 'setting', setconfig) FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL
    SELECT concat_ws('/', 'migration', schema_migrations) FROM schema_migrations
) things (thing)
"""


class Reuse:
    """Lends a database to one test after the other, each time with the rows and the shape of the template.

    Args:
        make: makes a database from the template and returns its address.
        drop: drops the database with an address, whoever uses it.
    """

    def __init__(self, make: Callable[[], str], drop: Callable[[str], None]) -> None:
        self._make = make
        self._drop = drop
        self._free: Lent | None = None
        self._pristine: Pristine | None = None

    @contextmanager
    def lend(self) -> Iterator[str]:
        """The address of an empty database, for the block; a second borrower meanwhile gets one of their own."""
        lent, self._free = self._free, None
        if lent is None:
            url = self._make()
            lent = Lent(url, Session(url))
            WARM.keep(url)
        if self._pristine is None:
            self._pristine = _look(lent.session)
        try:
            yield lent.url
        finally:
            self._take_back(lent, self._pristine)

    def close(self) -> None:
        """End the connection to the database that is free."""
        if self._free is not None:
            self._free.session.close()
            WARM.end(self._free.url)
            self._free = None

    def _take_back(self, lent: "Lent", pristine: "Pristine") -> None:
        lent.tests += 1
        if self._free is None and lent.tests < MOST_TESTS and _restore(lent, pristine):
            self._free = lent
        else:
            lent.session.close()
            WARM.end(lent.url)
            self._drop(lent.url)


@dataclass(slots=True)
class Lent:
    """A database and what PostgreSQL had counted of it when it was last restored.

    Args:
        url: the database's address.
        session: a connection to it that is kept open.
        tests: how many tests have used it.
        counted: {table: how many rows were ever inserted into it, and how many of it changed or deleted}.
        changed: how often rows of its catalogs were ever changed; None before the first look.
    """

    url: str
    session: Session
    tests: int = 0
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class Pristine:
    """The state of a database before a test.

    Args:
        shape: a digest of its schema.
        tables: the names of its tables.
        rows: {table: its rows, as a JSON array}, of those that are not empty.
    """

    shape: str
    tables: frozenset[str]
    rows: dict[str, str]


def _look(session: Session) -> Pristine:
    tables = frozenset(name for (name,) in session.rows(_TABLES))
    rows = {}
    for table in sorted(tables):
        kept = session.value(f"SELECT jsonb_agg(to_jsonb(kept)) FROM {table} kept")
        if kept is not None:
            rows[table] = kept
    return Pristine(session.value(_SHAPE), tables, rows)


def _restore(lent: Lent, pristine: Pristine) -> bool:
    """Restore the rows, drop new tables, and end sessions that still use the database; returns whether its schema is as
    it was.
    """
    session = lent.session
    if session.renew():  # a server that crashed has lost its counts
        lent.counted, lent.changed = dict.fromkeys(pristine.tables, (-1, -1)), None
    _end_others(session, WARM.process_ids(lent.url))
    changed = lent.changed
    if not _has_shape(lent, pristine):
        return False
    counted = _count(session)
    used = {
        table for table, (inserted, _) in counted.items() if inserted != lent.counted.get(table, _NONE)[0]
    }
    # A table that was truncated has changed in the catalogs alone.
    altered = {
        table
        for table in pristine.rows
        if lent.changed != changed or counted[table] != lent.counted.get(table, _NONE)
    }
    session.run(_DELETE % " ".join(sorted(used | altered)))
    for table in sorted(altered):
        rows = pristine.rows[table]
        session.run(f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1)", rows)
    lent.counted = _count(session, with_own=True) if altered else counted
    return True


def _end_others(session: Session, kept: Sequence[int]) -> None:
    """End all other sessions but those with the process ids in `kept`; who is gone from the list has told its counts.
    PostgreSQL could wait for them by itself, but looks again after a tenth of a second only."""
    until = time.monotonic() + PATIENCE_SECONDS
    while others := session.rows(_END_OTHERS, kept):
        assert time.monotonic() < until, f"sessions do not end: {others}"
        time.sleep(0.002)


def _count(session: Session, *, with_own: bool = False) -> dict[str, tuple[int, int]]:
    """What PostgreSQL has counted of each table.

    Args:
        with_own: whether what this session did just now has to be among it, which is otherwise added some time later.
    """
    if with_own:
        session.run("SELECT pg_stat_force_next_flush()")
    return {table: (inserted, altered) for table, inserted, altered in session.rows(_COUNTED)}


def _has_shape(lent: Lent, pristine: Pristine) -> bool:
    session = lent.session
    changed: int = session.value(_CHANGED)
    if changed == lent.changed:
        return True
    for (table,) in session.rows(_TABLES):
        if table not in pristine.tables:
            session.run(f"DROP TABLE {table} CASCADE")
    if session.value(_SHAPE) != pristine.shape:
        return False
    lent.changed = session.value(_CHANGED)
    return True
