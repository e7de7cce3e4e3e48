"""All publications by name, page by page, and what moderators change of one. Rows only."""

import msgspec

from persistence.connection import Connection
from persistence.publications.rows import DiscoveryState, PublicationRow, publication_of
from persistence.statements import filtered
from persistence.users.names import beginning


class WantedPublications(msgspec.Struct, frozen=True, kw_only=True):
    """Which publications a page of the list shows.

    Args:
        prefix: only those whose display name begins so, in any case; empty for all.
        state: only in this discovery state; None for all.
        featured: True for featured publications, False for the others; None for all.
        after: (name in lower case, id) of the last one of the page before; None from the start.
        limit: at most so many.
    """

    prefix: str = ""
    state: DiscoveryState | None = None
    featured: bool | None = None
    after: tuple[str, str] | None = None
    limit: int


class Placed(msgspec.Struct, frozen=True):
    """A publication, and its display name in lower case, by which the list is sorted."""

    row: PublicationRow
    name_lower: str


async def list_publications(conn: Connection, wanted: WantedPublications) -> list[Placed]:
    """The wanted publications, whatever their state, ordered by name."""
    rows = await conn.fetch(
        _PAGES[wanted.state is not None, wanted.featured is True, wanted.featured is False],
        *beginning(wanted.prefix),
        *(wanted.after or ("", "")),
        wanted.limit,
        *(() if wanted.state is None else (wanted.state,)),
    )
    return [Placed(publication_of(row), row["name_lower"]) for row in rows]


async def read_publication(conn: Connection, id: str) -> PublicationRow | None:
    """A publication, whatever its state, or None."""
    row = await conn.fetchrow("SELECT * FROM published WHERE id = $1", id)
    return None if row is None else publication_of(row)


async def lock_publication(conn: Connection, id: str) -> PublicationRow | None:
    """A publication, its row locked for changes until the transaction ends, or None."""
    await conn.execute("SELECT FROM publications WHERE id = $1 FOR NO KEY UPDATE", id)
    return await read_publication(conn, id)


async def save_moderation(conn: Connection, row: PublicationRow) -> None:
    """Write whether a publication is featured and suppressed, and the discovery state that follows."""
    await conn.execute(
        "UPDATE publications SET featured = $2, suppressed = $3, discovery_state = $4, updated_at_ms = $5"
        " WHERE id = $1",
        row.id,
        row.featured,
        row.suppressed,
        row.discovery_state,
        row.updated_at_ms,
    )


_PAGES = filtered(
    """
SELECT * FROM published
WHERE name_lower >= $1 AND name_lower < $2 AND (name_lower, id) > ($3, $4){}
ORDER BY name_lower, id LIMIT $5
""",
    ("discovery_state = ${}", "featured", "NOT featured"),
    taken=5,
)
