"""Settings of game servers, in rows: the current ones of each source, and former versions."""

from collections.abc import Sequence

import msgspec

from persistence.connect.rows import SettingsRow, SettingsVersionRow
from persistence.connection import Connection, Row


async def put(conn: Connection, row: SettingsRow) -> None:
    """Store the settings of a source, in place of former ones."""
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


async def remove(conn: Connection, server_id: str, source: str) -> None:
    """Delete the settings of one source; their versions stay in the history."""
    await conn.execute("DELETE FROM connect_settings WHERE server_id = $1 AND source = $2", server_id, source)


async def of_server(conn: Connection, server_id: str) -> list[SettingsRow]:
    """The settings of a server, by source."""
    rows = await conn.fetch(
        'SELECT * FROM connect_settings WHERE server_id = $1 ORDER BY source COLLATE "C"', server_id
    )
    return [_settings(row) for row in rows]


async def named(conn: Connection, server_id: str, sources: Sequence[str]) -> list[SettingsRow]:
    """The settings of these sources, without sources that have none."""
    rows = await conn.fetch(
        "SELECT * FROM connect_settings WHERE server_id = $1 AND source = ANY($2::text[])",
        server_id,
        list(sources),
    )
    return [_settings(row) for row in rows]


async def total_bytes(conn: Connection, server_id: str, sources: Sequence[str]) -> int:
    """How many bytes the settings and schemas of these sources have together; a source named twice counts twice."""
    total: int = await conn.fetchval(
        """
        SELECT coalesce(sum(octet_length(data) + coalesce(octet_length(schema), 0)
                            + coalesce(octet_length(sealed), 0)), 0)::bigint
        FROM unnest($2::text[]) AS wanted (source) JOIN connect_settings USING (source) WHERE server_id = $1
        """,
        server_id,
        list(sources),
    )
    return total


async def read(conn: Connection, server_id: str, source: str) -> SettingsRow | None:
    """The settings of one source, or None before anything was stored."""
    row = await conn.fetchrow(
        "SELECT * FROM connect_settings WHERE server_id = $1 AND source = $2", server_id, source
    )
    return None if row is None else _settings(row)


async def remember(conn: Connection, row: SettingsVersionRow, *, keep: int, keep_bytes: int) -> None:
    """Store a version in the history, and delete the oldest ones beyond the limits. Settings that were removed and are
    stored anew begin with version 1 again, in place of that of before.

    Args:
        keep: how many versions of one source are kept.
        keep_bytes: how many bytes all versions of the server may have together; the newest version always stays.
    """
    await conn.execute(
        """
        INSERT INTO connect_settings_history (server_id, source, version, schema_version, data, secret_keys,
                                              changed_keys, updated_at_ms, updated_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (server_id, source, version) DO UPDATE
        SET schema_version = excluded.schema_version, data = excluded.data, secret_keys = excluded.secret_keys,
            changed_keys = excluded.changed_keys, updated_at_ms = excluded.updated_at_ms,
            updated_by = excluded.updated_by
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
    await conn.execute(
        """
        DELETE FROM connect_settings_history h USING (
            SELECT source, version, row_number() OVER newest AS place,
                   sum(octet_length(data) + pg_column_size(changed_keys)) OVER newest AS bytes
            FROM connect_settings_history WHERE server_id = $1
            WINDOW newest AS (ORDER BY updated_at_ms DESC, source, version DESC)
        ) AS counted
        WHERE h.server_id = $1 AND h.source = counted.source AND h.version = counted.version
            AND counted.bytes > $2 AND counted.place > 1
        """,
        row.server_id,
        keep_bytes,
    )


class Place(msgspec.Struct, frozen=True, array_like=True):
    """The position of a version in the history of a server."""

    updated_at_ms: int
    source: str
    version: int


def place_of(row: SettingsVersionRow) -> Place:
    """The position of a version in the history."""
    return Place(row.updated_at_ms, row.source, row.version)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of versions of a server's settings.

    Args:
        source: only versions of this source; None for all.
        before: the last version of the page before; None from the newest.
        limit: at most so many.
        max_bytes: the page ends with the first version that brings the bytes of the data above this.
    """

    source: str | None = None
    before: Place | None = None
    limit: int
    max_bytes: int


async def history(conn: Connection, server_id: str, wanted: Wanted) -> list[SettingsVersionRow]:
    """Versions of a server's settings, newest first."""
    before = wanted.before
    rows = await conn.fetch(
        """
        SELECT server_id, source, version, schema_version, data, secret_keys, changed_keys, updated_at_ms, updated_by,
               ARRAY(SELECT unnest(today.secret_keys) FROM connect_settings AS today
                     WHERE today.server_id = weighed.server_id AND today.source = weighed.source) AS secret_now
        FROM (
            SELECT *, sum(octet_length(data)) OVER newest - octet_length(data) AS bytes_before FROM (
                SELECT * FROM connect_settings_history
                WHERE server_id = $1 AND ($2::text IS NULL OR source = $2)
                AND ($3::bigint IS NULL OR updated_at_ms < $3
                     OR (updated_at_ms = $3 AND (source > $4 OR (source = $4 AND version < $5::bigint))))
                ORDER BY updated_at_ms DESC, source, version DESC LIMIT $6
            ) AS wanted
            WINDOW newest AS (ORDER BY updated_at_ms DESC, source, version DESC)
        ) AS weighed
        WHERE bytes_before <= $7 ORDER BY updated_at_ms DESC, source, version DESC
        """,
        server_id,
        wanted.source,
        None if before is None else before.updated_at_ms,
        None if before is None else before.source,
        None if before is None else before.version,
        wanted.limit,
        wanted.max_bytes,
    )
    return [
        SettingsVersionRow(
            **{
                **dict(row),
                "secret_keys": tuple(row["secret_keys"]),
                "secret_now": tuple(row["secret_now"]),
                "changed_keys": tuple(row["changed_keys"]),
            }
        )
        for row in rows
    ]


def _settings(row: Row) -> SettingsRow:
    return SettingsRow(**{**dict(row), "secret_keys": tuple(row["secret_keys"])})
