"""How far two states of the code differ, and how sure that is: arithmetic alone.

Rounds of one session share a start of the servers, and with that a chance that lasts: where memory came to lie, how a
hash table filled. So the rounds give the ratio of their session, and only the sessions give the interval: Student's for
the mean of the sessions' log ratios.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

TRIMMED = 0.25
"""The share of a session's rounds that is left out at either end, as other processes may have had the machine in
them."""

# {sessions: Student's t for an interval of 95 %, that many less one degrees of freedom}
_T = {
    2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262, 11: 2.228,
    12: 2.201, 13: 2.179, 14: 2.160, 15: 2.145, 16: 2.131, 17: 2.120, 18: 2.110, 19: 2.101, 20: 2.093,
}  # fmt: skip
MOST_SESSIONS = max(_T)


class Round(NamedTuple):
    """What a unit cost in one round on each server.

    Args:
        new: the cost at the working tree.
        old, again: the costs at the other state of the code, which is started twice.
    """

    new: float
    old: float
    again: float


class Ratio(NamedTuple):
    """A ratio with its interval of 95 %.

    Args:
        middle: the geometric mean of the sessions.
        low, high: the bounds; 0 and infinity after a single session, which says nothing about the next.
    """

    middle: float
    low: float
    high: float

    @property
    def excludes_one(self) -> bool:
        """Whether the interval excludes 1, so that the difference is hardly chance."""
        return self.low > 1 or self.high < 1


def compared(sessions: Sequence[Sequence[Round]]) -> tuple[Ratio, Ratio]:
    """(new ÷ old, the control old ÷ old); the new server is compared with both old ones.

    Args:
        sessions: at least one, with at least one round each; every cost above 0.
    """
    pairs = [
        [
            (math.log(one.new / math.sqrt(one.old * one.again)), math.log(one.again / one.old))
            for one in rounds
        ]
        for rounds in sessions
    ]
    return (
        interval([trimmed_mean([new for new, _ in rounds]) for rounds in pairs]),
        interval([trimmed_mean([control for _, control in rounds]) for rounds in pairs]),
    )


def trimmed_mean(values: Sequence[float]) -> float:
    """The mean without the quarter of smallest and the quarter of largest values, rounded down."""
    out = int(len(values) * TRIMMED)
    return fmean(sorted(values)[out : len(values) - out])


def interval(logs: Sequence[float]) -> Ratio:
    """The ratio whose logarithm is the mean of the sessions' logarithms, with its interval.

    Args:
        logs: the natural logarithm of each session's ratio, 1 to `MOST_SESSIONS` of them.
    """
    middle = fmean(logs)
    if len(logs) == 1:
        return Ratio(math.exp(middle), 0.0, math.inf)
    half = _T[len(logs)] * stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))
