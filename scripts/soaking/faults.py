"""The faults of a soak and their moments, as a pure function of its length and its seed."""

from random import Random
from typing import Literal, NamedTuple

Kind = Literal["server", "database", "sockets", "slow readers"]
MOST = 24
SECONDS_EACH = 10.0
"""Least time between two faults."""

_FIRST: tuple[Kind, ...] = ("server", "sockets", "server", "database", "server", "slow readers")
_LATER: tuple[Kind, ...] = ("sockets", "slow readers", "database")
"""The faults of the last part: the server is not killed there, as its last process is to live long enough to be
judged."""


class Fault(NamedTuple):
    """One fault.

    Args:
        at_seconds: when it happens, in seconds since the beginning.
        kind: the server or its database is killed with `kill -9`, all sockets are dropped at once, or sockets are
            opened whose readers take nothing.
    """

    at_seconds: float
    kind: Kind


def schedule(seconds: float, seed: int) -> list[Fault]:
    """The faults of a soak, in order: two dozen in a long one, and none in its last part.

    Args:
        seconds: how long the soak is.
        seed: decides the moments of the faults.
    """
    count = max(1, min(MOST, int(seconds / SECONDS_EACH) - 1))
    rng, step = Random(seed), seconds / (count + 1)
    first = max(1, count // 3)
    kinds = [
        _FIRST[n % len(_FIRST)] if n < first else _LATER[(n - first) % len(_LATER)] for n in range(count)
    ]
    return [Fault((number + rng.uniform(0.2, 0.8)) * step, kind) for number, kind in enumerate(kinds)]
