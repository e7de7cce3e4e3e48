"""Tells all other nodes of committed events of rows, so that the memory of each follows by the same reactions.

    topic       body             then
    happened    event, number    the other node calls its reactions; without an event, it only acknowledges
    followed    number           it has called those to this event and all before; `FROM_NOW`: it will from now on

An event is told once it is committed, by the node that made the change, and heard in order. Reactions that turn to
actors (`Reaction.once`) are called on that node alone, since they reach an actor wherever it lives. The caller of the
change is answered when the other nodes have followed it, so that the caller meets no node that does not know of it. But
no node is waited for longer than `FOLLOW_SECONDS`, nor again until it has followed everything.
"""

from collections import deque
from collections.abc import Iterable

import msgspec
import trio

from actors.kernel.nodes.membership import Membership
from actors.kernel.one_shot import OneShot

TOPIC, FOLLOWED = "happened", "followed"

WAITING_MAX = 100_000
"""Most events that may wait for their reactions; beyond it this node's memory would be incomplete, so the node ends."""

NOTHING = ""
"""Sent in place of an event's name: nothing has happened, but the acknowledgement shows that all before was heard."""

FROM_NOW = -1
"""Sent in place of an event's number: the node follows all events from now on."""

FOLLOW_SECONDS = 0.25
"""How long the answer to a change waits for other nodes."""


class _Happened(msgspec.Struct, frozen=True, array_like=True):
    name: str
    event: bytes
    number: int = 0


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Happened).decode


class Retelling:
    """Tells the other nodes of this node's committed events, and receives theirs.

    Args:
        membership: this node among others.
    """

    def __init__(self, membership: Membership) -> None:
        self._membership = membership
        self._forms: dict[str, type] = {}
        self._sender, self._receiver = trio.open_memory_channel[tuple[str, int, object]](WAITING_MAX)
        self._told = membership.life.first_number  # the last number that was told
        # {node: the last event that it has followed}, of those that are waited for
        self._followed: dict[str, int] = {}
        self._late: dict[str, int] = {}  # {node: the event up to which it is not waited for}
        self._waiting: deque[tuple[int, OneShot[None]]] = deque()  # by number of the event
        peers = membership.peers
        peers.hear_topic(TOPIC, self._hear)
        peers.hear_topic(FOLLOWED, self._hear_followed)
        peers.on_parted(self._parted)

    def follow(self, forms: Iterable[type]) -> None:
        """Follow the events that other nodes tell from now on.

        Args:
            forms: the types of events to which the memory of every node reacts; only these are told.
        """
        self._forms = {form.__name__: form for form in forms}
        peers = self._membership.peers
        for node in peers.names:
            self.followed(node, FROM_NOW)
        peers.on_met(lambda node: self.followed(node, FROM_NOW))

    def tell(self, event: object) -> None:
        """Tell all other nodes of a committed event, if it is of a type that their memory follows."""
        name = type(event).__name__
        if name in self._forms:
            self._told += 1
            self._membership.peers.say_all(TOPIC, _encode(_Happened(name, _encode(event), self._told)))

    async def wait_followed(self) -> None:
        """Wait until all other nodes have followed what was told so far, for `FOLLOW_SECONDS` at most.

        Cancellation ends the wait.
        """
        number = self._told
        if self._floor() >= number:
            return
        waiter: OneShot[None] = OneShot()
        self._waiting.append((number, waiter))
        with trio.move_on_after(FOLLOW_SECONDS) as scope:
            await waiter.wait()
        if scope.cancelled_caught:
            for node in [node for node, last in self._followed.items() if last < number]:
                del self._followed[node]
                self._late[node] = number
            self._wake()

    async def wait_heard(self) -> None:
        """Wait until all other nodes have heard what actors of this node have told of their turns so far (`News`).

        It waits for a moment at most.

        Cancellation ends the wait.
        """
        self._told += 1
        self._membership.peers.say_all(TOPIC, _encode(_Happened(NOTHING, b"", self._told)))
        await self.wait_followed()

    # -- for the others -----------------------------------------------------------------------------

    async def next(self) -> tuple[str, int, object]:
        """Wait for the next event of another node; returns (node, number, event); `followed` takes the first two.

        Cancellation ends the wait, and loses nothing.
        """
        return await self._receiver.receive()

    def followed(self, node: str, number: int) -> None:
        """Tell a node that this node has followed one of its events.

        Args:
            node: the node that told the event.
            number: the event's number, as `next` has returned it.
        """
        self._membership.peers.say(node, FOLLOWED, _encode(number))

    def _hear(self, node: str, body: bytes) -> None:
        happened = _decode(body)
        event: object = None
        if happened.name != NOTHING:
            form = self._forms.get(happened.name)
            if form is None:
                # An event of another release, which this node does not know and so has nothing to follow by.
                self.followed(node, happened.number)
                return
            event = msgspec.msgpack.decode(happened.event, type=form)
        try:
            self._sender.send_nowait((node, happened.number, event))
        except trio.WouldBlock:
            self._membership.failed(f"node {node} tells more than this one can follow")

    # -- who is waited for --------------------------------------------------------------------------

    def _hear_followed(self, node: str, body: bytes) -> None:
        number = msgspec.msgpack.decode(body, type=int)
        if number == FROM_NOW:
            number = self._told
        elif number < self._membership.life.first_number:
            return  # what a former life of this node has told
        if number >= self._late.get(node, 0):
            self._late.pop(node, None)
            self._followed[node] = number
            self._wake()

    def _parted(self, node: str) -> None:
        self._followed.pop(node, None)
        self._late.pop(node, None)
        self._wake()

    def _floor(self) -> int:
        """The number of the last event that all nodes have followed which are waited for."""
        hears = self._membership.peers.hears
        return min((last for node, last in self._followed.items() if hears(node)), default=self._told)

    def _wake(self) -> None:
        floor = self._floor()
        while self._waiting and self._waiting[0][0] <= floor:
            self._waiting.popleft()[1].wake(None)
