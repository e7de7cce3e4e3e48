"""All game servers by name, page by page, for operators. Rows only."""

import msgspec

from persistence.connect.rows import ServerRow
from persistence.connection import Connection, Row
from persistence.publications.rows import DiscoveryState
from persistence.statements import filtered
from persistence.users.names import beginning


class ListedServer(msgspec.Struct, frozen=True):
    """A game server as the operators' list shows it.

    Args:
        server: the server's row, with its owner's name.
        name_lower: the server's name in lower case, by which the list is sorted.
        publication_id, publication_state: its publication's id and discovery state; None where it has none.
    """

    server: ServerRow
    name_lower: str
    publication_id: str | None
    publication_state: DiscoveryState | None


class WantedServers(msgspec.Struct, frozen=True, kw_only=True):
    """Which servers a page of the list shows.

    Args:
        prefix: only those whose name begins so, in any case; empty for all.
        server_id, owner_id, network_id: only servers with this id, owner or network; None for all.
        claimed: True for servers that have an owner, False for those without; None for all.
        after: (`name_lower`, id) of the last server of the page before; None from the start.
        limit: at most so many.
    """

    prefix: str = ""
    server_id: str | None = None
    owner_id: str | None = None
    network_id: str | None = None
    claimed: bool | None = None
    after: tuple[str, str] | None = None
    limit: int


async def list_servers(conn: Connection, wanted: WantedServers) -> list[ListedServer]:
    """The wanted servers, ordered by name."""
    filters = (wanted.server_id, wanted.owner_id, wanted.network_id)
    given = tuple(value is not None for value in filters)
    rows = await conn.fetch(
        _PAGES[*given, wanted.claimed is True, wanted.claimed is False],
        *beginning(wanted.prefix),
        *(wanted.after or ("", "")),
        wanted.limit,
        *(value for value in filters if value is not None),
    )
    return [_listed(row) for row in rows]


def _listed(row: Row) -> ListedServer:
    server = ServerRow(**{name: row[name] for name in ServerRow.__struct_fields__})
    return ListedServer(server, row["name_lower"], row["publication_id"], row["publication_state"])


_PAGES = filtered(
    """
SELECT s.server_id, s.id, s.server_type, s.name, s.owner_id, s.network_id, s.template_id, s.is_template, s.temporary,
       s.secret, s.secret_number, s.former_secret, s.former_until_ms, s.created_at_ms, s.updated_at_ms,
       s.last_seen_at_ms, s.access_mode, s.invite_requires_direct_friend, users.name AS owner_name,
       s.name_lower, p.id AS publication_id, p.discovery_state AS publication_state
FROM connect_servers s LEFT JOIN users ON users.id = s.owner_id LEFT JOIN publications p ON p.server_id = s.server_id
WHERE s.name_lower >= $1 AND s.name_lower < $2 AND (s.name_lower, s.server_id) > ($3, $4){}
ORDER BY s.name_lower, s.server_id LIMIT $5
""",
    (
        "s.server_id = ${}",
        "s.owner_id = ${}",
        "s.network_id = ${}",
        "s.owner_id IS NOT NULL",
        "s.owner_id IS NULL",
    ),
    taken=5,
)
