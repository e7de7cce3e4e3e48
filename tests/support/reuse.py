"""One database for one test after the other: emptied in between, which costs a tenth of copying the template."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.session import Session

MOST_TESTS = 100
"""Then a database is replaced: what was deleted takes room, and scans read it."""

_TABLES = """
SELECT oid::regclass::text AS name FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'
"""

_END_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""

# Rows go without regard to references and triggers, as nothing is left that they could concern.
_DELETE = f"""
DO $$
DECLARE
    one record;
    used boolean;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN {_TABLES} AND pg_relation_size(oid) > 0 LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one.name) INTO used;
        IF used THEN
            EXECUTE format('DELETE FROM %s', one.name);
        END IF;
    END LOOP;
    PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence;
END
$$
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
        self._free: str | None = None
        self._session: Session | None = None  # of the one that is free, or was last
        self._pristine: Pristine | None = None
        self._tests: Counter[str] = Counter()

    @contextmanager
    def lend(self) -> Iterator[str]:
        """The address of an empty database, for the block; a second borrower meanwhile gets one of their own."""
        url, self._free = self._free, None
        session, self._session = self._session, None
        if url is None or session is None:
            url = self._make()
            session = Session(url)
        if self._pristine is None:
            self._pristine = _look(session)
        try:
            yield url
        finally:
            self._take_back(url, session, self._pristine)

    def close(self) -> None:
        """End the connection to the database that is free."""
        if self._session is not None:
            self._session.close()
            self._free = self._session = None

    def _take_back(self, url: str, session: Session, pristine: "Pristine") -> None:
        self._tests[url] += 1
        if self._free is None and self._tests[url] < MOST_TESTS and _restore(session, pristine):
            self._free, self._session = url, session
        else:
            session.close()
            self._drop(url)


@dataclass(frozen=True, slots=True)
class Pristine:
    """What a database is like before a test.

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


def _restore(session: Session, pristine: Pristine) -> bool:
    """Bring back the rows, drop tables that are new, and end who still uses the database; whether its shape is as it
    was.
    """
    session.renew()
    session.run(_END_OTHERS)
    for (table,) in session.rows(_TABLES):
        if table not in pristine.tables:
            session.run(f"DROP TABLE {table} CASCADE")
    if session.value(_SHAPE) != pristine.shape:
        return False
    session.run(_DELETE)
    for table, rows in pristine.rows.items():
        session.run(f"INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1)", rows)
    return True
