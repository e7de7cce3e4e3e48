"""Who is calling, and whether they pass an endpoint's gate. No HTTP in here, and no lookups.

The gate is the second of two questions. `needs` asks for a permission node or a role (403 before anything is
looked up); whether the caller belongs to this conversation or server is the endpoint's `guard`, and is
decided again inside the actor's turn, so that nothing can slip in between (reliability R15).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from actors.errors import Forbidden
from actors.ids import UserId


class Need(Enum):
    """What an endpoint asks of its caller when it is not a permission node."""

    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    MODERATOR = "moderator"
    SUPER_ADMIN = "super-admin"
    SERVER = "server"
    USER_OR_SERVER = "user or server"


PUBLIC = Need.PUBLIC
"""No credentials are asked for, and none are looked at."""
AUTHENTICATED = Need.AUTHENTICATED
"""Any user with a valid token."""
MODERATOR = Need.MODERATOR
"""A user with the role Moderator or a higher one."""
SUPER_ADMIN = Need.SUPER_ADMIN
"""A user with the role Super Admin."""
SERVER = Need.SERVER
"""A game server with its secret or a delegated token, and no user."""
USER_OR_SERVER = Need.USER_OR_SERVER
"""Any user, or a game server: who sends X-Server-Id is one."""

Needs: TypeAlias = Need | str
"""One of the constants above, or a permission node such as `social:chat.write`."""


class Quantity(Protocol):
    """The value of a quota node."""

    @property
    def value(self) -> float:
        """How much, in the node's listed unit."""
        ...


class Access(Protocol):
    """What a caller may do at this moment; a new object is made whenever that changes."""

    def allows(self, node: str) -> bool:
        """True when the node is held, or is one that grants by default while absent (contract §2, Gate)."""
        ...

    def quota(self, node: str) -> Quantity | None:
        """The caller's own value of a quota node, or None where the default holds."""
        ...

    @property
    def is_moderator(self) -> bool:
        """True for the role Moderator and every higher one."""
        ...

    @property
    def is_super_admin(self) -> bool:
        """True for the role Super Admin."""
        ...


@dataclass(frozen=True, slots=True)
class UserPrincipal:
    """A user, as the token and the permission store say.

    Args:
        user_id: lower-case uuid, the token's `sub`.
        name: as in the token.
        expires_at_ms: epoch milliseconds after which the token counts for nothing.
        access: their rights.
        issued_at_s: epoch seconds, of the token.
        capped: whoever issued the token does not speak for super-admins, so that the user is none by it.
    """

    user_id: UserId
    name: str
    expires_at_ms: int
    access: Access
    issued_at_s: int = 0
    capped: bool = False

    @property
    def key(self) -> str:
        """What rate limits and idempotency keys are counted by; no two principals share one."""
        return self.user_id


@dataclass(frozen=True, slots=True)
class ServerPrincipal:
    """A game server.

    Args:
        server_id: lower-case uuid, `X-Server-Id`.
        owner_id: who claimed it, or None.
        scopes: of a delegated token; None for the server's own secret, which has every scope.
        access: the few nodes that a server has of its owner's.
        expires_at_ms: when a delegated token, or a secret that was replaced, counts for nothing; None for the
            secret.
    """

    server_id: str
    owner_id: UserId | None
    scopes: frozenset[str] | None
    access: Access
    expires_at_ms: int | None

    @property
    def issued_at_s(self) -> None:
        """Credentials of servers end with their secret, not by a time."""
        return

    @property
    def key(self) -> str:
        """What rate limits and idempotency keys are counted by; the prefix keeps it apart from users."""
        return f"server:{self.server_id}"


Principal: TypeAlias = UserPrincipal | ServerPrincipal


def admit(needs: Needs, principal: Principal | None) -> None:
    """The gate: passes, or refuses with what is missing.

    Args:
        needs: the endpoint's declared rule.
        principal: the authenticated caller, None on public endpoints.

    Raises:
        Forbidden: the caller is known and lacks the node or role; `meta.permission` names a node.
    """
    if needs is PUBLIC or needs is AUTHENTICATED or needs is SERVER or needs is USER_OR_SERVER:
        return  # who may come at all, the credentials have said
    access = principal.access if principal is not None else None
    if isinstance(needs, str):
        if access is None or not access.allows(needs):
            raise Forbidden(f"missing permission {needs}", permission=needs)
        return
    holds = access is not None and (access.is_super_admin if needs is SUPER_ADMIN else access.is_moderator)
    if not holds:
        raise Forbidden(f"only for the role {needs.value}", role=needs.value)
