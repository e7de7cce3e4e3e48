"""Takes a sample of every series each five seconds (`actors/operations/series.py`).

Nothing is counted for it: it reads what the parts of the service count anyway, and walks routes, actors and sockets
once. Rates are differences of two samples.
"""

import time
from collections.abc import Mapping
from typing import NamedTuple

from actors.kernel.overview import load_of
from actors.operations.metrics import NAME
from actors.operations.quantiles import quantile
from routes.edge.pipeline.metrics import BUCKETS_SECONDS, Answered
from routes.operations.memory import resident_bytes
from routes.operations.parts import LIVE_METRICS
from routes.service import Service
from routes.users.parts import USER_DIRECTORY

DIGITS = 3
"""Decimal places that a sample keeps."""


class Reading(NamedTuple):
    """The counters as they were at one moment.

    Args:
        at_ms: epoch milliseconds.
        totals: {name of a series that is a rate: its total so far}.
        answered: counts and latencies of the responses of all routes so far.
    """

    at_ms: int
    totals: Mapping[str, float]
    answered: Answered


class Sampler:
    """Takes samples of one service, each the difference of two readings.

    Args:
        service: the service whose numbers are sampled.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._before: Reading | None = None

    def take(self) -> None:
        """Take a sample and show it; none at the first call, nor before a millisecond has passed since the last."""
        service, before = self._service, self._before
        now = read_totals(service, time.process_time())
        if before is not None and now.at_ms <= before.at_ms:
            return
        self._before = now
        if before is not None:
            live = service.of(LIVE_METRICS)
            live.add(now.at_ms, sample_between(service, before, now))
            service.system.changed(live.view, NAME, NAME)


def read_totals(service: Service, cpu_seconds: float) -> Reading:
    """Read the counters now.

    Args:
        service: the service whose counters are read.
        cpu_seconds: processor time of the process so far.
    """
    answered = service.metrics.answered()
    return Reading(service.clock.now_ms(), _totals(service, answered, cpu_seconds), answered)


def sample_between(service: Service, before: Reading, now: Reading) -> dict[str, float | None]:
    """A number for each series, or None where there is none: rates between two readings, and present levels.

    Args:
        service: the service whose levels are read.
        before, now: two readings at least a millisecond apart.
    """
    seconds = (now.at_ms - before.at_ms) / 1000
    rates = {name: (total - before.totals[name]) / seconds for name, total in now.totals.items()}
    rates["cpu"] *= 100
    latency = _latency(now.answered.since(before.answered))
    sample: dict[str, float | None] = {**rates, **latency, **_levels(service)}
    return {name: None if number is None else round(number, DIGITS) for name, number in sample.items()}


def _totals(service: Service, answered: Answered, cpu_seconds: float) -> dict[str, float]:
    """Series that only grow: {name: total so far}."""
    kernel, written = service.system.counters, service.database.statistics()
    totals: dict[str, float] = {
        "requestsOk": 0,
        "requestsRefused": 0,
        "requestsLimited": 0,
        "requestsFailed": 0,
        "turns": kernel.turns,
        "letters": kernel.letters,
        "activations": kernel.activations,
        "restarts": kernel.restarts,
        "overdue": kernel.overdue,
        "frames": kernel.frames_offered,
        "framesSkipped": kernel.frames_skipped,
        "commits": written.transactions,
        "commitsTurns": written.turns,
        "jobFailures": sum(service.housekeeping.failures.values()),
        "cpu": cpu_seconds,
    }
    for status, count in answered.by_status.items():
        totals[_sort_of(status)] += count
    return totals


def _sort_of(status: int) -> str:
    if status < 400:
        return "requestsOk"
    if status == 429:
        return "requestsLimited"
    return "requestsRefused" if status < 500 else "requestsFailed"


def _latency(answered: Answered) -> Mapping[str, float | None]:
    p50, p99 = (quantile(share, BUCKETS_SECONDS, answered.counts) for share in (0.5, 0.99))
    return {
        "latencyP50": None if p50 is None else 1000 * p50,
        "latencyP99": None if p99 is None else 1000 * p99,
    }


def _levels(service: Service) -> dict[str, float]:
    """Series that go up and down: {name: present value}."""
    load, written = load_of(service.system), service.database.statistics()
    return {
        "sockets": len(service.sockets),
        "actors": load.actors,
        "users": len(service.of(USER_DIRECTORY)),
        "mailbox": load.mailbox,
        "writerQueue": written.turns_waiting,
        "databaseAvailable": int(written.available),
        "databaseConnections": written.connections,
        "databaseIdle": written.connections_idle,
        "jobBehind": max(service.housekeeping.behind_seconds().values(), default=0),
        "memory": resident_bytes(),
        "unsent": service.unsent.total_bytes,
        "slowConnections": service.unsent.slow,
        "arriving": service.arriving.total_bytes,
        "socketQueues": sum(socket.queued_bytes for socket in service.sockets),
        "replay": load.replay_bytes,
        "journal": service.disk.journal_bytes,
    }
