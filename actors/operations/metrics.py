"""The channel `metrics`: the newest sample of all series, told to all who watch when it is taken."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from actors.kernel.facets import Delta
from actors.kernel.kind import Event
from actors.memory_views import memory_view
from actors.operations.history import EVERY_MS, History
from actors.operations.series import SERIES

NAME = "metrics"
"""The name of the view, of its channel, and of the one id that it has."""

INTERVAL_MS = 1_000
"""Frames are at least this far apart."""


class MetricsSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame: the newest sample.

    Args:
        started_at_ms: when the process started; another one than before means a restart.
        every_ms: the time from one sample to the next.
        at_ms: when the sample was taken; 0 before the first.
        values: {series: its number, or null where there is none}.
    """

    type: Literal["metrics_snapshot"] = "metrics_snapshot"
    started_at_ms: int
    every_ms: int = EVERY_MS
    at_ms: int = 0
    values: Mapping[str, float | None] = {}


class MetricsSampled(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `metrics_sampled`: a new sample; fields as in the snapshot.

    Args:
        values: {name of a metric: its value}; null where there is none.
    """

    at_ms: int
    values: Mapping[str, float | None]


class Sampled(Event, frozen=True):
    """A sample was taken; what was missed is replayed sample by sample. Fields as in the snapshot."""

    at_ms: int
    values: Mapping[str, float | None]


class LiveMetrics:
    """The last hour, and the view of its newest sample.

    Args:
        started_at_ms: when the process started, epoch milliseconds.
    """

    def __init__(self, started_at_ms: int) -> None:
        self.history = History(tuple(SERIES))
        self.newest = MetricsSnapshot(started_at_ms=started_at_ms)
        self.view = memory_view(NAME, lambda: self.newest, _delta, interval_ms=INTERVAL_MS, events=_events)

    def add(self, at_ms: int, sample: Mapping[str, float | None]) -> None:
        """Keep a sample and show it; the view must be marked as changed after it.

        Args:
            at_ms: when it was taken, epoch milliseconds.
            sample: a number for each series; None where there is none.
        """
        self.history.add(at_ms, sample)
        self.newest = msgspec.structs.replace(self.newest, at_ms=at_ms, values=sample)


def _events(before: MetricsSnapshot, after: MetricsSnapshot, _sources: Collection[str]) -> Sequence[Event]:
    return () if before is after else (Sampled(after.at_ms, after.values),)


def _delta(_state: MetricsSnapshot, event: Sampled, _audience: None) -> Delta:
    return Delta("metrics_sampled", MetricsSampled(event.at_ms, event.values))
