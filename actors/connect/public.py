"""What clients see of game servers (service-api §2, Connect server). Nothing here holds a secret, or its hash."""

import msgspec

from actors.time import iso
from persistence.connect.rows import ServerRow


class Server(msgspec.Struct, frozen=True, rename="camel"):
    """A claimed game server.

    Args:
        id: object id.
        server_id: uuid, as in X-Server-Id.
        network_id: the network it is in, or null.
        is_template: others may be registered after its example.
        temp_instance: it is removed when it falls silent for a day.
        owner_id: who has claimed it; null before.
    """

    id: str
    server_id: str
    network_id: str | None
    server_type: str
    name: str
    is_template: bool
    temp_instance: bool
    owner_id: str | None
    created_at: str
    updated_at: str


def server_of(row: ServerRow) -> Server:
    """The server as it is told."""
    return Server(
        id=row.id,
        server_id=row.server_id,
        network_id=row.network_id,
        server_type=row.server_type,
        name=row.name,
        is_template=row.is_template,
        temp_instance=row.temporary,
        owner_id=row.owner_id,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )
