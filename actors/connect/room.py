"""How many game servers one user may own: asked before a server becomes theirs, by claim, by invite or by joining.

Each server is an owner of its own, so that no turn sees them all. Whoever asks is therefore behind `turn_of` of the
user until the server is theirs: then the count is exact.
"""

from collections.abc import Hashable

from actors.errors import QuotaExceeded
from persistence.connect import servers
from persistence.connection import Connection

MAX_OWNED = 1_000
"""Servers of one user, those in networks too."""


def turn_of(user_id: str) -> Hashable:
    """The key of a turnstile: servers become this user's, and move among their networks, one after the other."""
    return "servers of", user_id


async def require_room(conn: Connection, user_id: str) -> None:
    """Pass while the user may own another server.

    Raises:
        QuotaExceeded: they own as many as one user may.
    """
    if await servers.count_of_owner(conn, user_id) >= MAX_OWNED:
        raise QuotaExceeded(message=f"a user has at most {MAX_OWNED} servers", max=MAX_OWNED)
