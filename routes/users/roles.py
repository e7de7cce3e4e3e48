"""Roles: what each may do, giving them to users, and taking them; for super-admins (contract §2)."""

from typing import get_args

import msgspec

from actors.change import Change
from actors.errors import Conflict, Forbidden, NotFound
from actors.ids import UserId
from actors.users.permissions import ROLE_LABELS, Access, Role, highest_label
from actors.users.units_rights import appoint, dismiss
from persistence.connection import Unit
from persistence.users.audit import Stamp
from persistence.users.permissions import nodes_of, read_catalog
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire
from routes.users.listing import GivenRole
from routes.users.reactions import RightsOf
from routes.users.rights import AnyRole

_ROLE = "/v1/admin/users/{userId}/roles/{role}"


class UserRoles(Wire, frozen=True):
    """The roles of a user after the change.

    Args:
        roles: those that were given to them, sorted.
        highest_role_label: the label of the highest, `User` at least.
    """

    user_id: str
    roles: list[GivenRole]
    highest_role_label: str


class RoleRights(Wire, frozen=True):
    """A role, and what whoever has it and no grants may do.

    Args:
        role: the role.
        label: its name for people.
        nodes: sorted; quota nodes gate nothing and are left out.
    """

    role: AnyRole
    label: str
    nodes: tuple[str, ...]


class Roles(Wire, frozen=True):
    """All roles, the one that everybody has first."""

    items: list[RoleRights]


@endpoint("GET", "/v1/admin/roles", needs=SUPER_ADMIN)
async def list_roles(call: Call) -> Roles:
    """Lists the roles, each with the nodes that somebody holds who has it, as everybody the role `user`, and no grants
    of their own. Nodes that the catalog does not know are among them where their absence grants them."""
    catalog = nodes_of(await call.service.database.read(read_catalog))
    return Roles([RoleRights(role.value, ROLE_LABELS[role], _held(role, catalog)) for role in Role])


def _held(role: Role, catalog: frozenset[str]) -> tuple[str, ...]:
    nobody = frozenset[str]()
    return Access(frozenset({Role.USER, role}), nobody, nobody, catalog, {}).held


@endpoint("PUT", _ROLE, needs=SUPER_ADMIN, refusals=(NotFound, Forbidden))
async def give_role(call: Call, user_id: UserId, role: str) -> UserRoles:
    """Gives a user the role `moderator`, `admin` or `super-admin`; without effect when they have it. It counts at once
    for requests, and within 2 s on open sockets. An unknown role or user is a 404."""
    return await _change(call, appoint, user_id, role)


@endpoint("DELETE", _ROLE, needs=SUPER_ADMIN, refusals=(NotFound, Forbidden, Conflict))
async def take_role(call: Call, user_id: UserId, role: str) -> UserRoles:
    """Takes a role from a user; without effect when they lack it. It counts at once for requests, and within 2 s on
    open sockets. The last super-admin stays one (409). An unknown role or user is a 404."""
    return await _change(call, dismiss, user_id, role)


async def _change(
    call: Call, unit: Unit[UserId, Role, Stamp, Change[list[str]]], user_id: UserId, role: str
) -> UserRoles:
    if role not in get_args(GivenRole):
        raise NotFound("no such role")

    def shape(roles: list[str]) -> UserRoles:
        given = [msgspec.convert(one, GivenRole) for one in roles]
        return UserRoles(user_id, given, highest_label(map(Role, roles)))

    return await change(call, unit, user_id, Role(role), stamp_of(call), about=RightsOf(user_id), shape=shape)
