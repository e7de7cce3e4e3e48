"""Make, remove and migrate services: units of work, inside the caller's transaction."""

from collections.abc import Sequence

from msgspec.structs import replace

from actors.connect.extensions import node_of
from actors.connect.rules_services import moves_settings
from actors.errors import Conflict, Forbidden, NotFound, QuotaExceeded
from actors.users.locking import require_user
from persistence.connect import extensions
from persistence.connection import Connection
from persistence.services import services
from persistence.services.services import ServiceRow

MAX_SERVICES = 100
"""Most services of one user."""


async def create(conn: Connection, row: ServiceRow, *, may_change: bool) -> ServiceRow:
    """Store a service of an extension that is public, or that its owner may change.

    Args:
        may_change: whether the owner has the permission node of the extension.

    Raises:
        NotFound: there is no such user or extension, or the extension is private and the user lacks its permission.
        QuotaExceeded: the user has 100 services.
        Conflict: the user has a service of this extension.
    """
    await require_user(conn, row.owner_id)
    extension = await extensions.read(conn, row.extension_id)
    if extension is None or (extension.visibility == "private" and not may_change):
        raise NotFound("no such extension")
    if await services.count_of_owner(conn, row.owner_id) >= MAX_SERVICES:
        raise QuotaExceeded(message=f"a user has at most {MAX_SERVICES} services", max=MAX_SERVICES)
    if not await services.create(conn, row):
        raise Conflict("there is a service of this extension")
    return row


async def own(conn: Connection, service_id: str, user_id: str) -> ServiceRow:
    """A user's own service that is not being migrated, locked until the transaction ends.

    Raises:
        NotFound: there is no such service, or it is another user's.
        Conflict: the service is being migrated.
    """
    row = await _locked(conn, service_id, user_id)
    if row.migrating_from is not None:
        raise Conflict("a migration of this service runs")
    return row


async def remove(conn: Connection, service_id: str, user_id: str) -> None:
    """Delete a service.

    Raises:
        NotFound: there is no such service, or it is another user's.
        Conflict: the service is being migrated.
    """
    await services.remove(conn, (await own(conn, service_id, user_id)).service_id)


async def begin(
    conn: Connection, service_id: str, user_id: str, extension_id: str, *, may_change: bool
) -> ServiceRow:
    """Note that a service is of another extension from now on, so that it is moved even if this process ends.

    Repeated while its migration to the same extension runs, or after it, it changes nothing.

    Args:
        extension_id: the extension that takes the place of the present one.
        may_change: whether the user has the permission node of that extension.

    Raises:
        NotFound: there is no such service or extension, or they are not the user's to see.
        Forbidden: the user may not change the extension.
        Conflict: the service is being migrated to another extension, or there is one of this extension already.
    """
    await require_user(conn, user_id)
    row = await _locked(conn, service_id, user_id)
    extension = await extensions.read(conn, extension_id)
    if extension is None or (extension.visibility == "private" and not may_change):
        raise NotFound("no such extension")
    if not may_change:
        node = node_of(extension_id)
        raise Forbidden(f"missing permission {node}", permission=node)
    if row.extension_id == extension_id:
        return row
    if row.migrating_from is not None:
        raise Conflict("another migration of this service runs")
    if await services.has(conn, user_id, extension_id):
        raise Conflict("there is a service of this extension")
    moved = replace(row, extension_id=extension_id, migrating_from=row.extension_id)
    await services.move(conn, moved)
    return moved


async def finish(conn: Connection, service_id: str, user_id: str) -> tuple[ServiceRow, int]:
    """End the migration of a service if nothing is left of it.

    Returns:
        The service, and how many game servers are left.

    Raises:
        NotFound: there is no such service any more, or it is another user's.
    """
    await require_user(conn, user_id)
    row = await _locked(conn, service_id, user_id)
    if row.migrating_from is None:
        return row, 0
    left = len(await left_of(conn, row))
    if left == 0:
        row = replace(row, migrating_from=None)
        await services.move(conn, row)
    return row, left


async def left_of(conn: Connection, row: ServiceRow) -> Sequence[str]:
    """The game servers of its owner from which a service has yet to be moved away."""
    if row.migrating_from is None:
        return ()
    if moves_settings(row.migrating_from, row.extension_id):
        return await services.servers_with(conn, row.owner_id, row.migrating_from)
    return await services.servers_registered(conn, row.owner_id, row.migrating_from)


async def _locked(conn: Connection, service_id: str, user_id: str) -> ServiceRow:
    row = await services.lock(conn, service_id)
    if row is None or row.owner_id != user_id:
        raise NotFound("no such service")
    return row
