"""Checks that a PostgreSQL server must pass before data is entrusted to it; made once, at the start.

Acknowledged means committed to disk. A server that was told not to wait for the disk would make that a lie,
so we refuse to start on it.
"""

from persistence.connection import Connection
from persistence.errors import PersistenceError

MINIMUM_VERSION_NUM = 150_000
"""PostgreSQL 15, as `server_version_num` writes it; the oldest that is tested."""


class DatabaseUnfit(PersistenceError):
    """The server is too old, or set up so that it may lose what it acknowledged; the message is one line."""


async def check_server(conn: Connection) -> None:
    """Refuse a server that cannot keep our promises.

    Raises:
        DatabaseUnfit: its version is too old, `fsync`, `synchronous_commit` or the encoding is wrong, it is a
            read-only standby, or something between us and it has dropped the settings of the connection.
    """
    (row,) = await conn.fetch(
        """
        SELECT current_setting('server_version_num')::integer AS version_num,
               current_setting('server_version') AS version,
               current_setting('fsync') AS fsync,
               current_setting('synchronous_commit') AS synchronous_commit,
               current_setting('server_encoding') AS encoding,
               current_setting('idle_in_transaction_session_timeout') AS idle_limit,
               pg_is_in_recovery() AS is_standby
        """
    )
    if row["version_num"] < MINIMUM_VERSION_NUM:
        raise DatabaseUnfit(f"PostgreSQL {row['version']} is too old; 15 or newer is needed")
    if row["fsync"] != "on":
        raise DatabaseUnfit(
            "PostgreSQL runs with fsync=off and would lose acknowledged changes; set fsync=on"
        )
    if row["synchronous_commit"] == "off":
        raise DatabaseUnfit(
            "PostgreSQL runs with synchronous_commit=off and would lose acknowledged changes; "
            "set synchronous_commit=on"
        )
    if row["encoding"] != "UTF8":
        raise DatabaseUnfit(f"the database has encoding {row['encoding']}; UTF8 is needed")
    if row["is_standby"]:
        raise DatabaseUnfit("this PostgreSQL is a read-only standby; give the address of the primary")
    # It would hold the locks of a process that froze for ever, and mix up the prepared statements of several.
    if row["idle_limit"] == "0":
        raise DatabaseUnfit(
            "the connection has lost its settings, as behind a pooler such as PgBouncer; "
            "give the address of PostgreSQL itself"
        )


async def read_major(conn: Connection) -> int:
    """The server's major version, 18 for 18.4."""
    return int(await conn.fetchval("SELECT current_setting('server_version_num')::integer / 10000"))


async def read_system_identifier(conn: Connection) -> int:
    """The system identifier of the server's cluster, which its base backups and its log have as well."""
    return int(await conn.fetchval("SELECT system_identifier FROM pg_control_system()"))


async def is_empty(conn: Connection) -> bool:
    """Whether the database has no tables at all beside PostgreSQL's own."""
    return not await conn.fetchval(
        r"""
        SELECT EXISTS (
            SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relkind IN ('r', 'p') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'
        )
        """
    )


async def running_seconds(conn: Connection) -> float:
    """For how many seconds the service's oldest open transaction has been running on this database; 0 without any.

    A transaction whose connection was given up counts until the server has noticed that, or committed it.
    """
    age = await conn.fetchval(
        """
        SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = current_setting('application_name')
            AND pid <> pg_backend_pid()
        """
    )
    return 0.0 if age is None else float(age)


async def read_replayed(conn: Connection) -> str | None:
    """When the last transaction that a recovery has replayed was committed, ISO 8601; None without a recovery."""
    at = await conn.fetchval("SELECT pg_last_xact_replay_timestamp()")
    return None if at is None else str(at.isoformat(timespec="milliseconds"))


async def read_failed_archiving(conn: Connection) -> str | None:
    """When archiving the log last failed, ISO 8601; None where it has worked since, or was never tried."""
    at = await conn.fetchval(
        "SELECT last_failed_time FROM pg_stat_archiver"
        " WHERE last_failed_time > coalesce(last_archived_time, '-infinity')"
    )
    return None if at is None else str(at.isoformat(timespec="seconds"))


async def read_clock(conn: Connection) -> float:
    """The server's wall clock, epoch seconds."""
    return float(await conn.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
