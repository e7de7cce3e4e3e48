"""Admin routes: looking up users, and their permissions (service-api §4 Admin, contract §2).

Looking up needs `admin:user:view`; permissions are for super-admins only (service-api §5 rule 8).
"""

from typing import Annotated, Literal

import msgspec

from actors.bounds import Bigint, IdText, ShortText, ruled
from actors.errors import Conflict, Forbidden, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import ObjectId, UserId, parse_uuid
from actors.time import iso, iso_or_none, parse_iso
from actors.users.permissions import NODE_MAX_LENGTH, is_node
from actors.users.quantities import Quantity
from actors.users.units_revocation import revoke_tokens_of
from actors.users.units_rights import (
    UNCHANGED,
    GrantChange,
    Unchanged,
    change_grant,
    quantity_of,
    read_rights_of,
    revoke_grant,
    withdraw_node,
)
from persistence.shop.entitlements import Entitlement
from persistence.users.permissions import Grant, read_catalog
from persistence.users.users import User, find_by_prefix, read_user
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY
from routes.users.reactions import CatalogNodeOf, RightsOf, TokensOf

USER_VIEW = "admin:user:view"

KEPT = "private, no-cache"
"""Cache-Control of the catalog of nodes: asked again each time, and answered with a 304 where nothing has changed."""


class UserLookup(Wire, frozen=True):
    """Which users.

    Args:
        query: the beginning of a name, case ignored, or a whole uuid.
    """

    query: str
    limit: Annotated[int, Clamp(1, 50)] = 10


class UserFound(Wire, frozen=True):
    """One user found by a lookup."""

    user_id: str
    name: str
    home_region: str | None
    last_seen_at: str | None


class UsersFound(Wire, frozen=True):
    """The users found by a lookup, sorted by name."""

    items: list[UserFound]


class UserDetail(Wire, frozen=True):
    """Everything that admins see of a user.

    Args:
        last_region: the region that was reported last as theirs; null if none was.
        first_joined_at: when they were first seen; null until then.
        last_region_at: when `lastRegion` was reported; null if none was.
    """

    user_id: str
    name: str
    home_region: str | None
    last_region: str | None
    created_at: str
    updated_at: str
    first_joined_at: str | None
    last_seen_at: str | None
    last_region_at: str | None
    allow_friend_requests: bool


class PermissionNode(Wire, frozen=True):
    """One node of the catalog.

    Args:
        node: the permission.
    """

    id: ObjectId
    node: str


class Nodes(Wire, frozen=True):
    """The catalog: every node that the permission store knows."""

    items: list[PermissionNode]


class Amount(Wire, frozen=True):
    """A number with a unit.

    Args:
        value: 0 and up.
        unit: bytes, kib, mib, gib, tib, seconds, minutes, hours, days, years, count or messages, case ignored, or a
            common spelling (`gb`, `min`, `msgs`); answers always have the listed one.
    """

    value: float
    unit: IdText


class UserGrant(Wire, frozen=True):
    """A permission of a user.

    Args:
        node: a node, or a pattern whose `*` stands for exactly one segment.
        negated: whether it denies the node instead of granting it.
        expires_at: from when it has no effect; null = never.
        value: the quantity that it carries, or null.
        source: who gave it: an admin, or the shop.
        purchase_id: the purchase that gave it, or null.
    """

    node: str
    negated: bool
    expires_at: str | None
    value: int | float | Amount | None
    source: Literal["admin", "shop"]
    purchase_id: str | None


class UserGrants(Wire, frozen=True):
    """Every grant of a user, expired ones too, and what they have bought."""

    user_id: str
    items: list[UserGrant]


class GrantBody(Wire, frozen=True):
    """A permission to grant or change.

    Args:
        node: a node, or a pattern.
        negated: whether it denies the node instead of granting it.
        expires_at: left out or null = it never expires.
        value: left out = the quantity stays; null = it is cleared.
    """

    node: Annotated[ShortText, ruled(minLength=1, maxLength=NODE_MAX_LENGTH)]
    negated: bool = False
    expires_at: IdText | None = None
    value: Bigint | float | Amount | msgspec.UnsetType | None = msgspec.UNSET


class UserGranted(Wire, frozen=True):
    """The grant after the change.

    Args:
        node: a node, or a pattern.
        negated: whether it denies the node instead of granting it.
        expires_at: from when it has no effect; null = never.
        value: the quantity that it carries; null for none.
    """

    user_id: str
    node: str
    negated: bool
    expires_at: str | None
    value: int | float | Amount | None


class RemovedGrant(Wire, frozen=True):
    """What came of removing a node from a user.

    Args:
        removed: how many grants were removed, bought ones too.
    """

    removed: int


class WithdrawnNode(Wire, frozen=True):
    """How many nodes were taken out of the catalog.

    Args:
        removed: 1, or 0 if the catalog did not have the node.
    """

    removed: int


async def known(call: Call, user_id: UserId) -> None:
    """Guard: requires that there is such a user; checked again in the transaction.

    Raises:
        NotFound: there is none.
    """
    await call.service.of(USER_DIRECTORY).user_of(user_id)


@endpoint("GET", "/v1/admin/users/lookup", needs=USER_VIEW)
async def look_up_users(call: Call, query: UserLookup) -> UsersFound:
    """Finds users by the beginning of their name, or one user by uuid."""
    user_id = parse_uuid(query.query)
    if user_id is not None:
        user = await call.service.database.read(read_user, user_id)
        found = [] if user is None else [user]
    else:
        found = await call.service.database.read(find_by_prefix, query.query, query.limit)
    seen = call.service.of(USER_DIRECTORY).last_seen_of
    return UsersFound(
        [UserFound(user.id, user.name, user.home_region, iso_or_none(seen(user))) for user in found]
    )


@endpoint("GET", "/v1/admin/users/{userId}", needs=USER_VIEW, refusals=(NotFound,))
async def read_user_detail(call: Call, user_id: UserId) -> UserDetail:
    """Answers the details of one user; an unknown one is a 404."""
    user = await call.service.database.read(read_user, user_id)
    if user is None:
        raise NotFound("no such user")
    return _detail(user, call.service.of(USER_DIRECTORY).last_seen_of(user))


@endpoint("GET", "/v1/admin/permissions", needs=SUPER_ADMIN, cacheable=KEPT)
async def list_permissions(call: Call) -> Nodes:
    """Lists the catalog: every node that the permission store knows."""
    catalog = await call.service.database.read(read_catalog)
    return Nodes([PermissionNode(ObjectId(one.id), one.node) for one in catalog])


@endpoint(
    "DELETE", "/v1/admin/permissions/{node}", needs=SUPER_ADMIN, refusals=(NotFound, Forbidden, Conflict)
)
async def withdraw_permission(call: Call, node: str) -> WithdrawnNode:
    """Takes a node of chat, friends or totems out of the catalog: it is everybody's again, as before it was first
    granted, but for those who were denied it. Grants of it stay; the next one to be given puts it back.

    A node of another kind is a 409, a malformed one a 404.
    """
    if not is_node(node):
        raise NotFound("no such permission")
    return await change(
        call, withdraw_node, node, stamp_of(call), about=CatalogNodeOf(node), shape=WithdrawnNode
    )


@endpoint("GET", "/v1/admin/users/{userId}/permissions", needs=SUPER_ADMIN, refusals=(NotFound,))
async def list_user_permissions(call: Call, user_id: UserId) -> UserGrants:
    """Lists the grants of a user, expired ones too, and what they have bought, but not what roles and defaults give; an
    unknown one is a 404."""
    rights = await call.service.database.read(read_rights_of, user_id, call.now_ms)
    if rights is None:
        raise NotFound("no such user")
    grants, bought = rights
    return UserGrants(user_id, [*map(_granted, grants), *map(_bought, bought)])


@endpoint(
    "POST",
    "/v1/admin/users/{userId}/permissions",
    needs=SUPER_ADMIN,
    status=201,
    refusals=(NotFound, Forbidden, Invalid),
    guard=known,
)
async def grant_permission(call: Call, user_id: UserId, body: GrantBody) -> UserGranted:
    """Grants a node to a user, or changes their grant of it; adds the node to the catalog if it is new.

    A node of chat, friends or totems that the catalog does not know is everybody's: once it is granted to anybody, all
    others need a grant too, until it is withdrawn (`DELETE /v1/admin/permissions/{node}`). `negated` takes it from this
    user alone, and leaves the catalog as it is. Whoever is dismissed while the request arrives grants nothing (403).
    """
    wish = GrantChange(
        user_id,
        body.node,
        body.negated,
        _expiry(body.expires_at),
        _quantity(body),
        call.new_id(),
    )

    def shape(changed: Grant) -> UserGranted:
        grant = _granted(changed)
        return UserGranted(user_id, grant.node, grant.negated, grant.expires_at, grant.value)

    return await change(call, change_grant, wish, stamp_of(call), about=RightsOf(user_id), shape=shape)


@endpoint(
    "DELETE", "/v1/admin/users/{userId}/permissions/{node}", needs=SUPER_ADMIN, refusals=(NotFound, Forbidden)
)
async def remove_permission(call: Call, user_id: UserId, node: str) -> RemovedGrant:
    """Removes a grant of a user, and ends what they have bought of the node, which stays in the catalog. A malformed
    node is a 404."""
    if not is_node(node):
        raise NotFound("no such permission")
    return await change(
        call, revoke_grant, user_id, node, stamp_of(call), about=RightsOf(user_id), shape=RemovedGrant
    )


@endpoint(
    "POST",
    "/v1/admin/users/{userId}/revoke-tokens",
    needs=SUPER_ADMIN,
    refusals=(NotFound, Forbidden, Conflict),
)
async def revoke_tokens_of_user(call: Call, user_id: UserId) -> None:
    """Revokes every token of a user issued so far; live sockets that were opened with one close with 4401."""
    await change(call, revoke_tokens_of, user_id, stamp_of(call), about=TokensOf(user_id))


def amount_of(value: float | None, unit: str | None) -> int | float | Amount | None:
    """A stored quantity as clients see it: `value` alone, or with its `unit`; None where there is none."""
    if value is None:
        return None
    number = Quantity(value, unit).number
    return number if unit is None else Amount(number, unit)


def _detail(user: User, last_seen_at_ms: int | None) -> UserDetail:
    return UserDetail(
        user.id,
        user.name,
        user.home_region,
        user.last_region,
        iso(user.created_at_ms),
        iso(user.updated_at_ms),
        iso_or_none(user.first_joined_at_ms),
        iso_or_none(last_seen_at_ms),
        iso_or_none(user.last_region_at_ms),
        user.allow_friend_requests,
    )


def _granted(grant: Grant) -> UserGrant:
    value = amount_of(grant.value, grant.unit)
    return UserGrant(grant.node, grant.negated, iso_or_none(grant.expires_at_ms), value, "admin", None)


def _bought(one: Entitlement) -> UserGrant:
    value = amount_of(one.value, one.unit)
    return UserGrant(one.node, False, iso_or_none(one.ends_at_ms), value, "shop", one.purchase_id)


def _quantity(body: GrantBody) -> Quantity | Unchanged | None:
    if isinstance(body.value, msgspec.UnsetType):
        return UNCHANGED
    if body.value is None:
        return None
    if isinstance(body.value, Amount):
        return quantity_of(body.node, body.value.value, body.value.unit)
    return quantity_of(body.node, body.value, None)


def _expiry(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_iso(text)
    except ValueError as error:
        raise Invalid(FieldError("/expiresAt", "BAD_FORMAT", f"the timestamp is {error}")) from None
