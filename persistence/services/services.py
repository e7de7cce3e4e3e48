"""Services of users, and the game servers on which they are still to be moved."""

from collections.abc import Sequence

import msgspec

from persistence.connection import Connection


class ServiceRow(msgspec.Struct, frozen=True, kw_only=True):
    """An extension that a user runs on all of their game servers.

    Args:
        migrating_from: the extension that it is being moved away from, or None.
    """

    service_id: str
    owner_id: str
    extension_id: str
    name: str
    created_at_ms: int
    migrating_from: str | None = None


class Place(msgspec.Struct, frozen=True, array_like=True):
    """The position of a service in its owner's list."""

    created_at_ms: int
    service_id: str


def place_of(row: ServiceRow) -> Place:
    """The position of a service in its owner's list."""
    return Place(row.created_at_ms, row.service_id)


async def create(conn: Connection, row: ServiceRow) -> bool:
    """Store a new service; False, without effect, when its owner has a service of this extension already."""
    made = await conn.fetchval(
        """
        INSERT INTO services (service_id, owner_id, extension_id, name, created_at_ms)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (owner_id, extension_id) DO NOTHING RETURNING true
        """,
        row.service_id,
        row.owner_id,
        row.extension_id,
        row.name,
        row.created_at_ms,
    )
    return bool(made)


async def of_owner(conn: Connection, owner_id: str, after: Place | None, limit: int) -> list[ServiceRow]:
    """A user's services, oldest first.

    Args:
        after: the position of the last service of the page before; None from the start.
        limit: at most so many.
    """
    start = after or Place(-1, "")
    rows = await conn.fetch(
        """
        SELECT service_id, owner_id, extension_id, name, created_at_ms, migrating_from FROM services
        WHERE owner_id = $1 AND (created_at_ms, service_id) > ($2, $3)
        ORDER BY created_at_ms, service_id LIMIT $4
        """,
        owner_id,
        start.created_at_ms,
        start.service_id,
        limit,
    )
    return [ServiceRow(**dict(row)) for row in rows]


async def count_of_owner(conn: Connection, owner_id: str) -> int:
    """How many services a user has."""
    return int(await conn.fetchval("SELECT count(*) FROM services WHERE owner_id = $1", owner_id))


async def has(conn: Connection, owner_id: str, extension_id: str) -> bool:
    """Whether a user has a service of this extension."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM services WHERE owner_id = $1 AND extension_id = $2)",
        owner_id,
        extension_id,
    )
    return found


async def is_of(conn: Connection, owner_id: str, service_id: str) -> bool:
    """Whether the service with this id is the user's."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM services WHERE service_id = $2 AND owner_id = $1)", owner_id, service_id
    )
    return found


async def lock(conn: Connection, service_id: str) -> ServiceRow | None:
    """A service, or None; its row is locked for changes until the transaction ends."""
    row = await conn.fetchrow(
        """
        SELECT service_id, owner_id, extension_id, name, created_at_ms, migrating_from FROM services
        WHERE service_id = $1 FOR UPDATE
        """,
        service_id,
    )
    return None if row is None else ServiceRow(**dict(row))


async def move(conn: Connection, row: ServiceRow) -> None:
    """Write a service's `extension_id` and `migrating_from`."""
    await conn.execute(
        "UPDATE services SET extension_id = $2, migrating_from = $3 WHERE service_id = $1",
        row.service_id,
        row.extension_id,
        row.migrating_from,
    )


async def remove(conn: Connection, service_id: str) -> None:
    """Delete a service."""
    await conn.execute("DELETE FROM services WHERE service_id = $1", service_id)


async def migrating(conn: Connection, after: str | None, limit: int) -> list[ServiceRow]:
    """Services that are being moved, in the order of their ids.

    Args:
        after: the last of the page before; None from the start.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT service_id, owner_id, extension_id, name, created_at_ms, migrating_from FROM services
        WHERE migrating_from IS NOT NULL AND service_id > $1 ORDER BY service_id LIMIT $2
        """,
        after or "",
        limit,
    )
    return [ServiceRow(**dict(row)) for row in rows]


async def servers_registered(conn: Connection, owner_id: str, extension_id: str) -> Sequence[str]:
    """The user's game servers that have registered an extension."""
    rows = await conn.fetch(
        """
        SELECT server_id FROM connect_servers s JOIN connect_registrations r USING (server_id)
        WHERE s.owner_id = $1 AND r.extension_id = $2 ORDER BY s.created_at_ms, server_id
        """,
        owner_id,
        extension_id,
    )
    return [row["server_id"] for row in rows]


async def servers_with(conn: Connection, owner_id: str, extension_id: str) -> Sequence[str]:
    """The user's game servers that have registered an extension, or have settings of it."""
    rows = await conn.fetch(
        """
        SELECT server_id FROM connect_servers s WHERE owner_id = $1 AND (
            EXISTS (SELECT FROM connect_registrations r WHERE r.server_id = s.server_id AND r.extension_id = $2)
            OR EXISTS (SELECT FROM connect_settings c WHERE c.server_id = s.server_id AND c.source = $2)
        ) ORDER BY created_at_ms, server_id
        """,
        owner_id,
        extension_id,
    )
    return [row["server_id"] for row in rows]
