"""What users may do: nodes, roles, grants, quantities. Pure rules; contract §2, service-api §5.

In this order they decide about one node:

1. a negated grant that covers it: no;
2. a grant that covers it: yes;
3. a role that has it: yes;
4. a node of chat, friends or totem that the catalog does not know: yes (service-api §5 rule 6);
5. otherwise: no.

An expired grant counts as absent. A quota node carries a number and gates nothing. The catalog of rule 4 is always one
that the store has answered with: while the database cannot be asked, users have no `Access` and so no rights (503, not
yes).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum

from actors.users.quantities import Quantity
from persistence.users.permissions import Grant

NODE_MAX_LENGTH = 200
"""The longest node, in characters; the longest built-in has 25, extension ids are added to a prefix of 23."""

_SEGMENT = r"(?:\*|[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_])?)"
_NODE = re.compile(rf"{_SEGMENT}(?::{_SEGMENT})*")


class Role(StrEnum):
    """The built-in roles. Every user has `USER`; the others are stored in rows. No role includes another."""

    USER = "user"
    MODERATOR = "moderator"
    ADMIN = "admin"
    SUPER_ADMIN = "super-admin"


ROLE_LABELS = {
    Role.SUPER_ADMIN: "Super Admin",
    Role.ADMIN: "Admin",
    Role.MODERATOR: "Moderator",
    Role.USER: "User",
}
"""Highest first: `highestRoleLabel` is the label of the first role in this order that the user has."""

# {role: its nodes}; a super-admin has all and needs no row here.
ROLE_NODES: dict[Role, frozenset[str]] = {
    Role.USER: frozenset(
        {
            "connect:commands:read",
            "connect:commands:write",
            "connect:settings:read",
            "connect:settings:write",
            "connect:members:read",
            "connect:members:write",
            "social:voice.read",
            "social:voice.write",
            "versions:read",
        }
    ),
    Role.MODERATOR: frozenset({"capes:moderate", "social:chat.moderate", "social:voice.manage"}),
    Role.ADMIN: frozenset(
        {
            "admin:user:view",
            "admin:connect:manage",
            "shop:manage",
            "news:write",
            "ip:geo.read",
            "versions:write",
            "versions:publish",
            "versions:track",
        }
    ),
}

ABSENT_GRANTS = frozenset(
    {
        "social:chat.read",
        "social:chat.write",
        "social:friends.read",
        "social:friends.write",
        "social:friends.edit",
        "totem:read",
        "totem:write",
    }
)
"""Nodes that every user has as long as the catalog does not know them (service-api §5 rule 6, contract §2 Gate)."""

QUOTA_UNITS: dict[str, frozenset[str | None]] = {
    "social:friends.max": frozenset({"count", None}),
    "social:groups.max": frozenset({"count", None}),
    "profile-share.max": frozenset({"count", None}),
    "profile:banners.max": frozenset({"count", None}),
    "social:chat.send": frozenset({"messages", "count", None}),
    "quests:rerolls": frozenset({"count", None}),
}
"""Quota nodes and the units they may carry; None is a bare number (service-api §2 User permission grant)."""

OTHER_NODES = frozenset({"connect:social.act", "social:voice.node", "social:servers.read.others"})
"""Nodes of routes that no built-in role has; in the catalog from the start, so that admins can find them."""

BUILT_IN_NODES = frozenset().union(*ROLE_NODES.values(), OTHER_NODES, QUOTA_UNITS)
"""The catalog of a fresh install: it has none of `ABSENT_GRANTS`."""


def is_node(text: str) -> bool:
    """Whether a text is a well-formed node: segments between colons, each a name or a lone `*`.

    A name has letters, digits, `_`, and inside it `.` and `-`.
    """
    return len(text) <= NODE_MAX_LENGTH and _NODE.fullmatch(text) is not None


def covers(pattern: str, node: str) -> bool:
    """Whether a granted pattern applies to a node; a `*` segment matches exactly one segment.

    Args:
        pattern: a node, possibly with `*` segments.
        node: a node without `*` segments.
    """
    if "*" not in pattern:
        return pattern == node
    wanted, given = pattern.split(":"), node.split(":")
    return len(wanted) == len(given) and all(
        one in ("*", other) for one, other in zip(wanted, given, strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """What a user may do until `valid_until_ms`. Users with the same rights may share one object; changed rights are
    another object, so that `is` tells whether anything changed.

    Args:
        roles: the user's roles, `Role.USER` among them.
        granted, negated: the nodes and patterns of grants that have not expired.
        catalog: every node that the store knows; it may grow.
        quotas: quantities of grants that have not expired and are not negated.
        valid_until_ms: epoch milliseconds at which the next right expires or begins, or None.
    """

    roles: frozenset[Role]
    granted: frozenset[str]
    negated: frozenset[str]
    catalog: AbstractSet[str]
    quotas: Mapping[str, Quantity]
    valid_until_ms: int | None = None
    _of_roles: frozenset[str] = field(init=False, repr=False)
    _held: tuple[str, ...] | None = field(init=False, repr=False, default=None)
    _capped: "Access | None" = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        # Read in every request, so it is computed once per access.
        of_roles: frozenset[str] = frozenset().union(*(ROLE_NODES.get(role, ()) for role in self.roles))
        object.__setattr__(self, "_of_roles", of_roles)

    @property
    def held(self) -> tuple[str, ...]:
        """All nodes that the user is allowed and that are not quotas, sorted, with the user's own patterns. Always
        returns the same object.
        """
        if self._held is None:
            named = (self._known() | ABSENT_GRANTS | self.granted) - QUOTA_UNITS.keys()
            nodes = (
                node for node in named if ("*" not in node or node in self.granted) and self.allows(node)
            )
            held = tuple(sorted(nodes))
            object.__setattr__(self, "_held", held)
            return held
        return self._held

    def _known(self) -> AbstractSet[str]:
        """The nodes of the catalog that may be held; all of it only where a role or a pattern may give any of them.

        Anybody may make the catalog larger, and most users have no right to what is added.
        """
        if self.is_super_admin or any("*" in node for node in self.granted):
            return self.catalog
        return self._of_roles & self.catalog

    @property
    def is_super_admin(self) -> bool:
        """Whether the user is a super-admin, the only ones who edit permissions (service-api §5 rule 8)."""
        return Role.SUPER_ADMIN in self.roles

    @property
    def is_moderator(self) -> bool:
        """Whether the user has the role Moderator or a higher one."""
        return len(self.roles) > 1

    @property
    def highest_role_label(self) -> str:
        """The label of the highest role, `User` at least."""
        return highest_label(self.roles)

    def capped(self) -> "Access":
        """This access without the super-admin role and without grants of patterns that begin with `*`; itself where
        it has neither. Always returns the same object.
        """
        if self._capped is None:
            roles = self.roles - {Role.SUPER_ADMIN}
            granted = frozenset(node for node in self.granted if not node.startswith("*"))
            same = roles == self.roles and granted == self.granted
            capped = self if same else replace(self, roles=roles, granted=granted)
            object.__setattr__(self, "_capped", capped)
            return capped
        return self._capped

    def allows(self, node: str) -> bool:
        """Whether the user may do what `node` gates, by the module's five rules; a quota node gates nothing."""
        if node in QUOTA_UNITS:
            return True
        if self.negated and _any_covers(self.negated, node):
            return False
        if self.granted and _any_covers(self.granted, node):
            return True
        if node in self._of_roles or Role.SUPER_ADMIN in self.roles:
            return True
        return node in ABSENT_GRANTS and node not in self.catalog

    def quota(self, node: str) -> Quantity | None:
        """The quantity granted for a quota node, or None: the default applies. Patterns grant no quantities."""
        return self.quotas.get(node)


def highest_label(roles: Iterable[Role]) -> str:
    """The label of the highest of these roles, `User` at least."""
    given = {Role.USER, *roles}
    return next(label for role, label in ROLE_LABELS.items() if role in given)


def moved_by(access: Access, node: str) -> bool:
    """Whether a node that comes into the catalog or leaves it changes an access, which is rare.

    It does when the node was granted by being absent, when a granted pattern covers it, and for a super-admin.
    """
    if node in ABSENT_GRANTS or access.is_super_admin:
        return True
    return any("*" in pattern and covers(pattern, node) for pattern in access.granted)


def capped_to(access: Access, *, capped: bool) -> Access:
    """The access, capped if the token's issuer may not speak for super-admins.

    Args:
        capped: whether the issuer may not speak for them.
    """
    return access.capped() if capped else access


def _any_covers(patterns: frozenset[str], node: str) -> bool:
    return node in patterns or any("*" in pattern and covers(pattern, node) for pattern in patterns)


def resolve(roles: Iterable[str], grants: Iterable[Grant], catalog: AbstractSet[str], now_ms: int) -> Access:
    """Compute the access that a user's rows give at `now_ms`.

    Args:
        roles: the names of the user's roles as stored; `Role.USER` is added.
        grants: every grant of the user, expired ones too, and what was bought; of several quantities of one node the
            largest counts.
        catalog: every node that the store knows.
        now_ms: epoch milliseconds; a grant is expired from its `expires_at_ms` on.
    """
    lasting = [grant for grant in grants if grant.expires_at_ms is None or grant.expires_at_ms > now_ms]
    alive = [grant for grant in lasting if grant.begins_at_ms <= now_ms]
    turns_ms = [grant.expires_at_ms for grant in alive if grant.expires_at_ms is not None]
    turns_ms += [grant.begins_at_ms for grant in lasting if grant.begins_at_ms > now_ms]
    return Access(
        roles=frozenset({Role.USER, *(Role(role) for role in roles)}),
        granted=frozenset(grant.node for grant in alive if not grant.negated),
        negated=frozenset(grant.node for grant in alive if grant.negated),
        catalog=catalog,
        quotas=_quotas(alive),
        valid_until_ms=min(turns_ms, default=None),
    )


def _quotas(grants: Sequence[Grant]) -> dict[str, Quantity]:
    negated = frozenset(grant.node for grant in grants if grant.negated)
    found: dict[str, Quantity] = {}
    for grant in grants:
        if grant.value is not None and not _any_covers(negated, grant.node):
            quantity = Quantity(grant.value, grant.unit)
            other = found.get(grant.node, quantity)
            found[grant.node] = max(other, quantity, key=lambda one: one.in_base_unit)
    return found
