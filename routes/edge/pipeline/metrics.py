"""The numbers of `/metrics`: requests are counted here, everything else is read when it is scraped.

Counting a request must cost next to nothing, so the pipeline keeps the counters of each route, and Prometheus'
objects are made at the scrape. Each service has its own registry; nothing is global.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram; a request has five seconds by default."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Reading = Callable[[], float]
"""Reads one number at scrape time."""

Readings = Callable[[], Mapping[str, float]]
"""Reads the numbers of a family at scrape time: {label's value: number}. There must be few values."""


class Answers:
    """Counts of the responses of one route, by status and by duration."""

    __slots__ = ("by_status", "counts", "total_seconds")

    def __init__(self) -> None:
        self.by_status: dict[int, int] = {}
        self.counts = [0] * (len(BUCKETS_SECONDS) + 1)
        """How many requests fell into each bucket of duration, with one more for longer ones."""
        self.total_seconds = 0.0

    def add(self, status: int, seconds: float) -> None:
        """Count one response.

        Args:
            status: the response's status.
            seconds: the time from the first check to the response.
        """
        self.by_status[status] = self.by_status.get(status, 0) + 1
        self.counts[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        self.total_seconds += seconds


class Answered(NamedTuple):
    """The responses of all routes together.

    Args:
        by_status: {status: how many responses}.
        counts: how many fell into each bucket of `BUCKETS_SECONDS`, with one more for longer ones.
    """

    by_status: Mapping[int, int]
    counts: Sequence[int]

    def since(self, before: "Answered") -> "Answered":
        """The responses since an earlier moment.

        Args:
            before: the responses until that moment.
        """
        return Answered(
            {status: count - before.by_status.get(status, 0) for status, count in self.by_status.items()},
            [now - then for now, then in zip(self.counts, before.counts, strict=True)],
        )


class Metrics(Collector):
    """The metrics of one service."""

    def __init__(self) -> None:
        # by method and path
        self._answers: dict[str, Answers] = {}
        # {name: (description, how to read it)}
        self._gauges: dict[str, tuple[str, Reading]] = {}
        self._counters: dict[str, tuple[str, Reading]] = {}
        # {name: (description, label, how to read its numbers)}
        self._gauge_families: dict[str, tuple[str, str, Readings]] = {}
        self._counter_families: dict[str, tuple[str, str, Readings]] = {}
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def answers(self, route: str) -> Answers:
        """The counts of a route, to be added to; the same object for the same route.

        Args:
            route: the declared method and path, never the actual path: there must be few values.
        """
        return self._answers.setdefault(route, Answers())

    def answered(self) -> Answered:
        """The responses of all routes so far."""
        by_status: dict[int, int] = {}
        counts = [0] * (len(BUCKETS_SECONDS) + 1)
        for answers in self._answers.values():
            for status, count in answers.by_status.items():
                by_status[status] = by_status.get(status, 0) + count
            if answers.by_status:
                counts = list(map(add, counts, answers.counts))
        return Answered(by_status, counts)

    def gauge(self, name: str, says: str, read: Reading) -> None:
        """Publish a number that goes up and down.

        Args:
            name: the metric's name after `partyline_`, with its unit.
            says: the metric's description, one sentence.
            read: called at each scrape; must not block.
        """
        self._gauges[name] = (says, read)

    def counter(self, name: str, says: str, read: Reading) -> None:
        """Publish a number that only goes up; `name`, `says` and `read` as for `gauge`."""
        self._counters[name] = (says, read)

    def gauges(self, name: str, says: str, label: str, read: Readings) -> None:
        """Publish a family of numbers that go up and down.

        Args:
            name, says: as for `gauge`.
            label: the name of the label whose values tell the numbers apart.
            read: called at each scrape; must not block.
        """
        self._gauge_families[name] = (says, label, read)

    def counters(self, name: str, says: str, label: str, read: Readings) -> None:
        """Publish a family of numbers that only go up; `name`, `says`, `label` and `read` as for `gauges`."""
        self._counter_families[name] = (says, label, read)

    def collect(self) -> Iterator[Metric]:
        """All metrics as Prometheus' objects, for the registry."""
        answers = CounterMetricFamily(
            "partyline_http_requests", "Requests by declared route and status.", labels=("route", "status")
        )
        asked = [(route, known) for route, known in self._answers.items() if known.by_status]
        for route, known in asked:
            for status, count in known.by_status.items():
                answers.add_metric((route, str(status)), count)
        yield answers
        durations = HistogramMetricFamily(
            "partyline_http_request_duration_seconds",
            "From the first check to the answer.",
            labels=("route",),
        )
        for route, known in asked:
            durations.add_metric((route,), list(_cumulative(known.counts)), known.total_seconds)
        yield durations
        for name, (says, read) in self._gauges.items():
            yield GaugeMetricFamily(f"partyline_{name}", says, value=read())
        for name, (says, read) in self._counters.items():
            yield CounterMetricFamily(f"partyline_{name}", says, value=read())
        for name, (says, label, read_all) in self._gauge_families.items():
            yield _filled(GaugeMetricFamily(f"partyline_{name}", says, labels=(label,)), read_all())
        for name, (says, label, read_all) in self._counter_families.items():
            yield _filled(CounterMetricFamily(f"partyline_{name}", says, labels=(label,)), read_all())

    def text(self) -> bytes:
        """The body of `/metrics`."""
        return generate_latest(self._registry)


Family = TypeVar("Family", GaugeMetricFamily, CounterMetricFamily)


def _filled(family: Family, numbers: Mapping[str, float]) -> Family:
    for label, number in numbers.items():
        family.add_metric((label,), number)
    return family


def _cumulative(counts: Iterable[int]) -> Iterator[tuple[str, float]]:
    total = 0
    for end, count in zip((*map(str, BUCKETS_SECONDS), "+Inf"), counts, strict=True):
        total += count
        yield end, total
