"""What memory learns of committed gateways and routes, also after an unknown outcome."""

from collections.abc import Sequence

import msgspec

from actors.gateways.events import GatewayChanged, GatewayForgotten, GatewayHeard, RoutesChanged
from persistence.gateways import gateways
from routes.changes import Reaction, Reconciliation
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.service import Service


class AllGateways(msgspec.Struct, frozen=True):
    """All gateways: after a change with an unknown outcome all of them are read again, since they are few."""


def _changed(service: Service, event: GatewayChanged) -> None:
    service.of(GATEWAY_REGISTRY).changed(event.row)


def _forgotten(service: Service, event: GatewayForgotten) -> None:
    service.of(GATEWAY_REGISTRY).forgotten(event.gateway_id)


def _heard(service: Service, event: GatewayHeard) -> None:
    service.of(GATEWAY_REGISTRY).heard(event.gateway_id, event.at_ms, event.connections)


def _routes_changed(service: Service, _event: RoutesChanged) -> None:
    service.of(CARRYING).changed()


async def _ask(service: Service, _about: AllGateways, _happened: Sequence[object]) -> Sequence[object]:
    rows = await service.database.read(gateways.read_all)
    there = {row.gateway_id for row in rows}
    gone = [row.gateway_id for row in service.of(GATEWAY_REGISTRY).rows() if row.gateway_id not in there]
    return [*map(GatewayChanged, rows), *map(GatewayForgotten, gone), RoutesChanged()]


REACTIONS = (
    Reaction(GatewayChanged, _changed),
    Reaction(GatewayForgotten, _forgotten),
    Reaction(GatewayHeard, _heard),
    Reaction(RoutesChanged, _routes_changed),
)
RECONCILIATIONS = (Reconciliation(AllGateways, _ask),)
