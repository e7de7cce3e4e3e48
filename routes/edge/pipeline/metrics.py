"""What `/metrics` tells: requests counted here, everything else read at the moment it is asked for.

Counting a request must cost next to nothing, so whoever serves a route holds its numbers; the Prometheus forms
are made at scrape time. Each service has its own registry: nothing global.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper ends; a request has five seconds."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Reading = Callable[[], float]
"""Reads one number at scrape time."""

Readings = Callable[[], Mapping[str, float]]
"""Reads the numbers of a family at scrape time: {label: number}. Labels must stay few."""


class Answers:
    """What became of the requests of one route, and how long they took."""

    __slots__ = ("by_status", "counts", "total_seconds")

    def __init__(self) -> None:
        self.by_status: dict[int, int] = {}
        self.counts = [0] * (len(BUCKETS_SECONDS) + 1)
        """Requests by duration, one for each bucket and one beyond."""
        self.total_seconds = 0.0

    def add(self, status: int, seconds: float) -> None:
        """Count one request.

        Args:
            status: as answered.
            seconds: from the first check to the answer.
        """
        self.by_status[status] = self.by_status.get(status, 0) + 1
        self.counts[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        self.total_seconds += seconds


class Metrics(Collector):
    """The numbers of one service."""

    def __init__(self) -> None:
        # by method and path
        self._answers: dict[str, Answers] = {}
        # by name: what it says, and how to read it
        self._gauges: dict[str, tuple[str, Reading]] = {}
        self._counters: dict[str, tuple[str, Reading]] = {}
        # by name: what it says, what tells its numbers apart, and how to read them
        self._gauge_families: dict[str, tuple[str, str, Readings]] = {}
        self._counter_families: dict[str, tuple[str, str, Readings]] = {}
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def answers(self, route: str) -> Answers:
        """The numbers of a route, to be counted in; the same object for the same route.

        Args:
            route: the declared method and path, never the actual path: labels must stay few.
        """
        return self._answers.setdefault(route, Answers())

    def gauge(self, name: str, says: str, read: Reading) -> None:
        """Show a number that goes up and down.

        Args:
            name: after `partyline_`, with its unit.
            says: one sentence.
            read: called at each scrape, must not wait.
        """
        self._gauges[name] = (says, read)

    def counter(self, name: str, says: str, read: Reading) -> None:
        """Show a number that only goes up; arguments as for `gauge`.

        Args:
            name: without the prefix `partyline_`.
            says: one sentence for who reads `/metrics`.
        """
        self._counters[name] = (says, read)

    def gauges(self, name: str, says: str, label: str, read: Readings) -> None:
        """Show a family of numbers that go up and down.

        Args:
            name, says: as for `gauge`.
            label: what tells them apart.
            read: called at each scrape, must not wait.
        """
        self._gauge_families[name] = (says, label, read)

    def counters(self, name: str, says: str, label: str, read: Readings) -> None:
        """Show a family of numbers that only go up; arguments as for `gauges`.

        Args:
            name: without the prefix `partyline_`.
            says: one sentence for who reads `/metrics`.
            label: by which the numbers are told apart.
        """
        self._counter_families[name] = (says, label, read)

    def collect(self) -> Iterator[Metric]:
        """The Prometheus forms of everything, for the registry."""
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
        """The whole page."""
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
