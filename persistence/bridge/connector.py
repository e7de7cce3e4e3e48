"""Opens the connections of a database, and ends those that are whole."""

import asyncpg

from persistence.bridge.array_types import tell_array_types

CONNECT_SHARE = 0.4
CONNECT_MAX_SECONDS = 10.0
"""Deadline of one attempt to connect: this share of the database's deadline, at most this long. A server behind a cut
cable never answers an attempt, so there has to be time for a later one."""

APPLICATION_NAME = "partyline"
"""The name of our connections in `pg_stat_activity`."""


class Connector:
    """Opens connections that all have the same settings.

    Args:
        dsn: a `postgresql://` URL.
        timeout_seconds: most that a statement may take on the server, and that a transaction may be idle: a process
            that froze must not hold its locks (on leases, above all) any longer. An attempt to connect gets a share
            of it (`CONNECT_SHARE`).
    """

    def __init__(self, dsn: str, timeout_seconds: float) -> None:
        self._dsn = dsn
        self._connect_seconds = min(CONNECT_SHARE * timeout_seconds, CONNECT_MAX_SECONDS)
        limit_ms = str(round(timeout_seconds * 1000))
        self._settings = {
            "application_name": APPLICATION_NAME,
            "statement_timeout": limit_ms,
            "idle_in_transaction_session_timeout": limit_ms,
            # The server stops a statement within a second of its client closing the connection.
            "client_connection_check_interval": "1000",
            # A dead network is noticed on idle connections too, and routers do not drop them from their tables.
            # (Over a Unix socket these are ignored.)
            "tcp_keepalives_idle": "30",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "timezone": "UTC",
            # Our statements are many and short: compiling them costs more than it saves, and their parameters
            # (arrays of any length) tell the planner little.
            "jit": "off",
        }

    async def connect(self) -> asyncpg.Connection:
        """Open a connection; cancellation leaves none.

        Raises: what asyncpg raises (`CONNECT_FAULTS`).
        """
        connection = await asyncpg.connect(
            self._dsn,
            timeout=self._connect_seconds,
            server_settings=self._settings,
            statement_cache_size=500,
            max_cached_statement_lifetime=0,
        )
        tell_array_types(connection)
        return connection

    def end(self, connection: asyncpg.Connection) -> None:
        """End a connection that is whole: nothing runs on it, and no transaction is open."""
        connection.terminate()
