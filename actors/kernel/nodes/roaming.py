"""Who is on other nodes: users with live sockets, so that they are online everywhere; game servers that listen for
commands.

Each node tells of its own, and of nobody else's: whom it has when it meets another node, and from then on who comes and
goes. So an entry has one writer, and what a node has told goes with it: of users, ten seconds after it is dead, unless
they have come elsewhere by then.
"""

from collections.abc import Callable, Iterator
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
    """The ids that are on the node that says it, and no others."""

    ids: list[str]


class Also(msgspec.Struct, frozen=True, array_like=True, tag="also"):
    """Further ids that are there."""

    ids: list[str]


class Came(msgspec.Struct, frozen=True, array_like=True, tag="came"):
    """One is there now."""

    id: str


class Went(msgspec.Struct, frozen=True, array_like=True, tag="went"):
    """One is there no more."""

    id: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Here | Also | Came | Went).decode


def roaming_over(peers: Peers, topic: str, counts: Counts) -> "Roaming":
    """Who is where, told to the other nodes and heard from them.

    Args:
        peers: the other nodes.
        topic: what they are told about.
        counts: counts an id once for each other node that has it.
    """
    roaming = Roaming(counts, partial(peers.say_all, topic))

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
    """

    def __init__(self, counts: Counts, tell_all: Callable[[bytes], None]) -> None:
        self._counts = counts
        self._tell_all = tell_all
        self._own: dict[str, int] = {}  # {id: how often it is here}
        self._others: dict[str, set[str]] = {}  # {node: its ids}

    # -- here ---------------------------------------------------------------------------------------

    def opened(self, id: str) -> None:
        """Count an id here once more (a socket of a user); each call is matched by one of `closed`."""
        self._own[id] = self._own.get(id, 0) + 1
        if self._own[id] == 1:
            self._tell_all(_encode(Came(id)))

    def closed(self, id: str) -> None:
        """Count it once less."""
        self._own[id] -= 1
        if not self._own[id]:
            del self._own[id]
            self._tell_all(_encode(Went(id)))

    def everybody(self) -> Iterator[bytes]:
        """What a node is told that has just been met, in order."""
        ids = list(self._own)
        yield _encode(Here(ids[:TOLD_AT_ONCE]))
        for first in range(TOLD_AT_ONCE, len(ids), TOLD_AT_ONCE):
            yield _encode(Also(ids[first : first + TOLD_AT_ONCE]))

    # -- elsewhere ----------------------------------------------------------------------------------

    def heard(self, node: str, body: bytes) -> None:
        """Take in what another node tells of its own.

        Args:
            node: its name.
            body: as `everybody` and `tell_all` have it there.

        Raises:
            msgspec.DecodeError: it is of another release.
        """
        told = _decode(body)
        ids = self._others.setdefault(node, set())
        match told:
            case Here():
                there = set(told.ids)
                self._come(ids, there - ids)
                self._go(ids, ids - there)
            case Also():
                self._come(ids, set(told.ids) - ids)
            case Came():
                self._come(ids, {told.id} - ids)
            case Went():
                self._go(ids, {told.id} & ids)

    def parted(self, node: str) -> None:
        """Forget a node that lives no more."""
        ids = self._others.pop(node, set())
        self._go(ids, set(ids))

    def _come(self, ids: set[str], came: set[str]) -> None:
        ids |= came
        for id in came:
            self._counts.opened(id)

    def _go(self, ids: set[str], gone: set[str]) -> None:
        ids -= gone
        for id in gone:
            self._counts.closed(id)
