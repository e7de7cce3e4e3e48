"""Names of users, in any case: whose they are, and how those are found that begin with a text.

A name is lower-cased in Python, here and where it is written (`users.py`), because PostgreSQL's `lower` depends on the
cluster's locale.
"""

from collections.abc import Collection
from typing import NamedTuple

from persistence.connection import Connection

LAST_CHARACTER = "\U0010ffff"
"""The last code point: no name begins with it."""

SIGMAS = ("\u03c2", "\u03c3")
"""The small sigma at the end of a word, and that elsewhere: one code point after the other."""

FIRST_SURROGATE, AFTER_SURROGATES = 0xD800, 0xE000
"""The code points from the first up to the second are surrogates, which no text can have."""


class Renamed(NamedTuple):
    """A user, the name that they have, and when they were given it, epoch milliseconds."""

    id: str
    name: str
    renamed_at_ms: int


async def read_names(conn: Connection, user_ids: Collection[str]) -> dict[str, str]:
    """{user id: name} of the users who exist."""
    rows = await conn.fetch("SELECT id, name FROM users WHERE id = ANY ($1::text[])", list(user_ids))
    return {row["id"]: row["name"] for row in rows}


async def renamed_since(conn: Connection, from_ms: int, after_id: str, limit: int) -> list[Renamed]:
    """Users who were given another name, by the moment and their ids; at most `limit`.

    Args:
        from_ms: the first moment, epoch milliseconds.
        after_id: of those who were renamed at that moment, the user after whom the page begins; "" for all of them.
    """
    rows = await conn.fetch(
        "SELECT id, name, renamed_at_ms FROM users WHERE renamed_at_ms >= $1 AND (renamed_at_ms, id) > ($1, $2)"
        " ORDER BY renamed_at_ms, id LIMIT $3",
        from_ms,
        after_id,
        limit,
    )
    return [Renamed(*row) for row in rows]


async def ids_named(conn: Connection, name: str) -> list[str]:
    """Ids of the users with this name, in any case; at most two, enough to know that the name is ambiguous."""
    rows = await conn.fetch("SELECT id FROM users WHERE name_lower = $1 LIMIT 2", name.lower())
    return [row["id"] for row in rows]


def beginning(prefix: str) -> tuple[str, str]:
    """The texts, in lower case, that begin with a prefix in any case: the first of them, and the first after all of
    them, in the order of code points.

    A sigma at the end is either of the two small ones, which follow each other: which one a capital becomes depends on
    what comes after it (Unicode, Final_Sigma), so the prefix does not know.
    """
    lowered = prefix.lower()
    if lowered[-1:] in SIGMAS:
        stem = lowered[:-1]
        return stem + SIGMAS[0], _behind(stem + SIGMAS[-1])
    return lowered, _behind(lowered)


def _behind(prefix: str) -> str:
    """The first text, in the order of code points, after all texts that begin with `prefix`."""
    stem = prefix.rstrip(LAST_CHARACTER)
    if not stem:
        return LAST_CHARACTER
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(AFTER_SURROGATES if following == FIRST_SURROGATE else following)
