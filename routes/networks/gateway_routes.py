"""Gateway routes: the host under which gateways forward players to a game server (service-api §4, contract §7)."""

from typing import Annotated

import msgspec

from actors.errors import Conflict, DomainNotVerified, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.gateways.events import RoutesChanged
from actors.ids import Uuid, parse_object_id
from actors.networks import units_gateway_routes
from actors.networks.public import GatewayRoute, route_of
from persistence.networks.rows import RouteRow
from routes.call import Call
from routes.changes import change
from routes.connect.guards import by_secret
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SERVER
from routes.edge.wire import Wire
from routes.networks.automation import INLINE_SECONDS
from routes.networks.name_service import NAME_SERVICE

_ROUTE = "/v1/connect/servers/{serverId}/gateway-route"

Host = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class RouteBody(Wire, frozen=True):
    """The host that players connect to, and where the gateway forwards them.

    Args:
        route_host: inside a verified domain of the server's network, or below the gateway domain.
        backend_host: a name or an address that the gateway can reach.
        proxy_protocol: whether the gateway sends the server each player's address (PROXY protocol).
        gateway_id: the only gateway that may serve the route; null for any.
    """

    route_host: Host
    backend_host: Host
    backend_port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    proxy_protocol: bool = False
    gateway_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z-]{1,36}$(?!\n)", max_length=36)] | None = (
        None
    )


class RouteReply(Wire, frozen=True):
    """The route.

    Args:
        route: the route as it is now.
    """

    route: GatewayRoute


@endpoint(
    "PUT",
    _ROUTE,
    needs=SERVER,
    refusals=(NotFound, Forbidden, Invalid, DomainNotVerified, Conflict, QuotaExceeded),
    guard=by_secret,
)
async def put_gateway_route(call: Call, server_id: Uuid, body: RouteBody) -> RouteReply:
    """Sets the host under which players reach the calling server.

    Needs the server's secret, and the server must be claimed. A host outside the verified domains of its network and
    the gateway domain is a 409, and so is one of another server. The route is `pending` until an online gateway has
    confirmed it. If the zone of the network's DNS provider holds the host, the service makes its A records, with the
    addresses of the gateways. There may be 50,000 routes.
    """
    here = call.service.of(NAME_SERVICE)
    route_host, backend_host = units_gateway_routes.checked(body.route_host, body.backend_host)
    row = RouteRow(
        server_id=server_id,
        route_host=route_host,
        backend_host=backend_host,
        backend_port=body.backend_port,
        proxy_protocol=body.proxy_protocol,
        gateway_id=_as_it_is_known(body.gateway_id),
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )
    networks: list[str | None] = []

    def shape(stored: tuple[RouteRow, str | None]) -> RouteReply:
        networks.append(stored[1])
        return RouteReply(route_of(stored[0]))

    put, zone, host = units_gateway_routes.put, here.gateway_domain, here.record_hosts
    made = await change(call, put, row, zone, host, call.now_ms, about=RoutesChanged(), shape=shape)
    await _push(call, networks[-1])
    return made


@endpoint("DELETE", _ROUTE, needs=SERVER, refusals=(NotFound, Forbidden), guard=by_secret)
async def remove_gateway_route(call: Call, server_id: Uuid) -> None:
    """Removes the route of the calling server.

    Needs the server's secret. Answers 204; DNS records that the service made for the host are removed.
    """
    networks: list[str | None] = []
    await change(
        call,
        units_gateway_routes.remove,
        server_id,
        call.now_ms,
        about=RoutesChanged(),
        shape=networks.append,
    )
    await _push(call, networks[-1])


def _as_it_is_known(gateway_id: str | None) -> str | None:
    """The id of a gateway in lower case; a text that is no id stays as it is, and names no gateway."""
    return None if gateway_id is None else parse_object_id(gateway_id) or gateway_id


async def _push(call: Call, network_id: str | None) -> None:
    if network_id is not None:
        call.wait_longer(INLINE_SECONDS)
        await call.service.of(NAME_SERVICE).automation.push_soon(network_id)
