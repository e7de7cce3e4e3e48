"""The caller's own servers, with their publications (service-api §4)."""

from typing import Annotated

import msgspec

from actors.connect.public import Server, server_of
from actors.connect.room import MAX_OWNED
from actors.publications.public import Publication, publication_of
from persistence.connect import servers
from persistence.connect.rows import ServerRow
from persistence.connection import Connection
from persistence.publications import publications
from persistence.publications.rows import PublicationRow, Target
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.publications.parts import STATUSES


class ProfileQuery(Wire, frozen=True):
    """Which servers.

    Args:
        tag: only those that are published with this tag.
    """

    tag: Annotated[str, msgspec.Meta(max_length=32)] | None = None


class ProfileServer(Server, frozen=True, kw_only=True, rename="camel"):
    """A server of the caller, with its current status.

    Args:
        display_name: as published, else the server's own name.
        category: as published, else empty.
        favorite: whether the published server is among the caller's favourites.
        source: always `CONNECT`.
        online: whether its last status is fresh and says that it is online.
        address: as published, or null.
        tags: as published.
        publication: the publication, or null.
    """

    display_name: str
    category: str
    favorite: bool
    source: str = "CONNECT"
    online: bool
    motd: str
    player_count: int
    player_capacity: int
    address: str | None
    tags: tuple[str, ...]
    publication: Publication | None


@endpoint("GET", "/v1/profile/servers", needs=AUTHENTICATED)
async def list_profile_servers(call: Call, query: ProfileQuery) -> list[ProfileServer]:
    """The game servers that the caller has claimed, oldest first, with their status."""
    found = await call.service.database.read(_own, call.user_id)
    tag = (query.tag or "").strip().lower()
    return [_item(call, row, published) for row, published in found if _tagged(published, tag)]


async def _own(conn: Connection, user_id: str) -> list[tuple[ServerRow, PublicationRow | None]]:
    rows = await servers.of_owner(conn, user_id, MAX_OWNED)
    found = await publications.of_targets(conn, [row.server_id for row in rows], user_id)
    published = {row.server_id: row for row in found}
    return [(row, published.get(row.server_id)) for row in rows]


def _tagged(published: PublicationRow | None, tag: str) -> bool:
    return not tag or (published is not None and tag in published.tags)


def _item(call: Call, row: ServerRow, published: PublicationRow | None) -> ProfileServer:
    status = call.service.of(STATUSES).of(Target("server", row.server_id), call.now_ms)
    shown = None if published is None else publication_of(published, status)
    return ProfileServer(
        **msgspec.structs.asdict(server_of(row)),
        display_name=row.name if shown is None else shown.display_name,
        category="" if shown is None else shown.category,
        favorite=shown is not None and shown.favorite,
        online=status.online,
        motd=status.motd if shown is None else shown.motd,
        player_count=status.players,
        player_capacity=status.capacity,
        address=None if shown is None else shown.address,
        tags=() if shown is None else shown.tags,
        publication=shown,
    )
