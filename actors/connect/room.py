"""How many game servers one user may own: checked before a server becomes theirs, by claim, by invite or by joining.

Each server has an actor of its own, so no turn sees all of a user's servers. Callers therefore hold the user's
turnstile (`turn_of`) until the server is theirs, and look before they ask. That one is a node's: of requests that cross
on different nodes, the transaction decides by which a server becomes theirs, which waits for others of its kind
(`servers.hold_gains`) and counts once more (`check_owned`).
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
        QuotaExceeded: they own as many as one user may.
    """
    if await servers.count_of_owner(conn, user_id) >= MAX_OWNED:
        raise QuotaExceeded(message=_FULL, max=MAX_OWNED)


async def check_owned(conn: Connection, user_id: str) -> None:
    """Check, with the rows of a turn by which a server became theirs, that they are not too many; under
    `servers.hold_gains`.

    Raises:
        LimitReached: they are.
    """
    if await servers.count_of_owner(conn, user_id) > MAX_OWNED:
        raise LimitReached(_FULL, MAX_OWNED)
