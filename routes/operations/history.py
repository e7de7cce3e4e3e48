"""The last hour of the service in numbers, for super-admins."""

from typing import Annotated

import msgspec

from actors.bounds import MAX_SAFE_INTEGER
from actors.operations.history import EVERY_MS
from actors.operations.series import SERIES
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire
from routes.operations.parts import LIVE_METRICS


class HistoryQuery(Wire, frozen=True):
    """Which samples.

    Args:
        since_ms: only samples after this time, epoch milliseconds; left out = all that are kept.
    """

    since_ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)] = 0


class MetricSeries(Wire, frozen=True):
    """One series.

    Args:
        unit: `per second`, `ms`, `bytes`, `percent`, `seconds` or `count`.
        says: what it is.
        values: one for each of `atMs`; null where there is none.
    """

    name: str
    unit: str
    says: str
    values: list[float | None]


class MetricsHistory(Wire, frozen=True):
    """The samples, oldest first.

    Args:
        started_at_ms: when the process started: what was before is not kept.
        every_ms: how far samples are apart.
        at_ms: when they were taken, epoch milliseconds.
        series: one for each metric.
    """

    started_at_ms: int
    every_ms: int
    at_ms: list[int]
    series: list[MetricSeries]


@endpoint("GET", "/v1/admin/metrics/history", needs=SUPER_ADMIN)
def read_metrics_history(call: Call, query: HistoryQuery) -> MetricsHistory:
    """Answers samples of some thirty series, one each five seconds, of the last hour at most: they are kept in memory,
    from the start of the process on. The channel `metrics` tells each new one."""
    live = call.service.of(LIVE_METRICS)
    at_ms = live.history.times(query.since_ms)
    return MetricsHistory(
        live.newest.started_at_ms,
        EVERY_MS,
        at_ms,
        [
            MetricSeries(name, one.unit, one.says, live.history.numbers(name, len(at_ms)))
            for name, one in SERIES.items()
        ],
    )
