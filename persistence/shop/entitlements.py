"""Rights that were bought: a ledger beside the grants of admins. Rows only.

An entitlement is live from `begins_at_ms` to `ends_at_ms` unless it is suspended (its payment is disputed) or ended
(its payment went back, an admin has removed it, or its time was over and has been settled).
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from persistence.connection import Connection, Row
from persistence.statements import inserting

SUPPORTER = "perk:supporter."
"""Prefix of the permission node that a supporter has; the tier follows."""

CAPE = "perk:cape."
"""Prefix of the permission node that unlocks a cape; the cape's id follows."""

TOTEM = "perk:totem."
"""Prefix of the permission node that unlocks a totem; the totem's id follows."""


class EndedRight(NamedTuple):
    """A user with bought rights whose end has come.

    Args:
        ends_at_ms: when they ended, epoch milliseconds.
    """

    ends_at_ms: int
    user_id: str


class EndedGrant(NamedTuple):
    """An admin's temporary grant or denial whose time is over.

    Args:
        ended_at_ms: when its time was over, epoch milliseconds.
        node: the permission node, or a pattern of nodes.
    """

    ended_at_ms: int
    user_id: str
    node: str


class Entitlement(msgspec.Struct, frozen=True):
    """One right that a purchase gave.

    Args:
        position: its place among the entitlements of the purchase, from 0.
        value, unit: the quantity of a quota node; None for other nodes.
        begins_at_ms, ends_at_ms: epoch milliseconds; an end of None never comes.
        suspended: whether it has no effect for now, because the payment is disputed.
        ended: whether it has no effect any more.
    """

    purchase_id: str
    position: int
    user_id: str
    product_id: str
    node: str
    value: float | None
    unit: str | None
    begins_at_ms: int
    ends_at_ms: int | None
    suspended: bool = False
    ended: bool = False


async def add_entitlements(conn: Connection, entitlements: Sequence[Entitlement]) -> None:
    """Store the entitlements of a purchase; a second time for the same purchase is refused by the database."""
    await conn.executemany(_ADD, [[getattr(one, name) for name in _COLUMNS] for one in entitlements])


async def ends_of_product(conn: Connection, user_id: str, product_id: str, now_ms: int) -> dict[str, int]:
    """{node: when the user's last live entitlement of it that came from this product ends}; endless ones are left
    out."""
    rows = await conn.fetch(
        "SELECT node, max(ends_at_ms) AS ends_at_ms FROM shop_entitlements WHERE user_id = $1 AND product_id = $2"
        " AND NOT ended AND NOT suspended AND ends_at_ms > $3 GROUP BY node",
        user_id,
        product_id,
        now_ms,
    )
    return {row["node"]: row["ends_at_ms"] for row in rows}


async def has_of_purchase(conn: Connection, purchase_id: str) -> bool:
    """Whether entitlements of a purchase are stored, live or not."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM shop_entitlements WHERE purchase_id = $1)", purchase_id
    )
    return found


async def suspend(conn: Connection, purchase_id: str, *, suspended: bool) -> None:
    """Suspend the entitlements of a purchase; where `suspended` is false, make them live again with their old end."""
    await conn.execute(
        "UPDATE shop_entitlements SET suspended = $2 WHERE purchase_id = $1", purchase_id, suspended
    )


async def end_of_purchase(conn: Connection, purchase_id: str) -> list[Entitlement]:
    """End the entitlements of a purchase for good; returns those that had not ended before."""
    rows = await conn.fetch(
        "UPDATE shop_entitlements SET ended = true, suspended = false WHERE purchase_id = $1 AND NOT ended RETURNING *",
        purchase_id,
    )
    return list(map(_entitlement, rows))


async def lasting_of_product(conn: Connection, user_id: str, product_id: str) -> list[Entitlement]:
    """The entitlements of a user that came from a product, have not ended and have an end, suspended ones too; ordered
    by node and beginning."""
    rows = await conn.fetch(
        "SELECT * FROM shop_entitlements WHERE user_id = $1 AND product_id = $2 AND NOT ended"
        ' AND ends_at_ms IS NOT NULL ORDER BY node COLLATE "C", begins_at_ms, purchase_id',
        user_id,
        product_id,
    )
    return list(map(_entitlement, rows))


async def move(conn: Connection, moved: Sequence[Entitlement]) -> None:
    """Store when these entitlements begin and end."""
    await conn.executemany(
        "UPDATE shop_entitlements SET begins_at_ms = $3, ends_at_ms = $4 WHERE purchase_id = $1 AND position = $2",
        [[one.purchase_id, one.position, one.begins_at_ms, one.ends_at_ms] for one in moved],
    )


async def end_of_node(conn: Connection, user_id: str, node: str, now_ms: int) -> int:
    """End the live entitlements of a user for a node, for good; returns how many."""
    tag = await conn.execute(
        "UPDATE shop_entitlements SET ended = true WHERE user_id = $1 AND node = $2 AND NOT ended"
        " AND (ends_at_ms IS NULL OR ends_at_ms > $3)",
        user_id,
        node,
        now_ms,
    )
    return int(tag.rpartition(" ")[2])


async def live_of_user(conn: Connection, user_id: str, now_ms: int) -> list[Entitlement]:
    """The entitlements of a user that are live or will be, ordered by node."""
    rows = await conn.fetch(
        "SELECT * FROM shop_entitlements WHERE user_id = $1 AND NOT ended AND NOT suspended"
        ' AND (ends_at_ms IS NULL OR ends_at_ms > $2) ORDER BY node COLLATE "C", begins_at_ms, purchase_id',
        user_id,
        now_ms,
    )
    return list(map(_entitlement, rows))


async def bought_once(conn: Connection, user_id: str) -> set[str]:
    """The nodes of all capes and totems that a user has ever bought."""
    rows = await conn.fetch(
        "SELECT DISTINCT node FROM shop_entitlements WHERE user_id = $1"
        " AND (starts_with(node, $2) OR starts_with(node, $3))",
        user_id,
        CAPE,
        TOTEM,
    )
    return {row["node"] for row in rows}


async def products_owned(conn: Connection, user_id: str, now_ms: int) -> set[str]:
    """The ids of the products that have given the user rights which are not all over."""
    rows = await conn.fetch(
        "SELECT DISTINCT product_id FROM shop_entitlements WHERE user_id = $1 AND NOT ended AND NOT suspended"
        " AND (ends_at_ms IS NULL OR ends_at_ms > $2)",
        user_id,
        now_ms,
    )
    return {row["product_id"] for row in rows}


async def users_of_ended(
    conn: Connection, after: EndedRight | None, upto_ms: int, limit: int
) -> list[EndedRight]:
    """Users with entitlements whose end has come and that are not marked as ended yet, in the order of these ends.

    Args:
        after: the last one of the page before; None from the start.
        upto_ms: the latest end that is included, epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT DISTINCT ends_at_ms, user_id FROM shop_entitlements"
        " WHERE NOT ended AND ends_at_ms >= $1 AND (ends_at_ms, user_id) > ($1, $2) AND ends_at_ms <= $3"
        " ORDER BY ends_at_ms, user_id LIMIT $4",
        *(after or EndedRight(-1, "")),
        upto_ms,
        limit,
    )
    return [EndedRight(*row) for row in rows]


async def grants_ended(conn: Connection, after: EndedGrant, upto_ms: int, limit: int) -> list[EndedGrant]:
    """Admins' temporary grants and denials of perks whose time is over, in the order of their ends.

    Args:
        after: the last grant of the page before.
        upto_ms: the latest end that is included, epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT expires_at_ms, user_id, node FROM user_grants"
        " WHERE (expires_at_ms, user_id, node) > ($1, $2, $3) AND expires_at_ms <= $4"
        " AND (node LIKE 'perk:%' OR node LIKE '*%')"
        " ORDER BY expires_at_ms, user_id, node LIMIT $5",
        *after,
        upto_ms,
        limit,
    )
    return [EndedGrant(*row) for row in rows]


async def settle_ended(conn: Connection, user_id: str, now_ms: int) -> None:
    """Mark a user's entitlements whose end has come as ended."""
    await conn.execute(
        "UPDATE shop_entitlements SET ended = true WHERE user_id = $1 AND NOT ended AND ends_at_ms <= $2",
        user_id,
        now_ms,
    )


async def name_nodes(conn: Connection, ids: Sequence[str], nodes: Sequence[str], now_ms: int) -> list[str]:
    """Add nodes to the catalog of permissions unless it has them; returns the added ones.

    Args:
        ids: a new objectId for each of the nodes.
    """
    rows = await conn.fetch(
        "INSERT INTO permissions (id, node, created_at_ms) SELECT id, node, $3"
        " FROM unnest($1::text[], $2::text[]) AS new (id, node) ON CONFLICT (node) DO NOTHING RETURNING node",
        list(ids),
        list(nodes),
        now_ms,
    )
    return [row["node"] for row in rows]


async def set_tier(conn: Connection, user_id: str, tier: str | None, since_ms: int | None) -> None:
    """Store which tier a supporter has, and since when; None for a user who is none any more."""
    await conn.execute(
        "UPDATE users SET supporter_tier = $2, supporter_since_ms = $3 WHERE id = $1", user_id, tier, since_ms
    )


_COLUMNS = Entitlement.__struct_fields__

_ADD = inserting("shop_entitlements", _COLUMNS)


def _entitlement(row: Row) -> Entitlement:
    return Entitlement(*(row[name] for name in _COLUMNS))
