"""The parts of gateways: their registry, and the routes that they carry."""

from actors.gateways.registry import Registry
from persistence.gateways import gateways
from routes.gateways.carrying import Carrying
from routes.part import Opening, Part


async def _open_registry(opening: Opening) -> Registry:
    return Registry(opening.clock, await opening.database.read(gateways.read_all))


async def _open_carrying(opening: Opening) -> Carrying:
    return Carrying(opening.database)


GATEWAY_REGISTRY = Part(name="gateways", open=_open_registry)
"""All gateways in memory, with their last heartbeats."""

CARRYING = Part(name="routes of gateways", open=_open_carrying)
"""The newest routes, and the heartbeats that wait for newer ones."""
