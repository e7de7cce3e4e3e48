"""How long what a node owned is not served: after it was killed, and while it hands over, by the kernel's own times."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from actors.kernel.nodes.giving import GIVEN_AT_ONCE
from actors.kernel.nodes.membership import RENEW_SECONDS, WATCH_SECONDS
from actors.kernel.nodes.renewals import ROW_SECONDS
from persistence.nodes.shards import SHARDS

STEP_SECONDS = 0.01
"""How long a short transaction, or loading an owner, takes in the mean."""

FLIGHT_SECONDS = 0.004
"""How long a turn in flight takes to land, in the mean (BENCHMARKS.md, REST posts)."""

SNAPSHOT_SECONDS = 0.003

SNAPSHOTS_AT_ONCE = 50

CHANGED = 0.1
"""The part of live owners that have changed since their last snapshot."""


class Times(NamedTuple):
    """Times in seconds: half are shorter than the median, one in a hundred is longer than `p99`."""

    median: float
    p99: float
    longest: float


def killed(nodes: int, kills: int, rng: Random) -> Times:
    """The times from `kill -9` of a node until another serves what it owned: its row runs out, another node sees that,
    takes the shard, and loads an owner.

    Args:
        nodes: how many nodes there were.
        kills: how many kills to play.
        rng: makes the random choices.
    """
    return _times([_killed(nodes, rng) for _ in range(kills)])


def _killed(nodes: int, rng: Random) -> float:
    since_renewal = rng.random() * RENEW_SECONDS
    until_looked = min(rng.random() for _ in range(nodes - 1)) * WATCH_SECONDS
    return ROW_SECONDS - since_renewal + until_looked + rng.gammavariate(2, STEP_SECONDS) * 2


def handed_over(nodes: int, live_owners: int, rng: Random) -> tuple[Times, float]:
    """The times of a rolling restart: how long a shard pauses, and after how many seconds the slowest node is empty.

    Args:
        nodes: how many nodes there are.
        live_owners: how many owners are in memory, on all nodes together.
        rng: makes the random choices.
    """
    pauses: list[float] = []
    slowest = 0.0
    owners = live_owners / SHARDS
    for _ in range(nodes):
        lanes = [0.0] * GIVEN_AT_ONCE
        for _ in range(SHARDS // nodes):
            saving = -(-owners * CHANGED // SNAPSHOTS_AT_ONCE) * SNAPSHOT_SECONDS
            pause = rng.expovariate(1 / FLIGHT_SECONDS) + saving + rng.gammavariate(2, STEP_SECONDS / 4)
            lane = min(range(GIVEN_AT_ONCE), key=lanes.__getitem__)
            lanes[lane] += pause
            pauses.append(pause)
        slowest = max(slowest, *lanes)
    return _times(pauses), slowest


def _times(seconds: Sequence[float]) -> Times:
    ordered = sorted(seconds)
    return Times(ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1])
