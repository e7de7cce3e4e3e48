"""Reactions of the registry and the routes in memory to committed changes, and their reconciliation."""

from collections.abc import Sequence

import msgspec

from actors.gateways.events import (
    GatewayChanged,
    GatewayForgotten,
    GatewayHeard,
    RoutesChanged,
    RoutesConfirmed,
)
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


async def _changed(service: Service, event: GatewayChanged) -> None:
    registry, gateway_id = service.of(GATEWAY_REGISTRY), event.row.gateway_id
    registry.told(gateway_id)
    with registry.reading() as told:
        row = await service.database.read(gateways.read, gateway_id)
    if gateway_id in told:
        return  # and is read by whoever was told later
    if row is None:
        registry.forgotten(gateway_id)
    else:
        registry.changed(row)


def _confirmed(service: Service, event: RoutesConfirmed) -> None:
    service.of(GATEWAY_REGISTRY).confirmed(event.gateway_id, event.secret, event.revision)


def _forgotten(service: Service, event: GatewayForgotten) -> None:
    service.of(GATEWAY_REGISTRY).forgotten(event.gateway_id)


def _heard(service: Service, event: GatewayHeard) -> None:
    service.of(GATEWAY_REGISTRY).heard(event.gateway_id, event.at_ms, event.connections)


def _routes_changed(service: Service, _event: RoutesChanged) -> None:
    service.of(CARRYING).changed()


async def _ask(service: Service, _about: AllGateways, _happened: Sequence[object]) -> Sequence[object]:
    known = [row.gateway_id for row in service.of(GATEWAY_REGISTRY).rows()]
    rows = await service.database.read(gateways.read_all)
    there = {row.gateway_id for row in rows}
    # Only those that were known before: one that was registered since is not in these rows.
    gone = [gateway_id for gateway_id in known if gateway_id not in there]
    return [*map(GatewayChanged, rows), *map(GatewayForgotten, gone), RoutesChanged()]


async def _look(service: Service, _about: MissedGateways, _happened: Sequence[object]) -> tuple[()]:
    registry = service.of(GATEWAY_REGISTRY)
    known = {row.gateway_id for row in registry.rows()}
    with registry.reading() as told:
        rows = await service.database.read(gateways.read_all)
    for row in rows:
        if row.gateway_id not in told:
            registry.changed(row)
    for gateway_id in known - {row.gateway_id for row in rows}:
        registry.forgotten(gateway_id)
    service.of(CARRYING).changed()
    return ()


REACTIONS = (
    Reaction(GatewayChanged, _changed),
    Reaction(RoutesConfirmed, _confirmed),
    Reaction(GatewayForgotten, _forgotten),
    Reaction(GatewayHeard, _heard),
    Reaction(RoutesChanged, _routes_changed),
)
RECONCILIATIONS = (Reconciliation(AllGateways, _ask), Reconciliation(MissedGateways, _look))
