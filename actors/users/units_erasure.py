"""Erase a user: a unit of work, inside the caller's transaction (contract §8).

The user's row is deleted, and with it everything that is theirs. Tokens issued until then are refused; a newer one
creates a new user, who has nothing of the old one. The user's name in messages is removed afterwards
(`actors/chat/erasing.py`).
"""

import msgspec

from actors.change import Change
from actors.errors import Conflict
from actors.networks.units_networks import MAX_NETWORKS
from actors.networks.units_removal import NetworkRemoved
from actors.shop.events import PurchaseChanged
from actors.users.events import UserErased
from actors.users.locking import require_super_admin, require_user
from actors.users.permissions import Role
from persistence.connection import Connection
from persistence.friends import turns
from persistence.networks import networks
from persistence.shop import purchases
from persistence.shop.checkouts import lock_of_user
from persistence.users import erasure
from persistence.users.audit import Stamp, write_audit
from persistence.users.permissions import other_super_admin_exists, read_roles


class StillHeld(Conflict):
    """The user is on a game server, in a party or in a voice channel again, which had let them go before."""


async def erase(conn: Connection, user_id: str, stamp: Stamp, *, even_if_held: bool = False) -> Change[None]:
    """Erase a user whom game servers, their party and their voice channel have let go: none would hear that they are
    gone.

    Args:
        stamp: identifies the caller and their request in the audit trail.
        even_if_held: whether to erase them although one of these has them.

    Raises:
        StillHeld: one of these has them.
        Forbidden: the caller has ceased to be a super-admin meanwhile.
        Conflict: the caller would erase themselves, or the last super-admin; without one, nobody could appoint another.
        NotFound: there is no such user.
    """
    await require_super_admin(conn, stamp)
    if user_id == stamp.actor_id:
        raise Conflict("you cannot erase yourself")
    # The user before their checkouts, as whoever makes or moves one: none is made any more once these are looked for.
    await require_user(conn, user_id)
    await lock_of_user(conn, user_id)
    if Role.SUPER_ADMIN.value in await read_roles(conn, user_id) and not await other_super_admin_exists(
        conn, user_id
    ):
        raise Conflict("the last super-admin stays one")
    others = await erasure.others_of(conn, user_id)
    owned = await networks.of_owner(conn, user_id, MAX_NETWORKS)
    given = await purchases.given_to(conn, user_id)
    # The audit trail keeps the bare id: a name in it would outlive the user.
    await write_audit(conn, stamp, "user.erased", target_id=user_id, detail=msgspec.json.encode({}))
    if not await erasure.erase(conn, user_id, stamp.at_ms, even_if_held=even_if_held):
        raise StillHeld("they have joined or begun something meanwhile")
    erased = UserErased(user_id, others, await turns.announce(conn, ""))
    gone = [NetworkRemoved(network.network_id) for network in owned]
    # Who has paid for the user is shown that the purchases are nobody's now.
    return Change(None, (erased, *gone, *(PurchaseChanged(id, (payer_id,)) for id, payer_id in given)))
