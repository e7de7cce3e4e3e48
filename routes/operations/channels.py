"""Channels of operators on `/v1/social/live`; for super-admins.

| channel   | snapshot        | events in delta mode |
|-----------|-----------------|----------------------|
| `metrics` | MetricsSnapshot | metrics_sampled      |
| `actors`  | ActorsSnapshot  | actors_changed       |
"""

from actors.operations import actors, metrics
from routes.edge.declare.shown import Shown
from routes.edge.principal import SUPER_ADMIN
from routes.live.channel import LiveChannel
from routes.operations.parts import LIVE_ACTORS, LIVE_METRICS

METRICS = LiveChannel(
    name=metrics.NAME,
    needs=(SUPER_ADMIN,),
    shown=lambda service: service.of(LIVE_METRICS).view,
    shared=True,
    shows=Shown(
        says="The newest sample of the series of `GET /v1/admin/metrics/history`, one each five seconds.",
        snapshot=metrics.MetricsSnapshot,
        events={"metrics_sampled": metrics.MetricsSampled},
    ),
)

ACTORS = LiveChannel(
    name=actors.NAME,
    needs=(SUPER_ADMIN,),
    shown=lambda service: service.of(LIVE_ACTORS).view,
    shared=True,
    prepare=lambda service, _user_id: service.of(LIVE_ACTORS).prepare(),
    shows=Shown(
        says="Totals of all live actors by kind, and the fifty that are worth a look: faulty ones, then the most"
        " restarts, then the longest queues; one frame each two seconds.",
        snapshot=actors.ActorsSnapshot,
        events={"actors_changed": actors.ActorsChanged},
    ),
)
