"""How many game servers one user may own: checked before a server becomes theirs, by claim, by invite or by joining.

Each server has an actor of its own, so no turn sees all of a user's servers. Callers therefore hold the user's
turnstile (`turn_of`) until the server is theirs, and count before they ask its actor. A turnstile covers one node only:
where requests cross on different nodes, the transaction by which a server becomes theirs decides. It waits for others
of its kind (`servers.hold_gains`) and counts once more (`check_owned`).
"""

from collections.abc import Hashable

from actors.errors import QuotaExceeded
from persistence.connect import servers
from persistence.connection import Connection
from persistence.errors import LimitReached

MAX_OWNED = 1_000
"""The most servers of one user, counting those in networks."""

_FULL = f"a user has at most {MAX_OWNED} servers"


def turn_of(user_id: str) -> Hashable:
    """The turnstile key under which a user gains servers, and moves them among networks, one at a time."""
    return "servers of", user_id


async def require_room(conn: Connection, user_id: str) -> None:
    """Check that the user may own another server; to be called under `turn_of` of that user, or `servers.hold_gains`.

    Raises:
        QuotaExceeded: the user owns `MAX_OWNED` servers.
    """
    if await servers.count_of_owner(conn, user_id) >= MAX_OWNED:
        raise QuotaExceeded(message=_FULL, max=MAX_OWNED)


async def check_owned(conn: Connection, user_id: str) -> None:
    """Check, in the transaction by which a user has got a server, that they do not own too many; under
    `servers.hold_gains`.

    Raises:
        LimitReached: the user owns more than `MAX_OWNED` servers.
    """
    if await servers.count_of_owner(conn, user_id) > MAX_OWNED:
        raise LimitReached(_FULL, MAX_OWNED)
