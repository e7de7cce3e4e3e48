"""Settings of game servers, in rows: the newest of each source, and what was written before."""

from persistence.connect.rows import SettingsRow, SettingsVersionRow
from persistence.connection import Connection, Row


async def put(conn: Connection, row: SettingsRow) -> None:
    """Store the settings of a source, in place of those before."""
    await conn.execute(
        """
        INSERT INTO connect_settings (server_id, source, version, schema_version, data, schema, sealed, secret_keys,
                                      updated_at_ms, updated_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (server_id, source) DO UPDATE
        SET version = excluded.version, schema_version = excluded.schema_version, data = excluded.data,
            schema = excluded.schema, sealed = excluded.sealed, secret_keys = excluded.secret_keys,
            updated_at_ms = excluded.updated_at_ms, updated_by = excluded.updated_by
        """,
        row.server_id, row.source, row.version, row.schema_version, row.data, row.schema, row.sealed,
        list(row.secret_keys), row.updated_at_ms, row.updated_by,
    )  # fmt: skip


async def of_server(conn: Connection, server_id: str) -> list[SettingsRow]:
    """The settings of a server, by source."""
    rows = await conn.fetch(
        'SELECT * FROM connect_settings WHERE server_id = $1 ORDER BY source COLLATE "C"', server_id
    )
    return [_settings(row) for row in rows]


async def read(conn: Connection, server_id: str, source: str) -> SettingsRow | None:
    """The settings of one source, or None before anything was stored."""
    row = await conn.fetchrow(
        "SELECT * FROM connect_settings WHERE server_id = $1 AND source = $2", server_id, source
    )
    return None if row is None else _settings(row)


async def remember(conn: Connection, row: SettingsVersionRow, *, keep: int) -> None:
    """Keep what was written; all but the newest versions of its source go.

    Args:
        keep: how many versions of one source stay.
    """
    await conn.execute(
        """
        INSERT INTO connect_settings_history (server_id, source, version, schema_version, data, secret_keys,
                                              changed_keys, updated_at_ms, updated_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """,
        row.server_id, row.source, row.version, row.schema_version, row.data, list(row.secret_keys),
        list(row.changed_keys), row.updated_at_ms, row.updated_by,
    )  # fmt: skip
    await conn.execute(
        "DELETE FROM connect_settings_history WHERE server_id = $1 AND source = $2 AND version <= $3",
        row.server_id,
        row.source,
        row.version - keep,
    )


async def history(
    conn: Connection, server_id: str, source: str | None, limit: int
) -> list[SettingsVersionRow]:
    """What was written, newest first.

    Args:
        source: of this one alone, or None for all.
    """
    rows = await conn.fetch(
        """
        SELECT * FROM connect_settings_history WHERE server_id = $1 AND ($2::text IS NULL OR source = $2)
        ORDER BY updated_at_ms DESC, source, version DESC LIMIT $3
        """,
        server_id,
        source,
        limit,
    )
    return [
        SettingsVersionRow(
            **{
                **dict(row),
                "secret_keys": tuple(row["secret_keys"]),
                "changed_keys": tuple(row["changed_keys"]),
            }
        )
        for row in rows
    ]


def _settings(row: Row) -> SettingsRow:
    return SettingsRow(**{**dict(row), "secret_keys": tuple(row["secret_keys"])})
