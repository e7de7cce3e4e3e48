"""Extensions of game servers, in rows: the catalog, and the registrations of each server."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from persistence.connect.rows import ExtensionRow, RegistrationRow
from persistence.connection import Connection

NODE = "svc.connect.extensions."
"""The prefix of the permission node that a user needs to change an extension; the extension's id follows."""


class Orphans(NamedTuple):
    """What has become of extensions without owner.

    Args:
        found: how many there were of them.
        nodes: the permission nodes that went.
        losers: the ids of users who have lost a right, granted or bought.
    """

    found: int
    nodes: tuple[str, ...]
    losers: Sequence[str]


async def create(conn: Connection, row: ExtensionRow) -> bool:
    """Put an extension into the catalog; False when its id is taken."""
    made = await conn.fetchval(
        """
        INSERT INTO connect_extensions (extension_id, id, name, description, owner_id, visibility, created_at_ms,
                                        updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (extension_id) DO NOTHING RETURNING true
        """,
        row.extension_id, row.id, row.name, row.description, row.owner_id, row.visibility, row.created_at_ms,
        row.updated_at_ms,
    )  # fmt: skip
    return bool(made)


async def count_of_owner(conn: Connection, owner_id: str) -> int:
    """How many extensions of the catalog a user owns."""
    return int(await conn.fetchval("SELECT count(*) FROM connect_extensions WHERE owner_id = $1", owner_id))


async def read(conn: Connection, extension_id: str) -> ExtensionRow | None:
    """One extension of the catalog, or None."""
    row = await conn.fetchrow("SELECT * FROM connect_extensions WHERE extension_id = $1", extension_id)
    return None if row is None else ExtensionRow(**dict(row))


async def lock(conn: Connection, extension_id: str) -> ExtensionRow | None:
    """One extension of the catalog, or None; its row is locked for changes until the transaction ends."""
    row = await conn.fetchrow(
        "SELECT * FROM connect_extensions WHERE extension_id = $1 FOR NO KEY UPDATE", extension_id
    )
    return None if row is None else ExtensionRow(**dict(row))


async def change(conn: Connection, row: ExtensionRow) -> None:
    """Write the changeable columns of an extension."""
    await conn.execute(
        """
        UPDATE connect_extensions SET name = $2, description = $3, visibility = $4, updated_at_ms = $5
        WHERE extension_id = $1
        """,
        row.extension_id,
        row.name,
        row.description,
        row.visibility,
        row.updated_at_ms,
    )


# Three indexed parts: an OR over them would look at every extension for each page.
_VISIBLE = """
SELECT * FROM (
    (SELECT * FROM connect_extensions WHERE visibility = 'public' AND extension_id COLLATE "C" > $3
     ORDER BY extension_id COLLATE "C" LIMIT $4)
    UNION (SELECT * FROM connect_extensions WHERE owner_id = $1 AND extension_id COLLATE "C" > $3)
    UNION (SELECT * FROM connect_extensions WHERE extension_id = ANY ($2::text[]) AND extension_id COLLATE "C" > $3)
) AS seen ORDER BY extension_id COLLATE "C" LIMIT $4
"""


async def visible(
    conn: Connection, user_id: str, also: Collection[str], after: str | None, limit: int
) -> list[ExtensionRow]:
    """Extensions that are public, the user's own, or among `also`, in the order of their ids.

    Args:
        also: ids of further extensions.
        after: the last id of the page before, or None.
        limit: at most so many.
    """
    rows = await conn.fetch(_VISIBLE, user_id, list(also), after or "", limit)
    return [ExtensionRow(**dict(row)) for row in rows]


async def named(conn: Connection, extension_ids: Collection[str]) -> dict[str, ExtensionRow]:
    """{id: extension} of those of the named extensions that exist."""
    rows = await conn.fetch(
        "SELECT * FROM connect_extensions WHERE extension_id = ANY($1::text[])", list(extension_ids)
    )
    return {row["extension_id"]: ExtensionRow(**dict(row)) for row in rows}


async def forget_orphans(conn: Connection, limit: int) -> Orphans:
    """Delete extensions without owner that no server has registered, with their permission nodes and the grants of
    those; rights to the nodes that were bought end.

    Args:
        limit: at most so many extensions.
    """
    # Extensions that are just being registered are locked, and skipped; the second statement sees registrations that
    # were committed before.
    found = await conn.fetch(
        """
        SELECT extension_id FROM connect_extensions e WHERE owner_id IS NULL
        AND NOT EXISTS (SELECT FROM connect_registrations r WHERE r.extension_id = e.extension_id)
        LIMIT $1 FOR UPDATE SKIP LOCKED
        """,
        limit,
    )
    gone = await conn.fetch(
        """
        DELETE FROM connect_extensions e WHERE e.extension_id = ANY($1::text[])
        AND NOT EXISTS (SELECT FROM connect_registrations r WHERE r.extension_id = e.extension_id)
        RETURNING $2 || e.extension_id
        """,
        [row["extension_id"] for row in found],
        NODE,
    )
    nodes = [row[0] for row in gone]
    # A statement each, because one for all would lock them in any order: who revokes a right has the grant before what
    # was bought, and who changes one has the grant before the node.
    granted = await conn.fetch(
        "DELETE FROM user_grants WHERE node = ANY($1::text[]) RETURNING user_id", nodes
    )
    bought = await conn.fetch(
        "UPDATE shop_entitlements SET ended = true WHERE node = ANY($1::text[]) AND NOT ended RETURNING user_id",
        nodes,
    )
    await conn.execute("DELETE FROM permissions WHERE node = ANY($1::text[])", nodes)
    return Orphans(len(found), tuple(nodes), sorted({row["user_id"] for row in (*granted, *bought)}))


async def put_registration(conn: Connection, row: RegistrationRow) -> None:
    """Store a server's registration of an extension, in place of a former one."""
    await conn.execute(
        """
        INSERT INTO connect_registrations (server_id, extension_id, name, description, version, actions,
                                           registered_at_ms, last_seen_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (server_id, extension_id) DO UPDATE
        SET name = excluded.name, description = excluded.description, version = excluded.version,
            actions = excluded.actions, last_seen_at_ms = excluded.last_seen_at_ms
        """,
        row.server_id, row.extension_id, row.name, row.description, row.version, row.actions, row.registered_at_ms,
        row.last_seen_at_ms,
    )  # fmt: skip


async def remove_registration(conn: Connection, server_id: str, extension_id: str) -> None:
    """Delete a server's registration of an extension."""
    await conn.execute(
        "DELETE FROM connect_registrations WHERE server_id = $1 AND extension_id = $2",
        server_id,
        extension_id,
    )


async def of_server(conn: Connection, server_id: str) -> list[RegistrationRow]:
    """A server's registrations, by extension id."""
    rows = await conn.fetch(
        'SELECT * FROM connect_registrations WHERE server_id = $1 ORDER BY extension_id COLLATE "C"',
        server_id,
    )
    return [RegistrationRow(**dict(row)) for row in rows]


async def total_bytes(conn: Connection, server_id: str) -> int:
    """How many bytes the actions of all registrations of a server have together, with their names and descriptions."""
    total: int = await conn.fetchval(
        """
        SELECT coalesce(sum(octet_length(actions) + octet_length(name) + octet_length(description)), 0)::bigint
        FROM connect_registrations WHERE server_id = $1
        """,
        server_id,
    )
    return total
