"""Register, hear, change and forget gateways: units of work, inside the caller's transaction.

| gateway    | by                     | next                               |
|------------|------------------------|------------------------------------|
| –          | registering            | `online`                           |
| `online`   | an admin: draining     | `draining`: it is given no routes  |
| `draining` | an admin: online       | `online`                           |
| any        | silence for 30 s       | `offline`                          |
| `offline`  | a heartbeat            | as before; draining stays          |
"""

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.errors import NotFound, QuotaExceeded
from actors.gateways.events import GatewayChanged, GatewayForgotten, RoutesChanged, RoutesConfirmed
from actors.gateways.public import status_of
from persistence.connection import Connection
from persistence.gateways import carried, gateways
from persistence.gateways.gateways import GatewayRow
from persistence.users.audit import Stamp, write_audit

GATEWAYS_MAX = 500
"""The most gateways that can be registered."""


class GatewayChanges(msgspec.Struct, frozen=True):
    """What an admin changes about a gateway; None leaves a field as it is."""

    region: str | None = None
    capacity: int | None = None
    draining: bool | None = None


async def register(conn: Connection, row: GatewayRow) -> Change[GatewayRow]:
    """Store a gateway, in place of a former one with the same host and port, whose secret ends.

    Raises:
        QuotaExceeded: there are `GATEWAYS_MAX` others.
    """
    await gateways.lock_all(conn)
    if await gateways.count_others(conn, row.public_host, row.port) >= GATEWAYS_MAX:
        raise QuotaExceeded(message=f"there may be {GATEWAYS_MAX} gateways", max=GATEWAYS_MAX)
    stored = await gateways.register(conn, row)
    return Change(stored, (GatewayChanged(stored),))


async def hear(conn: Connection, known: GatewayRow, confirmed_revision: int) -> Change[GatewayRow]:
    """Store a heartbeat, by which a gateway says that it is there and which routes it has.

    Args:
        known: the gateway's row as it was when its secret was verified.
        confirmed_revision: the revision of the routes that it has, as it says.

    Raises:
        NotFound: the gateway is gone, or was registered anew meanwhile.
    """
    row = await gateways.hear(conn, known.gateway_id, known.secret, confirmed_revision)
    if row is None:
        raise NotFound
    if known.online:
        return Change(row, (RoutesConfirmed(row.gateway_id, row.secret, row.confirmed_revision),))
    return Change(row, (GatewayChanged(row),))


async def settle(conn: Connection, silent: Collection[str], back: Collection[str]) -> Change[None]:
    """Mark gateways as offline that have gone silent, and as online those that have come back.

    Args:
        silent, back: the ids of these gateways.
    """
    await gateways.lock_all(conn)
    rows = await gateways.set_online(conn, silent, False) + await gateways.set_online(conn, back, True)
    return Change(None, tuple(map(GatewayChanged, rows)))


async def change_gateway(
    conn: Connection, gateway_id: str, changes: GatewayChanges, stamp: Stamp
) -> Change[GatewayRow]:
    """Change a gateway. Whether it drains changes the routes that it is given, and so takes a revision.

    Args:
        stamp: identifies the admin and their request in the audit trail; without an effective change there is no entry.

    Raises:
        NotFound: there is no such gateway.
    """
    before = await gateways.lock(conn, gateway_id)
    if before is None:
        raise NotFound
    after = replace(
        before,
        region=before.region if changes.region is None else changes.region,
        capacity=before.capacity if changes.capacity is None else changes.capacity,
        draining=before.draining if changes.draining is None else changes.draining,
    )
    if after == before:
        return Change(before)
    detail = {
        "gatewayId": gateway_id, "region": after.region, "capacity": after.capacity, "status": status_of(after),
        "draining": after.draining,
    }  # fmt: skip
    await write_audit(conn, stamp, "gateway.changed", target_id=None, detail=msgspec.json.encode(detail))
    moved = after.draining != before.draining
    if moved:
        after = replace(after, since_revision=await carried.take_revision(conn))
    after = replace(after, updated_at_ms=stamp.at_ms)
    await gateways.change(conn, after)
    return Change(after, (GatewayChanged(after), *((RoutesChanged(),) if moved else ())))


async def forget(conn: Connection, limit: int, before_ms: int) -> Change[int]:
    """Delete gateways that are offline and were heard last before a moment; returns how many.

    Args:
        limit: how many to delete at most.
        before_ms: that moment, epoch milliseconds.
    """
    gone = await gateways.forget(conn, limit, before_ms)
    return Change(len(gone), tuple(map(GatewayForgotten, gone)))
