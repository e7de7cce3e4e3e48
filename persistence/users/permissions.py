"""The permission store: the catalog of nodes, users' grants and roles. Rows only; the rules are in `actors`.

Every change is announced by a NOTIFY on `CHANNEL` in its own transaction, so that other processes are told exactly
when it is committed. The payload is a user id, `GREW` and a node when the catalog grew, what `renamed` makes, or `ANY`.
"""

from collections.abc import Mapping, Sequence

import msgspec

from persistence.connection import Connection, Row

CHANNEL = "partyline_users"
"""The NOTIFY channel of changes to users, their rights and the catalog."""

GREW = "+"
"""Precedes the node in the payload that announces a new catalog node; no user id begins with it."""


ANY = ""
"""The payload that announces any change: whoever hears it reads rows and the catalog again."""

RENAMED = "="
"""Precedes the id and the new name of a user; no user id begins with it."""


class Grant(msgspec.Struct, frozen=True):
    """A permission node that a user was granted or denied.

    Args:
        node: a permission node, or a pattern of nodes.
        negated: whether it denies the node instead of granting it.
        expires_at_ms: when its effect ends, epoch milliseconds; None for never.
        value: the quantity that a quota node carries, or None.
        unit: the unit of `value`, or None for a bare number.
        begins_at_ms: when its effect begins, epoch milliseconds; above 0 only for rights that were bought.
    """

    node: str
    negated: bool = False
    expires_at_ms: int | None = None
    value: float | None = None
    unit: str | None = None
    begins_at_ms: int = 0


class CatalogNode(msgspec.Struct, frozen=True):
    """One node of the catalog, with its objectId."""

    id: str
    node: str


async def announce(conn: Connection, payload: str) -> None:
    """Notify every process once this transaction commits.

    Args:
        payload: a user id, `GREW` and a node, what `renamed` makes, or `ANY`.
    """
    await conn.execute("SELECT pg_notify($1, $2)", CHANNEL, payload)


def renamed(user_id: str, name: str) -> str:
    """The payload that announces the new name of a user."""
    return f"{RENAMED}{user_id} {name}"


async def seed_catalog(conn: Connection, ids: Mapping[str, str], now_ms: int) -> None:
    """Put nodes into the catalog that are not in it yet; `ids` is {node: objectId}."""
    await conn.execute(
        "INSERT INTO permissions (id, node, created_at_ms)"
        " SELECT id, node, $3 FROM unnest($1::text[], $2::text[]) AS new (id, node)"
        " ON CONFLICT (node) DO NOTHING",
        list(ids.values()),
        list(ids),
        now_ms,
    )


async def read_catalog(conn: Connection) -> list[CatalogNode]:
    """The whole catalog, sorted by node."""
    rows = await conn.fetch('SELECT id, node FROM permissions ORDER BY node COLLATE "C"')
    return [CatalogNode(row["id"], row["node"]) for row in rows]


async def read_roles(conn: Connection, user_id: str) -> list[str]:
    """The user's roles as stored."""
    return [role for (role,) in await conn.fetch("SELECT role FROM user_roles WHERE user_id = $1", user_id)]


async def super_admin_exists(conn: Connection) -> bool:
    """Whether any user is a super-admin."""
    return bool(await conn.fetchval("SELECT EXISTS (SELECT 1 FROM user_roles WHERE role = 'super-admin')"))


async def add_role(conn: Connection, user_id: str, role: str, now_ms: int) -> None:
    """Give a role to a user who exists; without effect when they have it.

    Args:
        role: as stored, e.g. `super-admin`.
        now_ms: epoch milliseconds.
    """
    await conn.execute(
        "INSERT INTO user_roles (user_id, role, granted_at_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        user_id,
        role,
        now_ms,
    )
    await announce(conn, user_id)


async def remove_role(conn: Connection, user_id: str, role: str) -> None:
    """Take a role, as stored, from a user."""
    await conn.execute("DELETE FROM user_roles WHERE user_id = $1 AND role = $2", user_id, role)
    await announce(conn, user_id)


async def lock_super_admins(conn: Connection) -> None:
    """Serialise changes of roles until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('super-admins', 0))")


async def other_super_admin_exists(conn: Connection, user_id: str) -> bool:
    """Whether another user than this one is a super-admin."""
    return bool(
        await conn.fetchval(
            "SELECT EXISTS (SELECT FROM user_roles WHERE role = 'super-admin' AND user_id <> $1)", user_id
        )
    )


async def read_grants(conn: Connection, user_id: str) -> list[Grant]:
    """Every grant of the user, including expired ones, sorted by node."""
    rows = await conn.fetch(
        'SELECT * FROM user_grants WHERE user_id = $1 ORDER BY node COLLATE "C"',
        user_id,
    )
    return [_grant(row) for row in rows]


async def read_grant(conn: Connection, user_id: str, node: str) -> Grant | None:
    """One grant, locked until the transaction ends, or None.

    Args:
        node: the node or pattern, as it was granted.
    """
    row = await conn.fetchrow(
        "SELECT * FROM user_grants WHERE user_id = $1 AND node = $2 FOR UPDATE",
        user_id,
        node,
    )
    return None if row is None else _grant(row)


async def put_grant(
    conn: Connection, user_id: str, grant: Grant, *, node_id: str | None, now_ms: int
) -> None:
    """Store a grant, in place of a former one of the same node.

    Args:
        user_id: a user who exists.
        grant: the new grant, which replaces all columns, value and unit included.
        node_id: objectId for the node, used if the catalog does not have it yet; None leaves the catalog as it is.
        now_ms: epoch milliseconds.
    """
    grew = node_id is not None and await _add_to_catalog(conn, grant.node, node_id, now_ms)
    await conn.execute(
        "INSERT INTO user_grants"
        " (user_id, node, negated, expires_at_ms, value, unit, created_at_ms, updated_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $7)"
        " ON CONFLICT (user_id, node) DO UPDATE SET negated = $3, expires_at_ms = $4, value = $5, unit = $6,"
        " updated_at_ms = $7",
        user_id,
        grant.node,
        grant.negated,
        grant.expires_at_ms,
        grant.value,
        grant.unit,
        now_ms,
    )
    if grew:
        await announce(conn, GREW + grant.node)
    await announce(conn, user_id)


async def _add_to_catalog(conn: Connection, node: str, node_id: str, now_ms: int) -> bool:
    """Add a node to the catalog; returns False when the catalog has it already."""
    grew = await conn.fetchval(
        "INSERT INTO permissions (id, node, created_at_ms) VALUES ($1, $2, $3)"
        " ON CONFLICT (node) DO NOTHING RETURNING true",
        node_id,
        node,
        now_ms,
    )
    return bool(grew)


async def remove_from_catalog(conn: Connection, node: str) -> bool:
    """Take a node out of the catalog; returns False when the catalog does not have it. Grants of it stay."""
    shrank = await conn.fetchval("DELETE FROM permissions WHERE node = $1 RETURNING true", node)
    if shrank:
        await announce(conn, ANY)
    return bool(shrank)


async def remove_grant(conn: Connection, user_id: str, node: str) -> Grant | None:
    """Delete a grant of a node; returns what it was, or None when there was none. The node stays in the catalog."""
    row = await conn.fetchrow(
        "DELETE FROM user_grants WHERE user_id = $1 AND node = $2 RETURNING *",
        user_id,
        node,
    )
    if row is None:
        return None
    await announce(conn, user_id)
    return _grant(row)


async def read_rights(conn: Connection, user_id: str) -> list[Grant]:
    """All rights of a user: those that admins have granted or denied, and those that were bought."""
    return (await rights_of(conn, [user_id]))[user_id]


async def rights_of(conn: Connection, user_ids: Sequence[str]) -> dict[str, list[Grant]]:
    """{user id: what `read_rights` returns}."""
    found: dict[str, list[Grant]] = {user_id: [] for user_id in user_ids}
    for user_id, *grant in await conn.fetch(_RIGHTS, user_ids):
        found[user_id].append(Grant(*grant))
    return found


_RIGHTS = """
SELECT user_id, node, negated, expires_at_ms, value, unit, 0::bigint AS begins_at_ms FROM user_grants
WHERE user_id = ANY ($1::text[])
UNION ALL
SELECT user_id, node, false, ends_at_ms, value, unit, begins_at_ms FROM shop_entitlements
WHERE user_id = ANY ($1::text[]) AND NOT ended AND NOT suspended
"""


def _grant(row: Row) -> Grant:
    return Grant(row["node"], row["negated"], row["expires_at_ms"], row["value"], row["unit"])


def nodes_of(catalog: Sequence[CatalogNode]) -> frozenset[str]:
    """The names of the catalog's nodes."""
    return frozenset(one.node for one in catalog)
