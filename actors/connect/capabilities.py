"""What a user may do with one game server (contract §2): asked for beside the permission node of a route.

| role     | settings | commands | members | publication | may |
|----------|----------|----------|---------|-------------|-----|
| owner    | rw       | rw       | rw      | w           | everything, and pass the server on |
| admin    | rw       | rw       | rw      | w           | all but passing it on |
| operator | rw       | rw       | r       |             | run it |
| viewer   | r        | r        | r       |             | look |

Each role has all of those below it, and a member has capabilities of their own beside the role's. The owner is one, and
owns the server's network as well: a server is in a network of its owner's, or in none.
"""

from collections.abc import Collection
from typing import Literal, TypeAlias

from actors.connect.state import State
from actors.errors import Forbidden, NotFound
from persistence.connect.rows import StandingRow

Role: TypeAlias = Literal["owner", "admin", "operator", "viewer"]

Capability: TypeAlias = Literal[
    "server.settings.read",
    "server.settings.write",
    "server.commands.read",
    "server.commands.write",
    "server.members.read",
    "server.members.write",
    "server.publication.write",
]

CAPABILITIES = frozenset(
    {
        "server.settings.read",
        "server.settings.write",
        "server.commands.read",
        "server.commands.write",
        "server.members.read",
        "server.members.write",
        "server.publication.write",
    }
)
"""All there are; the owner has them."""

OWNER = "owner"

READ_MEMBERS, WRITE_MEMBERS = "server.members.read", "server.members.write"

_VIEWER = frozenset({"server.settings.read", "server.commands.read", READ_MEMBERS})
_OPERATOR = _VIEWER | {"server.settings.write", "server.commands.write"}

OF_ROLE: dict[str, frozenset[str]] = {
    OWNER: CAPABILITIES,
    "admin": CAPABILITIES,
    "operator": _OPERATOR,
    "viewer": _VIEWER,
}
"""{role: its capabilities}."""


def capabilities_of(state: State, user_id: str) -> frozenset[str]:
    """What a user may do; nothing at all for a stranger."""
    member = state.members.get(user_id)
    if member is None:
        return held_by(user_id, StandingRow(state.row.owner_id, None, ()))
    return held_by(user_id, StandingRow(state.row.owner_id, member.role, member.capabilities))


def held_by(user_id: str, standing: StandingRow | None) -> frozenset[str]:
    """What a user may do, from what they are to the server; nothing at all where there is none."""
    if standing is None or standing.owner_id is None:
        return frozenset()
    if standing.owner_id == user_id:
        return CAPABILITIES
    return frozenset() if standing.role is None else OF_ROLE[standing.role].union(standing.capabilities)


def require(state: State, user_id: str | None, capability: str) -> None:
    """Pass the server itself, and users who have the capability.

    Args:
        user_id: None for the server itself.

    Raises:
        NotFound: a stranger.
        Forbidden: somebody who belongs here, and lacks it.
    """
    if user_id is not None:
        require_held(capabilities_of(state, user_id), capability)


def require_held(held: Collection[str], capability: str) -> None:
    """Pass who holds the capability among others.

    Raises:
        NotFound: they hold none: a stranger.
        Forbidden: somebody who belongs here, and lacks it.
    """
    if not held:
        raise NotFound
    if capability not in held:
        raise Forbidden(f"missing {capability}", permission=capability)


def may_grant(state: State, user_id: str, role: str, capabilities: Collection[str]) -> bool:
    """Whether a user may make others this: nobody gives more than they hold, and the owner alone makes owners.

    Args:
        role: what the others would become.
    """
    held = capabilities_of(state, user_id)
    if WRITE_MEMBERS not in held or (role == OWNER and state.row.owner_id != user_id):
        return False
    return OF_ROLE[role].union(capabilities) <= held


def require_grant(state: State, user_id: str, role: str, capabilities: Collection[str]) -> None:
    """Pass who may make others this.

    Args:
        role: what the others would become.

    Raises:
        NotFound: a stranger.
        Forbidden: they may not write members, or it is more than they hold.
    """
    require(state, user_id, WRITE_MEMBERS)
    if not may_grant(state, user_id, role, capabilities):
        raise Forbidden("this is more than you may do yourself", permission=WRITE_MEMBERS)
