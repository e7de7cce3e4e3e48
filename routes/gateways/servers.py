"""The gateways that could carry a game server's route (contract §7)."""

from actors.errors import Forbidden, NotFound
from actors.gateways.public import Gateway, status_of
from actors.ids import Uuid
from actors.networks.public import GatewayRoute, route_of
from persistence.networks import gateway_routes
from routes.call import Call
from routes.connect.guards import may
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import USER_OR_SERVER
from routes.edge.wire import Wire
from routes.gateways.parts import GATEWAY_REGISTRY


class GatewaysOfServer(Wire, frozen=True):
    """The gateways that could carry a server's route, the newest first, and the route, or null.

    Args:
        items: the gateways that are online; for a route that names its gateway, that one alone, in whatever state.
        route: the server's route; null without one.
    """

    items: list[Gateway]
    route: GatewayRoute | None


@endpoint(
    "GET",
    "/v1/connect/servers/{serverId}/gateways",
    needs=USER_OR_SERVER,
    refusals=(NotFound, Forbidden),
    guard=may("server.settings.read"),
)
async def list_gateways_of_server(call: Call, server_id: Uuid) -> GatewaysOfServer:
    """The gateways that could carry the server's route, and the route.

    For members with `server.settings.read`, and for the server itself.
    """
    registry = call.service.of(GATEWAY_REGISTRY)
    route = await call.service.database.read(gateway_routes.read, server_id)
    if route is not None and route.gateway_id is not None:
        own = registry.row(route.gateway_id)
        rows = [] if own is None else [own]
    else:
        rows = [row for row in registry.rows() if status_of(row) == "online"]
    shown = None if route is None else route_of(route)
    return GatewaysOfServer([registry.shown(row) for row in rows], shown)
