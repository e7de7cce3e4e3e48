"""What a user may do with one game server (contract §2), checked in addition to the permission node of a route.

| role     | settings | commands | members | publication | may |
|----------|----------|----------|---------|-------------|-----|
| owner    | rw       | rw       | rw      | w           | everything, and pass the server on |
| admin    | rw       | rw       | rw      | w           | all but passing it on |
| operator | rw       | rw       | r       |             | run it |
| viewer   | r        | r        | r       |             | look |

Each role has all capabilities of those below it; a member can have further ones beside the role's. A server has one
owner, who also owns the server's network: a server is in a network of its owner's, or in none.
"""

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

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

CAPABILITIES: frozenset[str] = frozenset(get_args(Capability))
"""All capabilities; the owner has them all."""

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
    """A user's capabilities on a server, from its state; empty for a stranger."""
    member = state.members.get(user_id)
    if member is None:
        return held_by(user_id, StandingRow(state.row.owner_id, None, ()))
    return held_by(user_id, StandingRow(state.row.owner_id, member.role, member.capabilities))


def held_by(user_id: str, standing: StandingRow | None) -> frozenset[str]:
    """A user's capabilities on a server, from its rows; empty for a stranger.

    Args:
        standing: the server's owner, and the user's role and capabilities; None where there is no such server.
    """
    if standing is None or standing.owner_id is None:
        return frozenset()
    if standing.owner_id == user_id:
        return CAPABILITIES
    return frozenset() if standing.role is None else OF_ROLE[standing.role].union(standing.capabilities)


def require(state: State, user_id: str | None, capability: str) -> None:
    """Check that a user has a capability; the server itself always has it.

    Args:
        user_id: None for the server itself.
        capability: one of `CAPABILITIES`.

    Raises:
        NotFound: the user is a stranger to the server.
        Forbidden: the user belongs to the server, and lacks the capability.
    """
    if user_id is not None:
        require_held(capabilities_of(state, user_id), capability)


def require_held(held: Collection[str], capability: str) -> None:
    """Check that a capability is among those held.

    Args:
        held: the capabilities that the caller holds; empty for a stranger.
        capability: one of `CAPABILITIES`.

    Raises:
        NotFound: none is held: the caller is a stranger.
        Forbidden: others are held, but not this one.
    """
    if not held:
        raise NotFound
    if capability not in held:
        raise Forbidden(f"missing {capability}", permission=capability)


def may_grant(state: State, user_id: str, role: str, capabilities: Collection[str]) -> bool:
    """Whether a user may give another user a role: they need `server.members.write` and must hold all that they give.
    Only the owner grants `owner`.

    Args:
        role: a key of `OF_ROLE`.
        capabilities: further capabilities, beside those of the role.
    """
    held = capabilities_of(state, user_id)
    if WRITE_MEMBERS not in held or (role == OWNER and state.row.owner_id != user_id):
        return False
    return OF_ROLE[role].union(capabilities) <= held


def require_grant(state: State, user_id: str, role: str, capabilities: Collection[str]) -> None:
    """Check that a user may give another user a role.

    Args:
        role: a key of `OF_ROLE`.
        capabilities: further capabilities, beside those of the role.

    Raises:
        NotFound: the user is a stranger to the server.
        Forbidden: the user may not write members, or would give more than they hold.
    """
    require(state, user_id, WRITE_MEMBERS)
    if not may_grant(state, user_id, role, capabilities):
        raise Forbidden("this is more than you may do yourself", permission=WRITE_MEMBERS)
