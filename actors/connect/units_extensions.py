"""Add an extension to the catalog, and change one: units of work."""

from dataclasses import dataclass

from msgspec.structs import replace

from actors.change import Change
from actors.connect.extensions import node_of
from actors.errors import Conflict, NotFound, QuotaExceeded
from actors.users.events import NodeAdded, UserChanged
from actors.users.locking import require_user
from persistence.connect import extensions
from persistence.connect.rows import ExtensionRow
from persistence.connection import Connection
from persistence.users.permissions import Grant, put_grant

MAX_OWNED = 50
"""Most extensions of one user in the catalog."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What is changed of an extension in the catalog; None leaves a field as it is."""

    name: str | None
    description: str | None
    visibility: str | None


async def create_extension(
    conn: Connection, owner_id: str, row: ExtensionRow, node_id: str
) -> Change[ExtensionRow]:
    """Add an extension, and grant its owner the permission to change it.

    Args:
        owner_id: the owner in the row.
        node_id: a fresh objectId for the permission.

    Raises:
        NotFound: there is no such user.
        QuotaExceeded: the user has `MAX_OWNED` extensions.
        Conflict: the extension's id is taken.
    """
    await require_user(conn, owner_id)
    if await extensions.count_of_owner(conn, owner_id) >= MAX_OWNED:
        raise QuotaExceeded(message=f"a user has at most {MAX_OWNED} extensions", max=MAX_OWNED)
    if not await extensions.create(conn, row):
        raise Conflict("this extension id is taken")
    grant = Grant(node_of(row.extension_id))
    await put_grant(conn, owner_id, grant, node_id=node_id, now_ms=row.created_at_ms)
    return Change(row, (UserChanged(owner_id), NodeAdded(grant.node)))


async def change_extension(conn: Connection, extension_id: str, edit: Edit, now_ms: int) -> ExtensionRow:
    """Change an extension; the edge has checked that the caller may.

    Raises:
        NotFound: there is no such extension any more.
    """
    row = await extensions.lock(conn, extension_id)
    if row is None:
        raise NotFound
    changed = replace(
        row,
        name=row.name if edit.name is None else edit.name,
        description=row.description if edit.description is None else edit.description,
        visibility=row.visibility if edit.visibility is None else edit.visibility,
    )
    if changed == row:
        return row
    changed = replace(changed, updated_at_ms=now_ms)
    await extensions.change(conn, changed)
    return changed
