"""Who may write news (contract §10): `news:write` may everywhere, the owner of a network and whoever has the capability
`server.publication.write` on a server in that scope. Asked before the body is read, and again inside the transaction.
"""

from dataclasses import dataclass

from actors.connect.capabilities import OF_ROLE, held_by
from actors.errors import Forbidden, NotFound
from persistence.connect import members
from persistence.connection import Connection
from persistence.networks import networks
from persistence.news.listing import Writable
from persistence.news.rows import Scope
from persistence.users.audit import Stamp

NODE = "news:write"
"""The permission node that lets a user write in every scope."""

CAPABILITY = "server.publication.write"
"""The capability that lets a member write the news of a server."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The user who writes.

    Args:
        user_id: their id.
        anywhere: whether they hold `news:write`.
        stamp: identifies them and their request in the audit trail.
    """

    user_id: str
    anywhere: bool
    stamp: Stamp


async def authorise(conn: Connection, scope: Scope, by: Writer, *, readable: bool = False) -> bool:
    """Check that a user may write in a scope.

    Args:
        readable: whether the user may read the article that they want to change: then they are told what they lack.

    Returns:
        True when the scope is their own; False when they may by `news:write`.

    Raises:
        NotFound: there is no such network or server, or it is a stranger's: both look the same.
        Forbidden: they belong there or may read the article, and may not write it.
    """
    exists, belongs, own = await _standing(conn, scope, by.user_id)
    if own:
        return True
    if exists and by.anywhere:
        return False
    if scope.type == "global" or (exists and (readable or belongs)):
        missing = CAPABILITY if scope.type == "server" else NODE
        raise Forbidden(f"missing {missing}", permission=missing)
    raise NotFound


def writable_by(user_id: str, *, anywhere: bool) -> Writable:
    """The scopes in which a user may write, for lists; `anywhere` if they hold `news:write`."""
    roles = tuple(sorted(role for role, held in OF_ROLE.items() if CAPABILITY in held))
    return Writable(user_id, anywhere, roles, CAPABILITY)


async def _standing(conn: Connection, scope: Scope, user_id: str) -> tuple[bool, bool, bool]:
    """Whether the scope exists, whether the user belongs to it, and whether they may write there."""
    if scope.type == "global":
        return True, False, False
    if scope.type == "network":
        network = await networks.read(conn, scope.id)
        own = network is not None and network.owner_id == user_id
        return network is not None, own, own
    standing = await members.standing(conn, scope.id, user_id)
    held = held_by(user_id, standing)
    return standing is not None, bool(held), CAPABILITY in held
