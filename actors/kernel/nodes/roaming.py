"""Who is on other nodes: users with live sockets, so that they are online everywhere; game servers that listen for
commands.

Each node tells of its own, and of nobody else's: whom it has when it meets another node, how often, and from then on
who comes and goes. So an entry has one writer, and what a node has told goes with it: of users, ten seconds after it is
dead, unless they have come elsewhere by then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

import msgspec

from actors.kernel.nodes.peers import Peers

TOLD_AT_ONCE = 10_000
"""Most ids in one message: 0.4 MB."""


class Counts(Protocol):
    """Counts nodes for each id."""

    def opened(self, id: str, /) -> None:
        """One more node has it."""
        ...

    def closed(self, id: str, /) -> None:
        """One node less has it."""
        ...


class Here(msgspec.Struct, frozen=True, array_like=True, tag="here"):
    """The ids that are on the node that says it, and no others.

    Args:
        ids: which.
        counts: how often each is there; empty where each is once.
    """

    ids: list[str]
    counts: list[int] = []


class Also(msgspec.Struct, frozen=True, array_like=True, tag="also"):
    """Further ids that are there; as `Here`."""

    ids: list[str]
    counts: list[int] = []


class Came(msgspec.Struct, frozen=True, array_like=True, tag="came"):
    """One is there now.

    Args:
        id: which.
        count: how often.
    """

    id: str
    count: int = 1


class Went(msgspec.Struct, frozen=True, array_like=True, tag="went"):
    """One is there no more."""

    id: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Here | Also | Came | Went).decode


def roaming_over(
    peers: Peers, topic: str, counts: Counts, *, counted: Callable[[str], None] = lambda _id: None
) -> "Roaming":
    """Who is where, told to the other nodes and heard from them.

    Args:
        peers: the other nodes.
        topic: what they are told about.
        counts: counts an id once for each other node that has it.
        counted: called with an id when another node has it more or less often than before; must neither wait nor
            raise.
    """
    roaming = Roaming(counts, partial(peers.say_all, topic), counted)

    def met(node: str) -> None:
        for body in roaming.everybody():
            peers.say(node, topic, body)

    peers.on_met(met)
    peers.on_parted(roaming.parted)
    peers.hear_topic(topic, roaming.heard)
    return roaming


class Roaming:
    """Who is where.

    Args:
        counts: counts an id once for each other node that has it.
        tell_all: tells all other nodes something.
        counted: called with an id when another node has it more or less often than before.
    """

    def __init__(
        self,
        counts: Counts,
        tell_all: Callable[[bytes], None],
        counted: Callable[[str], None] = lambda _id: None,
    ) -> None:
        self._counts = counts
        self._tell_all = tell_all
        self._counted = counted
        self._own: dict[str, int] = {}  # {id: how often it is here}
        self._others: dict[str, dict[str, int]] = {}  # {node: {id: how often it is there}}

    # -- here ---------------------------------------------------------------------------------------

    def opened(self, id: str) -> None:
        """Count an id here once more (a socket of a user); each call is matched by one of `closed`."""
        count = self._own[id] = self._own.get(id, 0) + 1
        self._tell_all(_encode(Came(id, count)))

    def closed(self, id: str) -> None:
        """Count it once less."""
        count = self._own[id] = self._own[id] - 1
        if count:
            self._tell_all(_encode(Came(id, count)))
        else:
            del self._own[id]
            self._tell_all(_encode(Went(id)))

    def everybody(self) -> Iterator[bytes]:
        """What a node is told that has just been met, in order."""
        ids, counts = list(self._own), list(self._own.values())
        yield _encode(Here(ids[:TOLD_AT_ONCE], counts[:TOLD_AT_ONCE]))
        for first in range(TOLD_AT_ONCE, len(ids), TOLD_AT_ONCE):
            last = first + TOLD_AT_ONCE
            yield _encode(Also(ids[first:last], counts[first:last]))

    # -- elsewhere ----------------------------------------------------------------------------------

    def elsewhere(self, id: str) -> Mapping[str, int]:
        """How often an id is on each other node that has it."""
        return {node: ids[id] for node, ids in self._others.items() if id in ids}

    def heard(self, node: str, body: bytes) -> None:
        """Take in what another node tells of its own.

        Args:
            node: its name.
            body: as `everybody` and `tell_all` have it there.

        Raises:
            msgspec.DecodeError: it is of another release.
        """
        told = _decode(body)
        ids = self._others.setdefault(node, {})
        match told:
            case Here():
                there = _counts_of(told.ids, told.counts)
                self._come(ids, there)
                self._go(ids, ids.keys() - there.keys())
            case Also():
                self._come(ids, _counts_of(told.ids, told.counts))
            case Came():
                self._come(ids, {told.id: told.count})
            case Went():
                self._go(ids, {told.id} & ids.keys())

    def parted(self, node: str) -> None:
        """Forget a node that lives no more."""
        ids = self._others.pop(node, {})
        self._go(ids, set(ids))

    def _come(self, ids: dict[str, int], came: Mapping[str, int]) -> None:
        for id, count in came.items():
            before = ids.get(id, 0)
            ids[id] = count
            if not before:
                self._counts.opened(id)
            if count != before:
                self._counted(id)

    def _go(self, ids: dict[str, int], gone: set[str]) -> None:
        for id in gone:
            del ids[id]
            self._counts.closed(id)
            self._counted(id)


def _counts_of(ids: Sequence[str], counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(ids, counts or [1] * len(ids), strict=True))
