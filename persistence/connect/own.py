"""The game servers of a user: those they own, and those that they are a member of. Rows only."""

from collections.abc import Collection

import msgspec

from persistence.connect.rows import ServerRow
from persistence.connection import Connection, Row

MOST_JOINED = 1_000
"""The most servers that are read of those a user is a member of: the ones joined first."""


class OwnRow(msgspec.Struct, frozen=True):
    """A server of a user, with their place on it.

    Args:
        role: the member's role: admin, operator or viewer; None for the owner.
        capabilities: what the member may do beside what the role permits.
    """

    server: ServerRow
    role: str | None
    capabilities: tuple[str, ...]


async def of_user(conn: Connection, user_id: str) -> list[OwnRow]:
    """All servers that a user owns and up to `MOST_JOINED` that they are a member of, oldest first."""
    return [_own(row) for row in await conn.fetch(_OF_USER, user_id, MOST_JOINED)]


async def some_of_user(conn: Connection, user_id: str, server_ids: Collection[str]) -> list[OwnRow]:
    """Those of these servers that the user owns or is a member of."""
    return [_own(row) for row in await conn.fetch(_SOME_OF_USER, user_id, list(server_ids))]


_SELECT = """
SELECT s.server_id, s.id, s.server_type, s.name, s.owner_id, s.network_id, s.template_id, s.is_template, s.temporary,
       s.secret, s.secret_number, s.former_secret, s.former_until_ms, s.created_at_ms, s.updated_at_ms,
       s.last_seen_at_ms, s.access_mode, s.invite_requires_direct_friend, m.role, m.capabilities
FROM connect_servers s LEFT JOIN connect_members m ON m.server_id = s.server_id AND m.user_id = $1
"""

_OF_USER = f"""{_SELECT}
WHERE s.server_id = ANY (ARRAY(
    SELECT server_id FROM connect_servers WHERE owner_id = $1
    UNION (SELECT server_id FROM connect_members WHERE user_id = $1 ORDER BY created_at_ms, server_id LIMIT $2)
)) ORDER BY s.created_at_ms, s.server_id
"""  # noqa: S608 — texts of our own

_SOME_OF_USER = f"{_SELECT} WHERE s.server_id = ANY ($2::text[]) AND (s.owner_id = $1 OR m.role IS NOT NULL)"


def _own(row: Row) -> OwnRow:
    fields = dict(row)
    role, capabilities = fields.pop("role"), fields.pop("capabilities")
    server = ServerRow(**fields)
    return OwnRow(server, role, tuple(capabilities or ()))
