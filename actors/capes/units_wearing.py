"""Which cape a user wears: a native one, or one that their launcher has (service-api §4 Capes)."""

from actors.errors import Forbidden, NotFound
from actors.users.holding import access_in
from actors.users.locking import require_user
from persistence.capes.choices import Selection, remove_selection, save_selection
from persistence.capes.rows import hold_cape
from persistence.connection import Connection
from persistence.shop.entitlements import CAPE
from persistence.shop.products import is_on_sale


async def select(conn: Connection, user_id: str, selection: Selection) -> Selection:
    """Store the cape that a user wears. A native one must be approved, or the user's own; others see it only
    while it is approved.

    Raises:
        NotFound: there is no such user or cape, or the cape is neither approved nor the user's own.
        Forbidden: the cape is on sale, and the user has neither made nor bought it.
    """
    # What was bought may go back meanwhile.
    await require_user(conn, user_id)
    if selection.source == "native":
        cape = await hold_cape(conn, selection.cape_id)
        if cape is None or (cape.status != "approved" and cape.owner_id != user_id):
            raise NotFound("no such cape")
        if cape.owner_id != user_id and await is_on_sale(conn, "cape", cape.id):
            access = await access_in(conn, user_id, selection.updated_at_ms)
            perk = CAPE + cape.id
            if not access.allows(perk):
                raise Forbidden(f"missing permission {perk}", permission=perk)
    await save_selection(conn, user_id, selection)
    return selection


async def select_none(conn: Connection, user_id: str) -> None:
    """Store that a user wears no cape."""
    await remove_selection(conn, user_id)
