"""Tells nodes who is on the others: users with live sockets, so that they are online everywhere, and game servers that
listen for commands.

Each node tells of its own, and of nobody else's: whom it has when it meets another node, how often, and from then on
who comes and goes. So an entry has one writer, and what a node has told goes with it: of users, ten seconds after it is
dead, unless they have come elsewhere by then.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import repeat
from typing import Protocol

import msgspec

from actors.kernel.nodes.peers import Peers

TOLD_AT_ONCE = 10_000
"""Most ids in one message: 0.4 MB."""


class Counts(Protocol):
    """Counts for each id (of a user, say) the other nodes that have it."""

    def opened(self, id: str, since_ms: int, /) -> None:
        """One more node has the id; `since_ms` as in `Came`."""
        ...

    def closed(self, id: str, at_ms: int, /) -> None:
        """One node less has the id; `at_ms` as in `Went`, 0 where the node is dead."""
        ...


class Here(msgspec.Struct, frozen=True, array_like=True, tag="here"):
    """The ids that are on the node that says it, and no others.

    Args:
        ids: the ids.
        counts: how often each id is there, in the order of `ids`; empty where each is there once.
        since_ms: since when each id is there, as in `Came`; empty where nobody asks.
    """

    ids: list[str]
    counts: list[int] = []
    since_ms: list[int] = []


class Also(msgspec.Struct, frozen=True, array_like=True, tag="also"):
    """Further ids that are on the node that says it, after `Here` and in the same form."""

    ids: list[str]
    counts: list[int] = []
    since_ms: list[int] = []


class Came(msgspec.Struct, frozen=True, array_like=True, tag="came"):
    """An id has come to the node that says it, or is there more or less often than before.

    Args:
        id: the id.
        count: how often it is there now.
        since_ms: since when it has been on some node, epoch milliseconds; 0 where nobody asks.
    """

    id: str
    count: int = 1
    since_ms: int = 0


class Went(msgspec.Struct, frozen=True, array_like=True, tag="went"):
    """An id is no longer on the node that says it.

    Args:
        id: the id.
        at_ms: when it went, epoch milliseconds; 0 for now.
    """

    id: str
    at_ms: int = 0


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Here | Also | Came | Went).decode


class Times(Protocol):
    """Knows since when an id is there, and what time it is; epoch milliseconds."""

    def since_ms(self, id: str, /) -> int:
        """Since when an id that is on this node has been on some node."""
        ...

    def now_ms(self) -> int:
        """The present time."""
        ...


class _NoTimes:
    """The times where nobody asks for them: all 0."""

    def since_ms(self, _id: str) -> int:
        return 0

    def now_ms(self) -> int:
        return 0


NO_TIMES = _NoTimes()


def roaming_over(
    peers: Peers,
    topic: str,
    counts: Counts,
    *,
    times: Times = NO_TIMES,
    counted: Callable[[str], None] = lambda _id: None,
) -> "Roaming":
    """A `Roaming` that is connected to the other nodes.

    Args:
        peers: the other nodes.
        topic: the topic under which nodes tell each other (`Peers.hear_topic`).
        counts, times, counted: as for `Roaming`.
    """
    roaming = Roaming(counts, partial(peers.say_all, topic), times=times, counted=counted)

    def met(node: str) -> None:
        for body in roaming.everybody():
            peers.say(node, topic, body)

    peers.on_met(met)
    peers.on_parted(roaming.parted)
    peers.hear_topic(topic, roaming.heard)
    return roaming


class Roaming:
    """The ids on this node and on each other one.

    Args:
        counts: counts an id once for each other node that has it.
        tell_all: sends an encoded message to all other nodes.
        times: says since when ids are there; by default nobody asks, and all times are 0.
        counted: called with an id when another node has it more or less often than before; must neither wait nor
            raise.
    """

    def __init__(
        self,
        counts: Counts,
        tell_all: Callable[[bytes], None],
        *,
        times: Times = NO_TIMES,
        counted: Callable[[str], None] = lambda _id: None,
    ) -> None:
        self._counts = counts
        self._tell_all = tell_all
        self._times = times
        self._counted = counted
        self._own: dict[str, int] = {}  # {id: how often it is here}
        self._others: dict[str, dict[str, int]] = {}  # {node: {id: how often it is there}}

    # -- here ---------------------------------------------------------------------------------------

    def opened(self, id: str) -> None:
        """Count an id here once more (a socket of a user); each call is matched by one of `closed`."""
        count = self._own[id] = self._own.get(id, 0) + 1
        self._tell_all(_encode(Came(id, count, self._times.since_ms(id))))

    def closed(self, id: str) -> None:
        """Count an id here once less."""
        count = self._own[id] = self._own[id] - 1
        if count:
            self._tell_all(_encode(Came(id, count, self._times.since_ms(id))))
        else:
            del self._own[id]
            self._tell_all(_encode(Went(id, self._times.now_ms())))

    def everybody(self) -> Iterator[bytes]:
        """The encoded messages for a node that has just been met, in order."""
        ids = list(self._own)
        for first in range(0, len(ids) or 1, TOLD_AT_ONCE):
            some = ids[first : first + TOLD_AT_ONCE]
            counts = [self._own[id] for id in some]
            since_ms = [self._times.since_ms(id) for id in some]
            yield _encode(Also(some, counts, since_ms) if first else Here(some, counts, since_ms))

    # -- elsewhere ----------------------------------------------------------------------------------

    def elsewhere(self, id: str) -> Mapping[str, int]:
        """How often an id is on each other node that has it."""
        return {node: ids[id] for node, ids in self._others.items() if id in ids}

    def heard(self, node: str, body: bytes) -> None:
        """Take in what another node tells of its own ids.

        Args:
            node: the name of that node.
            body: the encoded message, as its `everybody` or `tell_all` had it.

        Raises:
            msgspec.DecodeError: the message is of another release.
        """
        told = _decode(body)
        ids = self._others.setdefault(node, {})
        match told:
            case Here():
                self._come_all(ids, told)
                self._go(ids, ids.keys() - set(told.ids))
            case Also():
                self._come_all(ids, told)
            case Came():
                self._come(ids, told.id, told.count, told.since_ms)
            case Went():
                self._go(ids, {told.id} & ids.keys(), told.at_ms)

    def parted(self, node: str) -> None:
        """Forget the ids of a node that lives no more."""
        ids = self._others.pop(node, {})
        self._go(ids, set(ids))

    def _come_all(self, ids: dict[str, int], told: Here | Also) -> None:
        # A node of the release before tells neither counts nor times.
        ones, no_times = repeat(1, len(told.ids)), repeat(0, len(told.ids))
        for id, count, since_ms in zip(told.ids, told.counts or ones, told.since_ms or no_times, strict=True):
            self._come(ids, id, count, since_ms)

    def _come(self, ids: dict[str, int], id: str, count: int, since_ms: int) -> None:
        before = ids.get(id, 0)
        ids[id] = count
        if not before:
            self._counts.opened(id, since_ms)
        if count != before:
            self._counted(id)

    def _go(self, ids: dict[str, int], gone: set[str], at_ms: int = 0) -> None:
        for id in gone:
            del ids[id]
            self._counts.closed(id, at_ms)
            self._counted(id)
