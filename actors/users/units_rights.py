"""Change users' rights: each change is written together with its line in the audit trail.

Units of work, inside a transaction that the caller has begun. They are for super-admins and the command line: the edge
checks the role before a request's body has arrived, and these check it again, serialised with all changes of roles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from actors.change import Change
from actors.errors import Conflict, Invalid, NotFound
from actors.field_errors import FieldError
from actors.shop.entitling import settle, settles
from actors.users.events import NodeAdded, NodeWithdrawn, UserChanged
from actors.users.locking import require_super_admin, require_user
from actors.users.permissions import ABSENT_GRANTS, QUOTA_UNITS, Role, is_node
from actors.users.quantities import QUANTITY_MAX, UNITS, Quantity, listed_unit
from persistence.connection import Connection
from persistence.shop.entitlements import Entitlement, end_of_node, live_of_user
from persistence.users.audit import Stamp, write_audit
from persistence.users.permissions import (
    Grant,
    add_role,
    other_super_admin_exists,
    put_grant,
    read_grant,
    read_grants,
    read_roles,
    remove_from_catalog,
    remove_grant,
    remove_role,
    super_admin_exists,
)
from persistence.users.setup import close_setup, replace_setup_code, take_setup_code
from persistence.users.users import User, arrive, read_user


class Unchanged:
    """The type of `UNCHANGED`, which stands for a value that is to stay as it is."""


UNCHANGED = Unchanged()


@dataclass(frozen=True, slots=True)
class GrantChange:
    """The grant to create or change (service-api §4 Admin).

    Args:
        user_id: the id of the user to whom it is granted, a lower-case uuid.
        node: the node or pattern.
        negated: whether the grant takes the node away.
        expires_at_ms: when it expires, epoch milliseconds; None for never. A past time is allowed: such a grant counts
            as absent.
        quantity: the number that the grant carries, None to clear it, `UNCHANGED` to leave it.
        node_id: a fresh objectId for the node, used if the node is to be added to the catalog.
    """

    user_id: str
    node: str
    negated: bool
    expires_at_ms: int | None
    quantity: Quantity | Unchanged | None
    node_id: str


def quantity_of(node: str, value: float, unit: str | None) -> Quantity:
    """Check a quantity, and return it with its unit as listed.

    Args:
        node: the node that is to carry it; quota nodes accept certain units only.
        value: the number, 0 to 2**53 - 1.
        unit: any spelling of a listed unit, or None for a bare number.

    Raises:
        Invalid: the number or the unit is not allowed; its pointer is `/value`, `/value/value` or `/value/unit`.
    """
    at = "/value" if unit is None else "/value/value"
    if not 0 <= value <= QUANTITY_MAX:
        raise Invalid(FieldError(at, "OUT_OF_RANGE", f"the value must be from 0 to {QUANTITY_MAX}"))
    listed = None if unit is None else listed_unit(unit)
    if unit is not None and listed is None:
        raise Invalid(
            FieldError("/value/unit", "UNKNOWN_VALUE", f"the unit must be one of {', '.join(UNITS)}")
        )
    wanted = QUOTA_UNITS.get(node)
    if wanted is not None and listed not in wanted:
        names = ", ".join(sorted(name for name in wanted if name is not None))
        raise Invalid(
            FieldError("/value/unit", "UNKNOWN_VALUE", f"{node} is counted in {names} or without unit")
        )
    return Quantity(float(value), listed)


async def change_grant(conn: Connection, change: GrantChange, stamp: Stamp) -> Change[Grant]:
    """Grant a node to a user, or change their grant of it. Without a change nothing is written to the audit trail.

    Raises:
        Forbidden: the caller has ceased to be a super-admin meanwhile.
        Invalid: the node is malformed.
        NotFound: there is no such user.
    """
    await require_super_admin(conn, stamp)
    if not is_node(change.node):
        raise Invalid(FieldError("/node", "BAD_FORMAT", "a node is names or * between colons"))
    # The lock serialises changes of one user's grants, so that the audit trail has them in their order.
    await require_user(conn, change.user_id)
    before = await read_grant(conn, change.user_id, change.node)
    if isinstance(change.quantity, Unchanged):
        value, unit = (None, None) if before is None else (before.value, before.unit)
    elif change.quantity is None:
        value, unit = None, None
    else:
        value, unit = change.quantity.value, change.quantity.unit
    grant = Grant(change.node, change.negated, change.expires_at_ms, value, unit)
    # By being named in the catalog such a node ends for everybody who was not granted it (contract §2 Gate): whoever
    # takes it from one user takes it from them alone.
    unnamed = grant.negated and grant.node in ABSENT_GRANTS
    node_id = None if unnamed else change.node_id
    await put_grant(conn, change.user_id, grant, node_id=node_id, now_ms=stamp.at_ms)
    if settles(grant.node):
        await settle(conn, change.user_id, stamp.at_ms, moved=grant.node)
    if grant != before:
        detail = _grant_detail(grant.node, before, grant)
        await write_audit(conn, stamp, "permission.granted", target_id=change.user_id, detail=detail)
    user = UserChanged(change.user_id)
    return Change(grant, (user,) if unnamed else (user, NodeAdded(change.node)))


async def revoke_grant(conn: Connection, user_id: str, node: str, stamp: Stamp) -> Change[int]:
    """Delete a user's grant of a node, and end what they have bought of it; the value is how many there were.

    Args:
        node: the node or pattern, as it was granted.

    Raises:
        Forbidden: the caller has ceased to be a super-admin meanwhile.
        NotFound: there is no such user.
    """
    await require_super_admin(conn, stamp)
    await require_user(conn, user_id)
    before = await remove_grant(conn, user_id, node)
    ended = await end_of_node(conn, user_id, node, stamp.at_ms)
    if before is None and not ended:
        return Change(0)
    if ended or settles(node):
        await settle(conn, user_id, stamp.at_ms, moved=node)
    detail = _grant_detail(node, before, None, ended=ended)
    await write_audit(conn, stamp, "permission.removed", target_id=user_id, detail=detail)
    return Change(ended + (before is not None), (UserChanged(user_id),))


async def withdraw_node(conn: Connection, node: str, stamp: Stamp) -> Change[int]:
    """Take a node of chat, friends or totems out of the catalog, so that it is everybody's again but for those who were
    denied it; grants of it stay, and are without effect. The value is how many nodes were taken out, 0 or 1.

    Args:
        node: any well-formed node.

    Raises:
        Conflict: the node is of another kind: by its absence nobody would have it.
        Forbidden: the caller has ceased to be a super-admin meanwhile.
    """
    await require_super_admin(conn, stamp)
    if node not in ABSENT_GRANTS:
        raise Conflict("only nodes of chat, friends and totems are everybody's when they are withdrawn")
    if not await remove_from_catalog(conn, node):
        return Change(0)
    detail = msgspec.json.encode({"node": node})
    await write_audit(conn, stamp, "permission.withdrawn", target_id=None, detail=detail)
    return Change(1, (NodeWithdrawn(node),))


async def appoint(conn: Connection, user_id: str, role: Role, stamp: Stamp) -> Change[list[str]]:
    """Give a user a role; without effect when they have it. The value is their roles as stored, sorted.

    Args:
        role: anything but `Role.USER`, which everybody has.

    Raises:
        NotFound: there is no such user.
        Forbidden: the caller has ceased to be a super-admin meanwhile.
    """
    await require_super_admin(conn, stamp)
    await require_user(conn, user_id)
    roles = await read_roles(conn, user_id)
    if role.value in roles:
        return Change(sorted(roles))
    await _appoint(conn, user_id, role, stamp)
    return Change(sorted([*roles, role.value]), (UserChanged(user_id),))


async def dismiss(conn: Connection, user_id: str, role: Role, stamp: Stamp) -> Change[list[str]]:
    """Take a role from a user; without effect when they lack it. The value is their roles as stored, sorted.

    Args:
        role: anything but `Role.USER`, which everybody has.

    Raises:
        NotFound: there is no such user.
        Forbidden: the caller has ceased to be a super-admin meanwhile.
        Conflict: the user is the last super-admin; without one, nobody could appoint another.
    """
    await require_super_admin(conn, stamp)
    await require_user(conn, user_id)
    roles = await read_roles(conn, user_id)
    if role.value not in roles:
        return Change(sorted(roles))
    if role is Role.SUPER_ADMIN and not await other_super_admin_exists(conn, user_id):
        raise Conflict("the last super-admin stays one")
    await remove_role(conn, user_id, role.value)
    await write_audit(conn, stamp, "role.removed", target_id=user_id, detail=_role_detail(role))
    return Change(sorted(one for one in roles if one != role.value), (UserChanged(user_id),))


async def enrol(conn: Connection, user_id: str, name: str, role: Role | None, stamp: Stamp) -> User:
    """Create or rename a user, and give them a role if one is named: what `partyline token` does.

    Args:
        user_id: the user's id, a lower-case uuid.
        name: the user's name, valid by the edge's `is_name`.
        role: any role but `Role.USER`; None for no role.
        stamp: identifies the caller in the audit trail.

    Raises:
        NotFound: the user was erased within this second.
    """
    user = await _arrive(conn, user_id, name, stamp)
    if role is not None and role.value not in await read_roles(conn, user_id):
        await _appoint(conn, user_id, role, stamp)
    return user


async def open_setup(conn: Connection, code_hash: bytes, now_ms: int) -> bool:
    """Store the code that opens the setup, in place of a former one; returns False, without effect, when there is a
    super-admin already.

    Args:
        code_hash: the SHA-256 digest of the code.
        now_ms: epoch milliseconds.
    """
    if await super_admin_exists(conn):
        return False
    await replace_setup_code(conn, code_hash, now_ms)
    return True


async def set_up(conn: Connection, code_hash: bytes, user_id: str, name: str, stamp: Stamp) -> User:
    """Create the first super-admin, once (contract §11 Setup).

    Args:
        code_hash: the SHA-256 digest of the code in the link.
        user_id: a fresh uuid.
        name: the user's name.
        stamp: identifies the new user, its actor, in the audit trail.

    Raises:
        Conflict: there is a super-admin already.
        NotFound: the code is wrong, or was replaced by a newer one.
    """
    taken = await take_setup_code(conn, code_hash)
    # Checked after the code: a transaction that waited for the code's row sees here what the one before it did.
    if await super_admin_exists(conn):
        raise Conflict("this server has been set up already")
    if not taken:
        raise NotFound("this is not the setup code, or a newer one was printed")
    user = await _arrive(conn, user_id, name, stamp)
    await _appoint(conn, user_id, Role.SUPER_ADMIN, stamp)
    return user


async def read_rights_of(
    conn: Connection, user_id: str, now_ms: int
) -> tuple[Sequence[Grant], Sequence[Entitlement]] | None:
    """(every grant of a user, including expired ones; the rights that they have bought and that have not ended).

    None when there is no such user.
    """
    if await read_user(conn, user_id) is None:
        return None
    return await read_grants(conn, user_id), await live_of_user(conn, user_id, now_ms)


class _Recorded(msgspec.Struct, frozen=True, rename="camel"):
    """A grant as the audit trail keeps it; these names cross the wire."""

    negated: bool
    expires_at_ms: int | None
    value: float | None
    unit: str | None


def _grant_detail(node: str, before: Grant | None, after: Grant | None, *, ended: int = 0) -> bytes:
    def recorded(grant: Grant | None) -> _Recorded | None:
        return (
            None if grant is None else _Recorded(grant.negated, grant.expires_at_ms, grant.value, grant.unit)
        )

    detail = {"node": node, "before": recorded(before), "after": recorded(after)}
    return msgspec.json.encode(detail | {"boughtEnded": ended} if ended else detail)


async def _arrive(conn: Connection, user_id: str, name: str, stamp: Stamp) -> User:
    user = await arrive(conn, user_id, name, issued_at_s=stamp.at_ms // 1000, now_ms=stamp.at_ms)
    if user is None:
        raise NotFound("this user has just been erased")
    return user


async def _appoint(conn: Connection, user_id: str, role: Role, stamp: Stamp) -> None:
    await add_role(conn, user_id, role.value, stamp.at_ms)
    await write_audit(conn, stamp, "role.added", target_id=user_id, detail=_role_detail(role))
    if role is Role.SUPER_ADMIN:
        await close_setup(conn)


def _role_detail(role: Role) -> bytes:
    return msgspec.json.encode({"role": role.value})
