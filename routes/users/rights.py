"""What a user may do, node by node, and why; for super-admins (service-api §5, contract §2)."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from actors.errors import NotFound
from actors.ids import UserId
from actors.time import iso, iso_or_none
from actors.users.permissions import NODE_MAX_LENGTH, QUOTA_UNITS, Role, highest_label, is_node
from actors.users.reasons import Decider, Right, Verdict, explain, nodes_to_explain
from persistence.connection import Connection
from persistence.shop.entitlements import live_of_user
from persistence.users.audit import Given, given_to
from persistence.users.permissions import Grant, nodes_of, read_catalog, read_grants, read_roles
from persistence.users.users import read_user
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import bad_parameter
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire
from routes.users.admin import Amount, amount_of

AnyRole = Literal["user", "moderator", "admin", "super-admin"]


class RightsQuery(Wire, frozen=True):
    """Which verdicts.

    Args:
        node: only the verdict about this node, whether or not the catalog has it; left out = all.
    """

    node: Annotated[str, msgspec.Meta(max_length=NODE_MAX_LENGTH)] | None = None


class Reason(Wire, frozen=True):
    """What decides about a node.

    Args:
        by: `denied`: a negated grant; `granted`: a grant; `bought`: a purchase; `role`; `default`: the node is not in
            the catalog, which grants it, or a quota node has its default; `nothing`: nobody has granted it.
        pattern: the grant's node or pattern, or null.
        role: the lowest role that gives it, or null.
        purchase_id: the purchase that gave it, or null.
        expires_at: when the grant ends, or null.
        given_at: when the grant or role was last given, as the audit trail has it, or null.
        given_by: who gave it; null = the command line, or nobody.
        given_by_name: what they are called now, or null.
    """

    by: Decider
    pattern: str | None = None
    role: AnyRole | None = None
    purchase_id: str | None = None
    expires_at: str | None = None
    given_at: str | None = None
    given_by: str | None = None
    given_by_name: str | None = None


class NodeVerdict(Wire, frozen=True):
    """Whether the user may do what a node gates.

    Args:
        node: the permission.
        allowed: a quota node gates nothing: it is always true there.
        quota: whether it is a quota node.
        value: the quantity that it carries; null = none, which for a quota node is the default.
        reason: what decides it.
    """

    node: str
    allowed: bool
    quota: bool
    value: int | float | Amount | None
    reason: Reason


class UserRights(Wire, frozen=True):
    """What a user may do, and why.

    Args:
        roles: all roles of the user, the one that everybody has among them.
        highest_role_label: the highest role's name for people.
        items: by node.
    """

    user_id: str
    roles: list[AnyRole]
    highest_role_label: str
    items: list[NodeVerdict]


class _Found(msgspec.Struct, frozen=True):
    """The rows that decide."""

    roles: frozenset[Role]
    rights: tuple[Right, ...]
    catalog: frozenset[str]
    given: Mapping[tuple[str, str], Given]


@endpoint("GET", "/v1/admin/users/{userId}/rights", needs=SUPER_ADMIN, refusals=(NotFound,))
async def read_user_rights(call: Call, user_id: UserId, query: RightsQuery) -> UserRights:
    """Answers for every node of the catalog whether a user holds it, and what decides: a grant, a purchase, a role, or
    the node's absence. An unknown user is a 404."""
    if query.node is not None and ("*" in query.node or not is_node(query.node)):
        raise bad_parameter("node", "is not a node")
    found = await call.service.database.read(_read, user_id, call.now_ms)
    if found is None:
        raise NotFound("no such user")
    nodes = nodes_to_explain(found.catalog, found.rights) if query.node is None else [query.node]
    verdicts = [explain(node, found.roles, found.rights, found.catalog, call.now_ms) for node in nodes]
    return UserRights(
        user_id,
        [role.value for role in Role if role in found.roles],
        highest_label(found.roles),
        [_shown(verdict, found) for verdict in verdicts],
    )


async def _read(conn: Connection, user_id: UserId, now_ms: int) -> _Found | None:
    if await read_user(conn, user_id) is None:
        return None
    bought = await live_of_user(conn, user_id, now_ms)
    return _Found(
        frozenset({Role.USER, *map(Role, await read_roles(conn, user_id))}),
        (
            *(Right(grant) for grant in await read_grants(conn, user_id)),
            *(
                Right(
                    Grant(one.node, False, one.ends_at_ms, one.value, one.unit, one.begins_at_ms),
                    one.purchase_id,
                )
                for one in bought
            ),
        ),
        nodes_of(await read_catalog(conn)),
        await given_to(conn, user_id),
    )


def _shown(verdict: Verdict, found: _Found) -> NodeVerdict:
    quantity = verdict.quantity
    return NodeVerdict(
        verdict.node,
        verdict.allowed,
        verdict.node in QUOTA_UNITS,
        None if quantity is None else amount_of(quantity.value, quantity.unit),
        _reason(verdict, found.given),
    )


def _reason(verdict: Verdict, given: Mapping[tuple[str, str], Given]) -> Reason:
    right, role = verdict.right, verdict.role
    told = None
    if role is not None:
        told = given.get(("role", role.value))
    elif right is not None and right.purchase_id is None:
        told = given.get(("node", right.grant.node))
    return Reason(
        verdict.decider,
        pattern=None if right is None else right.grant.node,
        role=None if role is None else role.value,
        purchase_id=None if right is None else right.purchase_id,
        expires_at=None if right is None else iso_or_none(right.grant.expires_at_ms),
        given_at=None if told is None else iso(told.at_ms),
        given_by=None if told is None else told.actor_id,
        given_by_name=None if told is None else told.actor_name,
    )
