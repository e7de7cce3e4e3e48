"""Gateways and routes as admins see them, and how they change a gateway (contract §7)."""

from typing import Literal

import msgspec

from actors.errors import Invalid, NotFound
from actors.gateways import units
from actors.gateways.public import Gateway, GatewayStatus, status_of
from actors.gateways.units import GatewayChanges
from actors.ids import ObjectId, Uuid
from actors.time import iso
from persistence.gateways import gateways
from persistence.networks import gateway_routes
from persistence.networks.gateway_routes import RouteOfNetwork, WantedRoutes
from persistence.networks.rows import RouteStatus
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.gateways.machines import Capacity, Region
from routes.gateways.parts import GATEWAY_REGISTRY
from routes.gateways.reactions import AllGateways

MANAGE = "admin:connect:manage"

_PAGES = Cursor("gateways", str)
_ROUTE_PAGES = Cursor("gateway-routes", str)


class GatewaysQuery(PageQuery, frozen=True):
    """Which gateways.

    Args:
        status: only gateways in this state.
    """

    status: GatewayStatus | None = None


class GatewayPage(Wire, frozen=True):
    """A page of gateways, the newest first."""

    items: list[Gateway]
    next_cursor: str | None
    has_more: bool


class RoutesQuery(PageQuery, frozen=True):
    """Which routes.

    Args:
        status: only routes in this state.
        server_id: only the route of this server.
        network_id: only routes of servers in this network.
    """

    status: RouteStatus | None = None
    server_id: Uuid | None = None
    network_id: Uuid | None = None


class AdminRoute(Wire, frozen=True):
    """The host under which gateways forward players to a server.

    Args:
        network_id: the server's network, or null.
        gateway_id: the only gateway that may carry the route; null for any.
        status: `active` when an online gateway that carries it has confirmed it.
        revision: the revision of all routes at which this one was last changed.
    """

    server_id: str
    network_id: str | None
    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool
    gateway_id: str | None
    status: RouteStatus
    revision: int
    created_at: str
    updated_at: str


class RoutePage(Wire, frozen=True):
    """A page of routes, by their hosts."""

    items: list[AdminRoute]
    next_cursor: str | None
    has_more: bool


class GatewayPatch(Wire, frozen=True):
    """What changes of a gateway; fields that are left out stay.

    Args:
        status: `draining`: it is given no routes, and keeps its connections; `online`: it is given routes again.
        capacity: how many connections it carries at the same time.
        region: 1 to 32 of a-z, 0-9 and `-`.
    """

    status: Literal["online", "draining"] | None = None
    capacity: Capacity | None = None
    region: Region | None = None


@endpoint("GET", "/v1/admin/connect/gateways", needs=MANAGE)
async def list_gateways(call: Call, query: GatewaysQuery) -> GatewayPage:
    """All gateways, the newest first.

    Needs `admin:connect:manage`. Gateways that have been offline for seven days are gone.
    """
    registry, after = call.service.of(GATEWAY_REGISTRY), _PAGES.place(query.cursor)
    rows = [
        row
        for row in registry.rows()
        if (after is None or row.gateway_id < after) and query.status in (None, status_of(row))
    ]
    page = _PAGES.page(rows, query.limit, lambda row: row.gateway_id)
    return GatewayPage([registry.shown(row) for row in page.rows], page.next_cursor, page.has_more)


@endpoint("GET", "/v1/admin/connect/gateway-routes", needs=MANAGE)
async def list_gateway_routes(call: Call, query: RoutesQuery) -> RoutePage:
    """All routes, by their hosts. Needs `admin:connect:manage`."""
    wanted = WantedRoutes(
        status=query.status,
        server_id=query.server_id,
        network_id=query.network_id,
        after=_ROUTE_PAGES.place(query.cursor),
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(gateway_routes.page, wanted)
    page = _ROUTE_PAGES.page(rows, query.limit, lambda one: one.route.route_host)
    return RoutePage([_item(one) for one in page.rows], page.next_cursor, page.has_more)


async def known_gateway(call: Call, gateway_id: ObjectId) -> None:
    """Guard: requires that there is such a gateway; checked again in the transaction.

    Raises:
        NotFound: there is none.
    """
    if await call.service.database.read(gateways.read, gateway_id) is None:
        raise NotFound("no such gateway")


@endpoint(
    "PATCH",
    "/v1/admin/connect/gateways/{gatewayId}",
    needs=MANAGE,
    refusals=(NotFound, Invalid),
    guard=known_gateway,
)
async def change_gateway(call: Call, gateway_id: ObjectId, body: GatewayPatch) -> Gateway:
    """Changes a gateway, and lets it drain or takes it back.

    Needs `admin:connect:manage`. A draining gateway is given no routes, and DNS names it no longer; its connections
    stay. An offline one is shown so until it comes back, and then drains if it was told to. The audit trail records
    each change.
    """
    registry = call.service.of(GATEWAY_REGISTRY)
    draining = None if body.status is None else body.status == "draining"
    changes = GatewayChanges(region=body.region, capacity=body.capacity, draining=draining)
    return await change(
        call,
        units.change_gateway,
        gateway_id,
        changes,
        stamp_of(call),
        about=AllGateways(),
        shape=registry.shown,
    )


def _item(one: RouteOfNetwork) -> AdminRoute:
    route = msgspec.structs.asdict(one.route)
    created_at, updated_at = iso(route.pop("created_at_ms")), iso(route.pop("updated_at_ms"))
    del route["record_hosts"]
    return AdminRoute(**route, network_id=one.network_id, created_at=created_at, updated_at=updated_at)
