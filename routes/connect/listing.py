"""All game servers as operators see them (contract §7)."""

from typing import Annotated

import msgspec

from actors.connect.public import Server, server_of
from actors.connect.public_own import ServerStatus
from actors.ids import UserId, Uuid, parse_uuid
from actors.time import iso
from persistence.connect.listing import ListedServer, WantedServers, list_servers
from persistence.publications.rows import DiscoveryState
from routes.call import Call
from routes.connect.own_servers import OWN_SERVERS
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.gateways.admin import MANAGE

_PAGES = Cursor("all-servers", tuple[str, str])


class AllServersQuery(PageQuery, frozen=True):
    """Which servers.

    Args:
        query: the beginning of a name, case ignored, or a whole uuid; left out = all.
        owner_id: only those of this user.
        network_id: only those in this network.
        claimed: true for servers that a user has claimed, false for the others.
    """

    query: Annotated[str, msgspec.Meta(max_length=100)] = ""
    owner_id: UserId | None = None
    network_id: Uuid | None = None
    claimed: bool | None = None


class AdminServer(Server, frozen=True, kw_only=True, rename="camel"):
    """A game server as operators see it.

    Args:
        owner_name: the present name of its owner, or null.
        last_seen_at: when it last called.
        status: what it last reported.
        listening: whether it has a stream open that takes commands, or has asked for commands within 60 s.
        publication_id: its publication, or null.
        publication_state: whether that is in the public list (`CONNECT`), or null.
    """

    owner_name: str | None
    last_seen_at: str
    status: ServerStatus
    listening: bool
    publication_id: str | None
    publication_state: DiscoveryState | None


class AdminServerPage(Wire, frozen=True):
    """A page of servers, by name."""

    items: list[AdminServer]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/admin/connect/servers", needs=MANAGE)
async def list_all_servers(call: Call, query: AllServersQuery) -> AdminServerPage:
    """All game servers by name, or those whose name begins with a text, of one owner, in one network. Needs
    `admin:connect:manage`.
    """
    server_id = parse_uuid(query.query)
    wanted = WantedServers(
        prefix=query.query if server_id is None else "",
        server_id=server_id,
        owner_id=query.owner_id,
        network_id=query.network_id,
        claimed=query.claimed,
        after=_PAGES.place(query.cursor),
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(list_servers, wanted)
    page = _PAGES.page(rows, query.limit, lambda row: (row.name_lower, row.server.server_id))
    return AdminServerPage([_shown(call, row) for row in page.rows], page.next_cursor, page.has_more)


def _shown(call: Call, row: ListedServer) -> AdminServer:
    now, server = call.service.of(OWN_SERVERS).now, server_of(row.server)
    seen = call.service.of(GAME_SERVERS).credentials.last_seen(server.server_id)
    return AdminServer(
        **{name: getattr(server, name) for name in Server.__struct_fields__},
        owner_name=row.server.owner_name,
        last_seen_at=iso(max(row.server.last_seen_at_ms, 0 if seen is None else seen[0])),
        status=now.status_of(server.server_id),
        listening=now.listening.listens(server.server_id),
        publication_id=row.publication_id,
        publication_state=row.publication_state,
    )
