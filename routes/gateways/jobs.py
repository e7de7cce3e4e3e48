"""Periodic jobs of gateways: find silent ones and missed changes, and delete those that are gone (contract §7)."""

from functools import partial

from actors.gateways import units
from actors.kernel.clock import Leaps
from actors.time import DAY_MS
from persistence.gateways import gateways
from routes.changes import change_by_itself
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.gateways.reactions import AllGateways
from routes.jobs import Job
from routes.pruning import Pruning
from routes.service import Service

KEPT_MS = 7 * DAY_MS
"""How long a gateway that is offline is kept."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """All jobs of gateways."""
    return (
        Job("silent gateways", 1, partial(_settle, service, Leaps(service.clock)), one_node=True),
        Job("revision of routes", 1, service.of(CARRYING).look),
        Job("heartbeats of gateways", 60, partial(_write_heartbeats, service), one_node=True),
        Job("gateways that are gone", 3600, Pruning(partial(_forget, service), most=100).run, one_node=True),
    )


async def _settle(service: Service, leaps: Leaps) -> None:
    registry = service.of(GATEWAY_REGISTRY)
    if leaps.noticed():
        registry.begin()
    silent, back = registry.gone_silent(), registry.come_back()
    if silent or back:
        await change_by_itself(service, units.settle, silent, back, about=AllGateways())


async def _write_heartbeats(service: Service) -> None:
    registry = service.of(GATEWAY_REGISTRY)
    heartbeats = registry.unwritten()
    if heartbeats:
        await change_by_itself(service, gateways.save_heartbeats, heartbeats, about=None)
        registry.written(heartbeats)


async def _forget(service: Service, limit: int) -> bool:
    before_ms = service.clock.now_ms() - KEPT_MS
    return await change_by_itself(service, units.forget, limit, before_ms, about=AllGateways()) >= limit
