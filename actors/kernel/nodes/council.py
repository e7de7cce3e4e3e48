"""Which nodes may go on: judged by every node from the same rows, in which each says whom it hears over the bus.

Nodes that hear each other, directly or through others, are a group.

    the groups of n nodes                           then
    one has more than half                          it goes on, the others yield
    one has half, and no other                      it goes on, the others yield
    two have half                                   the one with the oldest life goes on, the other yields
    none has half: the bus is gone for all          all stay, each with what it owns, and cannot reach each other

A node that yields gives up what it owns and leaves, so that the clients of those that go on reach every owner. Fences
make any mistake of this rule a matter of availability, never of truth.
"""

from collections.abc import Collection, Iterable
from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """What a node is to do."""

    GO_ON = "it reaches enough of the others"
    STAY = "nobody reaches enough others: everybody keeps what they own"
    YIELD = "others go on, and do not reach it"


class Seat(NamedTuple):
    """A node as its row shows it.

    Args:
        node: the node's name.
        life: the number of its life; a lower one began earlier.
        heard: the names of the nodes that it hears.
    """

    node: str
    life: int
    heard: frozenset[str]


def verdict(seats: Collection[Seat], node: str) -> Verdict:
    """What a node is to do, by the module's table.

    Args:
        seats: all nodes that may own shards.
        node: the name of one of them; any other yields.
    """
    groups = _groups(seats)
    most = max(map(len, groups), default=0)
    if 2 * most < len(seats):
        return Verdict.STAY if any(seat.node == node for seat in seats) else Verdict.YIELD
    lives = {seat.node: seat.life for seat in seats}
    going = min(
        (group for group in groups if len(group) == most),
        key=lambda group: min(lives[one] for one in group),
        default=frozenset[str](),
    )
    return Verdict.GO_ON if node in going else Verdict.YIELD


def _groups(seats: Iterable[Seat]) -> list[frozenset[str]]:
    """The names of those that hear each other, group by group."""
    heard = {seat.node: seat.heard for seat in seats}
    left, groups = set(heard), []
    while left:
        group: set[str] = set()
        reached = {left.pop()}
        while reached:
            one = reached.pop()
            group.add(one)
            reached |= {other for other in left if other in heard[one] and one in heard[other]}
            left -= reached
        groups.append(frozenset(group))
    return groups
