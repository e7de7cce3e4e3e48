"""The parts of operations: the service's last hour in numbers, and its actors."""

from actors.operations.actors import LiveActors
from actors.operations.metrics import LiveMetrics
from routes.part import Opening, Part


async def _open_metrics(opening: Opening) -> LiveMetrics:
    return LiveMetrics(opening.clock.now_ms())


async def _open_actors(_opening: Opening) -> LiveActors:
    return LiveActors()


LIVE_METRICS = Part(name="live metrics", open=_open_metrics)
"""Samples of the last hour."""

LIVE_ACTORS = Part(name="live actors", open=_open_actors)
"""The actors that are worth a look."""
