"""Channels of operators on `/v1/social/live`; for super-admins.

| channel   | snapshot        | events in delta mode |
|-----------|-----------------|----------------------|
| `metrics` | MetricsSnapshot | metrics_sampled      |
"""

from actors.operations import metrics
from routes.edge.declare.shown import Shown
from routes.edge.principal import SUPER_ADMIN
from routes.live.channel import LiveChannel
from routes.operations.parts import LIVE_METRICS

METRICS = LiveChannel(
    name=metrics.NAME,
    needs=SUPER_ADMIN,
    shown=lambda service: service.of(LIVE_METRICS).view,
    shared=True,
    shows=Shown(
        says="The newest sample of the series of `GET /v1/admin/metrics/history`, one each five seconds.",
        snapshot=metrics.MetricsSnapshot,
        events={"metrics_sampled": metrics.MetricsSampled},
    ),
)
