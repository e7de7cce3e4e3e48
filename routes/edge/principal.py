"""Who is calling, and whether they pass an endpoint's gate. No HTTP in here, and no lookups.

Authorisation has two steps. `needs` asks for a permission node or a role, and refuses with 403 before anything is
looked up. Whether the caller belongs to this conversation or server is asked by the endpoint's `guard`, and again
inside the actor's turn, since it may change in between (reliability R15).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from actors.errors import Forbidden
from actors.ids import UserId


class Need(Enum):
    """What an endpoint demands of its caller, other than a permission node."""

    PUBLIC = "public"
    AUTHENTICATED = "authenticated"
    MODERATOR = "moderator"
    SUPER_ADMIN = "super-admin"
    SERVER = "server"
    USER_OR_SERVER = "user or server"


PUBLIC = Need.PUBLIC
"""No credentials are demanded, and none are read."""
AUTHENTICATED = Need.AUTHENTICATED
"""Any user with a valid token."""
MODERATOR = Need.MODERATOR
"""A user with the role Moderator or a higher one."""
SUPER_ADMIN = Need.SUPER_ADMIN
"""A user with the role Super Admin."""
SERVER = Need.SERVER
"""A game server with its secret or a delegated token; users are not admitted."""
USER_OR_SERVER = Need.USER_OR_SERVER
"""Any user, or a game server; a request with X-Server-Id comes from a server."""

Needs: TypeAlias = Need | str
"""One of the constants above, or a permission node such as `social:chat.write`."""


class Quantity(Protocol):
    """The value of a quota node."""

    @property
    def value(self) -> float:
        """The amount, in the unit that is listed for the node."""
        ...


class Access(Protocol):
    """The rights of a caller at one moment; replaced by a new object when they change."""

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
    """A user, as identified by a token, with their rights.

    Args:
        user_id: lower-case uuid, the token's `sub`.
        name: the user's name in the token.
        expires_at_ms: when the token expires, epoch milliseconds.
        access: the user's rights.
        issued_at_s: when the token was issued, epoch seconds.
        capped: whether the token's issuer may not vouch for super-admins, so that the user is none with this token.
        sid: the id of the session that the token belongs to, and ends with; None for a token without a session.
    """

    user_id: UserId
    name: str
    expires_at_ms: int
    access: Access
    issued_at_s: int = 0
    capped: bool = False
    sid: str | None = None

    @property
    def key(self) -> str:
        """The key of rate limits and idempotency keys; no two principals share one."""
        return self.user_id


@dataclass(frozen=True, slots=True)
class ServerPrincipal:
    """A game server.

    Args:
        server_id: the server's lower-case uuid, from X-Server-Id.
        owner_id: the user who claimed it, or None.
        scopes: the scopes of a delegated token; None for the server's own secret, which has every scope.
        access: the few permission nodes that a server takes from its owner.
        expires_at_ms: when its delegated token, or its replaced secret, expires, epoch milliseconds; None for the
            current secret.
        secret_number: the number of the secret that it came with, or with which its token was made.
    """

    server_id: str
    owner_id: UserId | None
    scopes: frozenset[str] | None
    access: Access
    expires_at_ms: int | None
    secret_number: int

    @property
    def issued_at_s(self) -> None:
        """None: credentials of servers are revoked by replacing the secret, not by time of issue."""
        return

    @property
    def sid(self) -> None:
        """None: servers do not sign in."""
        return

    @property
    def key(self) -> str:
        """The key of rate limits and idempotency keys; its prefix keeps it apart from users."""
        return f"server:{self.server_id}"


Principal: TypeAlias = UserPrincipal | ServerPrincipal


def demand(needs: Needs, access: Access | None) -> None:
    """Require that the rights of an authenticated caller meet a rule.

    Args:
        needs: the rule.
        access: the caller's rights; None for a caller without any.

    Raises:
        Forbidden: the rights do not cover it; `meta` names it as `permission` or `role`.
    """
    if meets(needs, access):
        return
    if isinstance(needs, str):
        raise Forbidden(f"missing permission {needs}", permission=needs)
    raise Forbidden(f"only for the role {needs.value}", role=needs.value)


def meets(needs: Needs, access: Access | None) -> bool:
    """Whether the rights of an authenticated caller meet a rule.

    Args:
        needs, access: as for `demand`.
    """
    if isinstance(needs, str):
        return access is not None and access.allows(needs)
    if needs is MODERATOR:
        return access is not None and access.is_moderator
    if needs is SUPER_ADMIN:
        return access is not None and access.is_super_admin
    return True  # authentication has decided the others
