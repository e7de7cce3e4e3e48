"""What this node says to the others, and who handles what they say.

Everything is kept (`link.py`), so it comes once and in order. What a node tells before this one is ready to listen
waits. A node that has been told something which never came cannot trust its memory any more, and ends (`NodeEnded`).
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from actors.kernel.nodes.answers import Answers
from actors.kernel.nodes.entries import Entry, Said, decode, encode
from actors.kernel.nodes.link import ENTRY_BYTES, LINK_BYTES, Heard, Life, LinkFull, Trouble
from actors.kernel.nodes.links import Bus, Links
from actors.kernel.supervisor import attempt

_log = structlog.get_logger()

CALLS_BYTES = LINK_BYTES // 2
"""With more bytes than this in a link, callers are refused, so that entries that must arrive still find room."""

SHOWN_BYTES = LINK_BYTES // 4
"""With more bytes than this in a link, its node is told of no more turns, so that callers still find room."""

EARLY_ENTRIES = 100_000
"""Most entries that are held until this node listens."""


class Peers:
    """All other nodes: what is said to them, and who takes what they say.

    Args:
        own: this node and its life.
        key: the key that seals batches, the same on all nodes.
        bus: carries the batches.
        lost: called with the name of a node when entries that it has sent will never come.
        now, soon: as for `Links`.

    Attributes:
        answers: the answers to their commands.
    """

    def __init__(
        self,
        own: Life,
        key: bytes,
        bus: Bus,
        lost: Callable[[str], None],
        *,
        now: Callable[[], float],
        soon: Callable[[Callable[[], None]], None],
    ) -> None:
        self.links = Links(own, key, bus, self._take, now=now, soon=soon)
        self.answers = Answers(self.links)
        self._lost = lost
        self._hearers: dict[type[Any], Callable[[str, Any], None]] = {}
        self._topics: dict[str, Callable[[str, bytes], None]] = {}
        # (node, what it has said; None: it lives no more)
        self._early: deque[tuple[str, bytes | None]] | None = deque()
        self._is_closed = False
        self._lives: dict[str, int] = {}
        self._met: list[Callable[[str], None]] = []
        self._parted: list[Callable[[str], None]] = []

    # -- who there is -------------------------------------------------------------------------------

    @property
    def names(self) -> frozenset[str]:
        """The names of all other nodes that are linked."""
        return frozenset(self._lives)

    @property
    def are_any(self) -> bool:
        """Whether another node is linked."""
        return bool(self._lives)

    def life(self, node: str) -> Life | None:
        """The life in which a node is linked; None when it is not."""
        number = self._lives.get(node)
        return None if number is None else Life(node, number)

    def lives(self, peer: Life) -> bool:
        """Whether a node is linked in this life: its next one waits for no answer to what this one has asked."""
        return self._lives.get(peer.node) == peer.number

    def meet(self, peer: Life) -> None:
        """Link a node; one that was linked in a former life is unlinked first."""
        known = self._lives.get(peer.node)
        if known == peer.number:
            return
        if known is not None:
            self.part(peer.node)
        self._lives[peer.node] = peer.number
        self.links.meet(peer)
        _log.info("node_met", node=peer.node, life=peer.number)
        self._tell_met(peer.node)

    def part(self, node: str) -> None:
        """Unlink a node that lives no more, and tell whoever waits for it."""
        if self._lives.pop(node, None) is None:
            return
        self.links.part(node)
        self.answers.part(node)
        _log.info("node_parted", node=node)
        self._tell_parted(node)
        if self._early is not None:
            # Its end follows what it has said, for whoever hears of that later.
            self._early.append((node, None))

    def _tell_met(self, node: str) -> None:
        for listener in self._met:
            attempt("meeting a node", "", node, listener, node)

    def _tell_parted(self, node: str) -> None:
        for listener in self._parted:
            attempt("hearing of a node's end", "", node, listener, node)

    def on_met(self, listener: Callable[[str], None]) -> None:
        """Have a function called with the name of each node, or new life of one, that is linked from now on."""
        self._met.append(listener)

    def on_parted(self, listener: Callable[[str], None]) -> None:
        """Have a function called with the name of each node that lives no more."""
        self._parted.append(listener)

    def hears(self, node: str) -> bool:
        """Whether a node was heard lately."""
        return self.links.hears(node)

    @property
    def has_been_heard(self) -> bool:
        """Whether all nodes that are heard have been sent their answers, and have acknowledged everything."""
        return not any(
            waiting_bytes or self.answers.are_waiting_for(node)
            for node, waiting_bytes in self.links.waiting_bytes().items()
            if self.hears(node)
        )

    # -- talking ------------------------------------------------------------------------------------

    def tell(self, node: str, entry: Entry) -> None:
        """Tell a node something that it must hear; one that is not linked does not hear it."""
        self._send(node, encode(entry))

    def tell_all(self, entry: Entry) -> None:
        """Tell all other nodes something that they must hear."""
        if self._lives:
            data = encode(entry)
            for node in self._lives:
                self._send(node, data)

    def at_end_of_step(self, call: Callable[[], None]) -> None:
        """Have a function called once, before what is said in this step is sent; what it says goes with that."""
        self.links.at_end_of_step(call)

    def call(self, node: str, entry: Entry) -> bool:
        """Say something for a caller; returns False when the node is not heard, or too much waits for it already."""
        if node not in self._lives or not self.links.hears(node):
            return False
        data = encode(entry)
        if len(data) > ENTRY_BYTES or self.links.waiting_bytes_of(node) + len(data) > CALLS_BYTES:
            return False
        self._send(node, data)
        return True

    def is_too_large(self, data: bytes) -> bool:
        """Whether no node takes an encoded entry of this size."""
        return len(data) > ENTRY_BYTES

    def show(self, node: str, data: bytes) -> bool:
        """Say something that the other node can do without for now; returns False when too much waits for it already.

        Args:
            data: the encoded entry.
        """
        if node not in self._lives or self.links.waiting_bytes_of(node) + len(data) > SHOWN_BYTES:
            return False
        self._send(node, data)
        return True

    def _send(self, node: str, data: bytes) -> None:
        if node not in self._lives:
            return
        try:
            self.links.send(node, data)
        except LinkFull:
            # All that waits was given up, and the other node will hear of that.
            _log.error("link_full", node=node)

    # -- listening ----------------------------------------------------------------------------------

    def hear(self, kind: type[Any], hearer: Callable[[str, Any], None]) -> None:
        """Have entries of a type passed on, with the name of the node that sent them."""
        self._hearers[kind] = hearer

    def hear_topic(self, topic: str, hearer: Callable[[str, bytes], None]) -> None:
        """Have what is said to a topic passed on, with the name of the node that said it."""
        self._topics[topic] = hearer

    def say(self, node: str, topic: str, body: bytes) -> None:
        """Tell a node something about a topic.

        Args:
            body: the message, as the hearer of the topic there understands it.
        """
        self.tell(node, Said(topic, body))

    def offer(self, node: str, topic: str, body: bytes) -> bool:
        """As `say`, for what the node can do without for now; returns False when too much waits for it already.

        Args:
            body: the message, as the hearer of the topic there understands it.
        """
        return self.show(node, encode(Said(topic, body)))

    def say_all(self, topic: str, body: bytes) -> None:
        """Tell all other nodes something about a topic.

        Args:
            body: the message, as the hearer of the topic there understands it.
        """
        self.tell_all(Said(topic, body))

    def listen(self) -> None:
        """Pass on what has come, and from now on whatever comes: everybody who hears is there.

        Of a node that has ended before, its end is told behind what it had said; one that has come again is met again.
        """
        early, self._early = self._early, None
        for node, data in early or ():
            if data is not None:
                self._pass_on(node, data)
                continue
            self._tell_parted(node)
            if node in self._lives:
                self._tell_met(node)

    def close(self) -> None:
        """Pass on nothing more: everybody who hears has ended, while the links last a little longer."""
        self._is_closed = True

    def _take(self, node: str, heard: Heard) -> None:
        if self._is_closed or heard is Trouble.GAP:
            return
        if heard is Trouble.LOST:
            self._lost(node)
        elif self._early is None:
            self._pass_on(node, heard)
        elif len(self._early) < EARLY_ENTRIES:
            self._early.append((node, heard))
        else:
            self._lost(node)

    def _pass_on(self, node: str, data: bytes) -> None:
        try:
            entry = decode(data)
        except msgspec.DecodeError:
            _log.warning("entry_not_understood", node=node)
            return
        kind = type(entry)
        if kind is Said:
            topic = self._topics.get(entry.topic)
            if topic is not None:
                attempt("hearing a node", entry.topic, node, topic, node, entry.body)
            return
        hearer = self._hearers.get(kind)
        if hearer is not None:
            attempt("hearing a node", kind.__name__, node, hearer, node, entry)
