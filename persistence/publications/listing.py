"""The public list: filtered by text, tag and category, in three orders, page by page.

Text, tags and category are keys of one index (`publication_keys` in the migration). Few matches are gathered and
sorted; with many, the order's own index is scanned until the page is full.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from persistence.connection import Connection, Row
from persistence.publications.rows import PublicationRow, publication_of
from persistence.trigrams import trigrams_of

FEW = 2_000
"""Up to this many matches can be gathered and sorted within some milliseconds."""

Sort = Literal["players", "newest", "name"]
"""Most players first; newest first; by name."""


class Wanted(msgspec.Struct, frozen=True):
    """The filters of a list.

    Args:
        text: the searched text in lower case; empty for any.
        tag, category: only publications with this one; None for any.
    """

    text: str = ""
    tag: str | None = None
    category: str | None = None


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A row's position in an order: its sort key, number or name, and its id."""

    number: int
    name: str
    id: str


class Listed(msgspec.Struct, frozen=True):
    """A publication with its position in the list."""

    row: PublicationRow
    place: Place


async def page(conn: Connection, wanted: Wanted, sort: Sort, after: Place | None, limit: int) -> list[Listed]:
    """One page of the public list.

    Args:
        after: the position of the last publication of the page before; None from the start.
        limit: at most so many.
    """
    keys = keys_of(wanted)
    start = after or (Place(2**62, "", "~") if sort != "name" else Place(0, "", ""))
    bound = (start.name, start.id) if sort == "name" else (start.number, start.id)
    if keys:
        found = await conn.fetch(
            "SELECT id FROM publications_with($1::text[], $2, $3)", keys, wanted.text, FEW + 1
        )
        if len(found) <= FEW:
            ids = [row["id"] for row in found]
            return _listed(await conn.fetch(_GATHERED[sort], ids, *bound, limit), sort)
    tags = [] if wanted.tag is None else [wanted.tag]
    rows = await conn.fetch(_WALKED[sort], wanted.text, tags, wanted.category, *bound, limit)
    return _listed(rows, sort)


def keys_of(wanted: Wanted) -> list[str]:
    """The index keys that all matching publications have: those of the text, the tag and the category."""
    keys = trigrams_of(wanted.text)
    if wanted.tag is not None:
        keys.add("\x1e" + wanted.tag)
    if wanted.category is not None:
        keys.add("\x1d" + wanted.category)
    return sorted(keys - {""})


def _listed(rows: Sequence[Row], sort: Sort) -> list[Listed]:
    number = "players" if sort == "players" else "created_at_ms"
    return [Listed(publication_of(row), Place(row[number], row["name_lower"], row["id"])) for row in rows]


_GATHERED: dict[Sort, str] = {
    "players": """
SELECT * FROM published WHERE id = ANY($1::text[]) AND (players, ranked_id) < ($2::bigint, $3)
ORDER BY players DESC, ranked_id DESC LIMIT $4
""",
    "newest": """
SELECT * FROM published WHERE id = ANY($1::text[]) AND (created_at_ms, id) < ($2::bigint, $3)
ORDER BY created_at_ms DESC, id DESC LIMIT $4
""",
    "name": """
SELECT * FROM published WHERE id = ANY($1::text[]) AND (name_lower, id) > ($2, $3)
ORDER BY name_lower, id LIMIT $4
""",
}

# Without `ranked_id IS NOT NULL` the planner does not use the index in the order of players.
_WALKED: dict[Sort, str] = {
    "players": """
SELECT * FROM published
WHERE discovery_state = 'CONNECT' AND ($1 = '' OR strpos(words, $1) > 0) AND tags @> $2::text[]
    AND ($3::text IS NULL OR category = $3) AND ranked_id IS NOT NULL
    AND (players, ranked_id) < ($4::bigint, $5)
ORDER BY players DESC, ranked_id DESC LIMIT $6
""",
    "newest": """
SELECT * FROM published
WHERE discovery_state = 'CONNECT' AND ($1 = '' OR strpos(words, $1) > 0) AND tags @> $2::text[]
    AND ($3::text IS NULL OR category = $3) AND (created_at_ms, id) < ($4::bigint, $5)
ORDER BY created_at_ms DESC, id DESC LIMIT $6
""",
    "name": """
SELECT * FROM published
WHERE discovery_state = 'CONNECT' AND ($1 = '' OR strpos(words, $1) > 0) AND tags @> $2::text[]
    AND ($3::text IS NULL OR category = $3) AND (name_lower, id) > ($4, $5)
ORDER BY name_lower, id LIMIT $6
""",
}
