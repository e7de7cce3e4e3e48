"""All links of this node: what is said to a node in one step goes in one message, and what comes is passed on.

Joining is what makes a bus cheap: one message for everything that was said in a step of the event loop takes a third of
the CPU of a message for each entry. While the bus takes nothing, links fill up to their bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog
import trio

from actors.kernel.nodes.batch import seal, unseal
from actors.kernel.nodes.link import Heard, Life, Link, Trouble
from actors.kernel.supervisor import attempt

_log = structlog.get_logger()

TICK_SECONDS = 0.1
"""How often links are looked at that have nothing new to say: beats, and what has to be sent again."""


STILL_SECONDS = 0.5
"""How late the next look may be. A later one says that this process stood still, and what others sent waits unread."""


class Bus(Protocol):
    """Carries messages between nodes, and may lose them."""

    def takes(self, node: str, /) -> bool:
        """Whether messages to a node go out now; when that changes from False to True, `Links.flush` is called."""
        ...

    def publish(self, node: str, data: bytes, /) -> None:
        """Send a message to a node, without waiting. Never raises."""
        ...


@dataclass(slots=True)
class LinkStatistics:
    """Totals of all links since the start.

    Args:
        batches: batches sent.
        entries: entries sent.
        bytes: bytes sent, seals included.
        gaps: how often batches to this node were lost.
        dropped: messages that were no batches of ours, or of a node that is not linked, or not for this life.
    """

    batches: int = 0
    entries: int = 0
    bytes: int = 0
    gaps: int = 0
    dropped: int = 0


class Links:
    """The links of one life of a node.

    Args:
        own: this node and its life.
        key: the key that seals batches: 32 secret bytes, derived from the keys that all nodes have in common.
        bus: carries batches; messages that come over it are to be given to `take`.
        heard: called in order with the name of the other node and an entry, or the trouble before it.
        now: returns monotonic seconds.
        soon: has a function called after the present step of the event loop, once.
    """

    def __init__(
        self,
        own: Life,
        key: bytes,
        bus: Bus,
        heard: Callable[[str, Heard], None],
        *,
        now: Callable[[], float],
        soon: Callable[[Callable[[], None]], None],
    ) -> None:
        self.own = own
        self.statistics = LinkStatistics()
        self._key = key
        self._bus = bus
        self._heard = heard
        self._now = now
        self._soon = soon
        self._links: dict[str, Link] = {}
        self._looked_at: float | None = None  # None before `keep`
        self._is_flushing = False
        self._at_end: list[Callable[[], None]] = []
        self._has_room: Callable[[str], None] = _unheard

    # -- who there is -------------------------------------------------------------------------------

    def meet(self, peer: Life) -> None:
        """Open the link to a node, or to a new life of one: what waited for the former life is dropped with it."""
        link = self._links.get(peer.node)
        if link is None or link.peer.number < peer.number:
            self._links[peer.node] = Link(self.own, peer, self._now())
            self._flush_soon()

    def part(self, node: str) -> None:
        """Close the link to a node that lives no more."""
        self._links.pop(node, None)

    def hears(self, node: str) -> bool:
        """Whether a node was heard so lately that what it said last can still be believed."""
        now = self._look()
        link = self._links.get(node)
        return link is not None and link.is_heard(now)

    def heard_within(self, seconds: float) -> frozenset[str]:
        """The nodes that were heard within these seconds."""
        now = self._look()
        return frozenset(node for node, link in self._links.items() if link.is_heard(now, seconds))

    def waiting_bytes(self) -> dict[str, int]:
        """How many bytes wait in each link, {node: bytes}."""
        return {node: link.waiting_bytes for node, link in self._links.items()}

    def waiting_bytes_of(self, node: str) -> int:
        """How many bytes wait in the link to a node; 0 when it is not linked."""
        link = self._links.get(node)
        return 0 if link is None else link.waiting_bytes

    def on_room(self, listener: Callable[[str], None]) -> None:
        """Have a function called with the name of a node when it has acknowledged something, so that less waits for it.

        It must not raise.
        """
        self._has_room = listener

    # -- talking ------------------------------------------------------------------------------------

    def send(self, node: str, entry: bytes) -> int:
        """Send an entry to a node; returns the number that `is_acknowledged` takes.

        Args:
            entry: the encoded entry, as for `Link.send`.

        Raises:
            LinkFull: the node does not take what it is sent, and all that waited for it was given up.
            KeyError: the node is not linked.
        """
        number = self._links[node].send(entry)
        self.statistics.entries += 1
        if not self._is_flushing:
            self._flush_soon()
        return number

    def is_acknowledged(self, node: str, number: int) -> bool:
        """Whether a node has received an entry; True as well when it lives no more, or begins anew.

        Args:
            node: the node that the entry was sent to.
            number: the number that `send` returned.
        """
        link = self._links.get(node)
        return link is None or link.is_acknowledged(number)

    def at_end_of_step(self, call: Callable[[], None]) -> None:
        """Have a function called once, before what is said in this step is sent; what it says goes with that.

        Where such a function has another called, that follows it. What one raises is logged.
        """
        self._at_end.append(call)
        if not self._is_flushing:
            self._flush_soon()

    def flush(self) -> None:
        """Send what waits, as far as the bus takes it."""
        while self._at_end:
            at_end, self._at_end = self._at_end, []
            for call in at_end:
                attempt("ending a step", "", "", call)
        self._is_flushing = False
        now = self._now()
        for node, link in self._links.items():
            while self._bus.takes(node) and link.wants_to_send(now):
                data = seal(self._key, link.take(now))
                self.statistics.batches += 1
                self.statistics.bytes += len(data)
                self._bus.publish(node, data)

    def take(self, data: bytes) -> None:
        """Take in a message of the bus; what is no batch for this node is counted and dropped."""
        batch = unseal(self._key, data)
        link = None if batch is None else self._links.get(batch.sender)
        if (
            batch is None
            or link is None
            or batch.to_life != self.own.number
            or batch.life != link.peer.number
        ):
            self.statistics.dropped += 1
            return
        waited_bytes = link.waiting_bytes
        # Not the batch's own, of which hearers would keep as many as they keep entries.
        node, now = link.peer.node, self._now()
        heard = link.receive(batch, now)
        if link.waiting_bytes < waited_bytes:
            self._has_room(node)
        for thing in heard:
            if thing is Trouble.GAP:
                self.statistics.gaps += 1
                _log.info("link_gap", node=node)
            self._heard(node, thing)
        if not self._is_flushing and link.wants_to_send(now):
            self._flush_soon()

    async def keep(self) -> None:
        """Look after silent links until cancelled."""
        self._looked_at = self._now()
        while True:
            await trio.sleep(TICK_SECONDS)
            self._look()
            self.flush()

    def _look(self) -> float:
        """The present time. While this process stands still it hears nobody, and that is no silence of the others."""
        now = self._now()
        if self._looked_at is not None:
            still_seconds = now - self._looked_at - TICK_SECONDS
            if still_seconds > STILL_SECONDS:
                for link in self._links.values():
                    link.excuse(still_seconds, now)
            self._looked_at = now
        return now

    def _flush_soon(self) -> None:
        self._is_flushing = True
        self._soon(self.flush)


def _unheard(_node: str) -> None:
    """The default of `on_room`: does nothing."""
