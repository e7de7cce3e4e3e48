"""A server that may lose what it acknowledged is refused."""

import pytest

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.schema.checks import DatabaseUnfit, check_server


async def test_a_proper_server_passes(database: Database) -> None:
    await database.read(check_server)


@pytest.mark.parametrize("value", ["on", "local", "remote_apply"])
async def test_whatever_waits_for_the_disk_passes(database: Database, value: str) -> None:
    await database.transact(check_with, value)


async def test_a_session_that_does_not_wait_for_the_disk_is_refused(database: Database) -> None:
    with pytest.raises(DatabaseUnfit, match=r"^PostgreSQL runs with synchronous_commit=off [^\n]+$"):
        await database.transact(check_with, "off")


async def test_a_pooler_that_drops_the_settings_of_connections_is_refused(database: Database) -> None:
    with pytest.raises(
        DatabaseUnfit, match=r"^the connection has lost its settings, [^\n]+ PgBouncer; [^\n]+$"
    ):
        await database.transact(check_without_settings)


async def check_without_settings(conn: Connection) -> None:
    await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    await check_server(conn)


async def check_with(conn: Connection, synchronous_commit: str) -> None:
    await conn.execute("SELECT set_config('synchronous_commit', $1, true)", synchronous_commit)
    await check_server(conn)
