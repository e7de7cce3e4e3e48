"""The parts of operations: the service's last hour in numbers."""

from actors.operations.metrics import LiveMetrics
from routes.part import Opening, Part


async def _open_metrics(opening: Opening) -> LiveMetrics:
    return LiveMetrics(opening.clock.now_ms())


LIVE_METRICS = Part(name="live metrics", open=_open_metrics)
"""Samples of the last hour."""
