"""Reactions of the registry and the routes in memory to committed changes, and their reconciliation."""

from collections.abc import Sequence

import msgspec

from actors.gateways.events import GatewayChanged, GatewayForgotten, GatewayHeard, RoutesChanged
from persistence.gateways import gateways
from routes.changes import Reaction, Reconciliation, reconcile_when_parted
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.service import Service


class AllGateways(msgspec.Struct, frozen=True):
    """Reconciliation subject: all gateways, which are read again after an unknown outcome, since they are few."""


class MissedGateways(msgspec.Struct, frozen=True):
    """Reconciliation subject: all gateways and routes, since a node that has ended may not have told of its changes."""


def follow_ends_of_nodes(service: Service) -> None:
    """Subscribe: have memory read all gateways, and the routes, when another node has ended."""
    reconcile_when_parted(service, MissedGateways())


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


async def _look(service: Service, _about: MissedGateways, _happened: Sequence[object]) -> tuple[()]:
    registry = service.of(GATEWAY_REGISTRY)
    before = {row.gateway_id: row for row in registry.rows()}
    there = {row.gateway_id: row for row in await service.database.read(gateways.read_all)}
    for gateway_id in before.keys() | there.keys():
        if registry.row(gateway_id) is not before.get(gateway_id):
            continue  # heard of while it was read, and newer
        row = there.get(gateway_id)
        if row is None:
            registry.forgotten(gateway_id)
        else:
            registry.changed(row)
    service.of(CARRYING).changed()
    return ()


REACTIONS = (
    Reaction(GatewayChanged, _changed),
    Reaction(GatewayForgotten, _forgotten),
    Reaction(GatewayHeard, _heard),
    Reaction(RoutesChanged, _routes_changed),
)
RECONCILIATIONS = (Reconciliation(AllGateways, _ask), Reconciliation(MissedGateways, _look))
