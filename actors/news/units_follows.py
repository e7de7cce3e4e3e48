"""Follow networks, game servers and categories: a unit of work, inside the caller's transaction."""

from collections.abc import Sequence

import msgspec

from actors.change import Change
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.news.fields import MAX_WORD_CHARACTERS
from actors.texts import line_flaws
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.news import follows
from persistence.news.rows import FollowRow

FOLLOWS_MAX = 200
"""Most things that a user may follow."""


class FollowsChanged(msgspec.Struct, frozen=True):
    """A user has changed what they follow."""

    user_id: str


def checked(wanted: Sequence[FollowRow]) -> list[FollowRow]:
    """Check what a user wants to follow; returns each once, in lower case. Pure.

    Raises:
        Invalid: there are too many, or a category is no line of 1 to 32 characters.
    """
    if len(wanted) > FOLLOWS_MAX:
        raise Invalid(FieldError("/items", "TOO_MANY", f"at most {FOLLOWS_MAX} follows"))
    kept = [FollowRow(one.type, one.id.strip().lower()) for one in wanted]
    errors = [
        flaw
        for place, one in enumerate(kept)
        if one.type == "category"
        for flaw in line_flaws(one.id, f"/items/{place}/id", MAX_WORD_CHARACTERS)
    ]
    if errors:
        raise Invalid(*errors)
    return kept


async def put(conn: Connection, user_id: str, wanted: Sequence[FollowRow]) -> Change[list[FollowRow]]:
    """Replace all that a user follows.

    Args:
        wanted: what the user wants to follow, as `checked` returns it.

    Raises:
        NotFound: there is no such user.
        Invalid: a network or server does not exist.
    """
    await require_user(conn, user_id)
    known = {
        "network": await follows.known_networks(conn, [one.id for one in wanted if one.type == "network"]),
        "server": await follows.known_servers(conn, [one.id for one in wanted if one.type == "server"]),
    }
    unknown = [
        FieldError(f"/items/{place}/id", "UNKNOWN", f"no such {one.type}")
        for place, one in enumerate(wanted)
        if one.type in known and one.id not in known[one.type]
    ]
    if unknown:
        raise Invalid(*unknown)
    kept = list(dict.fromkeys(wanted))
    await follows.replace(conn, user_id, kept)
    return Change(kept, (FollowsChanged(user_id),))
