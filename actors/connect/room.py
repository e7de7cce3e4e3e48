"""How many game servers one user may own: checked before a server becomes theirs, by claim, by invite or by joining.

Each server has an actor of its own, so no turn sees all of a user's servers. Callers therefore hold the user's
turnstile (`turn_of`) until the server is theirs; then the count is exact, but for requests of the user that cross on
different nodes: each of those may go over by one.
"""

from collections.abc import Hashable

from actors.errors import QuotaExceeded
from persistence.connect import servers
from persistence.connection import Connection

MAX_OWNED = 1_000
"""The most servers of one user, counting those in networks."""


def turn_of(user_id: str) -> Hashable:
    """The turnstile key under which a user gains servers, and moves them among networks, one at a time."""
    return "servers of", user_id


async def require_room(conn: Connection, user_id: str) -> None:
    """Check that the user may own another server; to be called under `turn_of` of that user.

    Raises:
        QuotaExceeded: they own as many as one user may.
    """
    if await servers.count_of_owner(conn, user_id) >= MAX_OWNED:
        raise QuotaExceeded(message=f"a user has at most {MAX_OWNED} servers", max=MAX_OWNED)
