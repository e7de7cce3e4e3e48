"""The routes that gateways themselves call: registration and heartbeat (contract §7)."""

from functools import partial
from ipaddress import ip_address
from typing import Annotated

import msgspec
import trio

from actors.bounds import MAX_SAFE_INTEGER, ShortText
from actors.connect.claim_keys import digest
from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.gateways import units
from actors.gateways.events import GatewayHeard
from actors.gateways.public import Gateway, gateway_of
from actors.gateways.registry import HEARTBEAT_INTERVAL_MS
from actors.hostnames import is_address, normal_host
from actors.ids import ObjectId
from persistence.gateways.gateways import GatewayRow
from routes.call import Call
from routes.changes import announce, change, change_by_itself
from routes.edge import policies
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import BadServerCredentials
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import PUBLIC
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.gateways.guards import gateway_itself, require_deployment_token
from routes.gateways.parts import CARRYING
from routes.gateways.reactions import AllGateways

SECRET_BYTES = 32

MAX_WAIT_SECONDS = 20
"""Longest wait of a heartbeat: well below the silence after which a gateway is offline."""

Region = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{1,32}$(?!\n)", max_length=32)]
Capacity = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class RegisterBody(Wire, frozen=True):
    """A gateway.

    Args:
        region: 1 to 32 of a-z, 0-9 and `-`, such as `eu-west`.
        public_host: a name or an address that players connect to.
        port: the port that players connect to.
        capacity: connections that it carries at the same time.
        token: the deployment token of the service.
    """

    region: Region
    public_host: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    capacity: Capacity
    token: ShortText


class RegisteredGateway(Gateway, frozen=True, rename="camel"):
    """The gateway, with the secret of its heartbeats, which is not shown again.

    Args:
        gateway_secret: to be sent with each request; shown this once.
        heartbeat_interval_ms: how often it has to send a heartbeat; after three missed ones it is offline.
    """

    gateway_secret: str
    heartbeat_interval_ms: int


class GatewayHeartbeatBody(Wire, frozen=True):
    """The state of a gateway.

    Args:
        connections: how many connections it carries now.
        routes_revision: the revision of the routes that are in force there; 0 = none yet.
        wait_seconds: how long the answer may wait for another revision.
    """

    connections: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    routes_revision: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]
    wait_seconds: Annotated[int, msgspec.Meta(ge=0, le=MAX_WAIT_SECONDS)] = 0


class CarriedRoute(Wire, frozen=True):
    """A route that the gateway is to carry.

    Args:
        route_host: the host that players connect to, in lower case and A-labels.
        proxy_protocol: whether the backend is told each player's address (PROXY protocol).
        revision: the revision at which the route was last changed.
    """

    route_host: str
    backend_host: str
    backend_port: int
    proxy_protocol: bool
    revision: int


class GatewayHeartbeatReply(Wire, frozen=True):
    """The routes that the gateway is to carry.

    Args:
        routes_revision: rises when the routes change; sent back with the next heartbeat.
        routes: all routes, in place of those that it has; left out if it has this revision already.
    """

    routes_revision: int
    routes: list[CarriedRoute] | msgspec.UnsetType = msgspec.UNSET


@endpoint(
    "POST",
    "/v1/connect/gateways/register",
    needs=PUBLIC,
    status=201,
    refusals=(Forbidden, BadServerCredentials, Invalid, QuotaExceeded),
    secret_reply=True,
)
async def register_gateway(call: Call, body: RegisterBody) -> RegisteredGateway:
    """Registers a gateway with the deployment token.

    A gateway that registers again under the same `publicHost` and `port` keeps its id, and its former secret ends; one
    that an admin drains goes on draining. A wrong token is a 401, and a service without a token answers 403. There may
    be 500 gateways.
    """
    require_deployment_token(call, body.token)
    secret = to_base64url(call.service.random_bytes(SECRET_BYTES))
    row = GatewayRow(
        gateway_id=call.new_id(),
        region=body.region,
        public_host=_public_host(body.public_host),
        port=body.port,
        capacity=body.capacity,
        secret=digest(secret),
        last_heartbeat_at_ms=call.now_ms,
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )

    def shape(stored: GatewayRow) -> RegisteredGateway:
        shown = msgspec.structs.asdict(gateway_of(stored, None))
        return RegisteredGateway(**shown, gateway_secret=secret, heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS)

    return await change(call, units.register, row, about=AllGateways(), shape=shape)


@endpoint(
    "POST",
    "/v1/connect/gateways/{gatewayId}/heartbeat",
    needs=PUBLIC,
    rate=policies.SERVER,
    rate_key="gateway_id",
    refusals=(BadServerCredentials, NotFound),
    guard=gateway_itself,
    keyed=False,
)
async def gateway_heartbeat(
    call: Call, gateway_id: ObjectId, body: GatewayHeartbeatBody
) -> Encoded[GatewayHeartbeatReply]:
    """Says how a gateway is, and answers which routes it carries.

    Needs the gateway's secret as bearer token, and its id in `X-Gateway-Id`. The routes come where `routesRevision` is
    not the present one; with `waitSeconds` (at most 20) the answer waits until there is another, and the gateway counts
    as heard until then. What a gateway says it has, is confirmed by that: its routes up to this revision are `active`.
    """
    service, row = call.service, call.subject
    await announce(service, GatewayHeard(gateway_id, call.now_ms, body.connections))
    if not row.online or row.confirmed_revision != body.routes_revision:
        await change_by_itself(service, units.hear, row, body.routes_revision, about=AllGateways())
    waits = partial(service.of(CARRYING).other_than, body.routes_revision)
    table = await call.wait(waits, body.wait_seconds)
    if table is None:  # nobody is there to be told
        table = await service.of(CARRYING).table()
    elif body.wait_seconds:  # the next one comes an interval from now
        await announce(service, GatewayHeard(gateway_id, call.now_ms, body.connections))
    if table.revision == body.routes_revision:
        return Encoded(table.unchanged)
    # Megabytes are joined where a gateway has routes of its own.
    return Encoded(await trio.to_thread.run_sync(table.answer, gateway_id))


def _public_host(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    host = str(ip_address(bare)) if is_address(bare) else normal_host(text)
    if host is None:
        raise Invalid(FieldError("/publicHost", "BAD_FORMAT", "not the name of a host"))
    return host
