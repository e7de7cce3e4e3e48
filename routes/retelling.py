"""What has happened to rows, told to all other nodes: the memory of each follows it by the same reactions.

    topic       body             then
    happened    event, number    the memory of the other node follows it; without an event, it has heard all before
    followed    number           it has, this event and all before it; `FROM_NOW`: it will from now on

Told once it is committed, by the node that did it, and heard in order. Reactions that turn to actors (`Reaction.once`)
are called there alone: they reach an actor wherever it lives. Whoever made the change is answered when the others have
followed it, so that they meet no node that does not know of it; but no node is waited for longer than a moment, nor
again until it has followed everything.
"""

from collections import deque
from collections.abc import Iterable

import msgspec
import trio

from actors.kernel.nodes.membership import Membership
from actors.kernel.one_shot import OneShot

TOPIC, FOLLOWED = "happened", "followed"

WAITING_MAX = 100_000
"""What may wait to be reacted to; beyond it this node's memory cannot be trusted any more, and it ends."""

NOTHING = ""
"""In place of the name of an event: nothing has happened, but whoever waits knows what was heard before."""

FROM_NOW = -1
"""In place of the number of an event: what is told from now on is followed."""

FOLLOW_SECONDS = 0.25
"""How long an answer waits for other nodes."""


class _Happened(msgspec.Struct, frozen=True, array_like=True):
    name: str
    event: bytes
    number: int = 0


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Happened).decode


class Retelling:
    """What this node tells the others of committed events, and hears of theirs.

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
        """Follow what others tell from now on.

        Args:
            forms: the types of events that are told: those to which the memory of every node reacts.
        """
        self._forms = {form.__name__: form for form in forms}
        peers = self._membership.peers
        for node in peers.names:
            self.followed(node, FROM_NOW)
        peers.on_met(lambda node: self.followed(node, FROM_NOW))

    def tell(self, event: object) -> None:
        """Tell all other nodes of a committed event, if their memory follows it."""
        name = type(event).__name__
        if name in self._forms:
            self._told += 1
            self._membership.peers.say_all(TOPIC, _encode(_Happened(name, _encode(event), self._told)))

    async def wait_followed(self) -> None:
        """Wait until the memory of all other nodes has followed what was told so far, for a moment at most.

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
        """Wait until all other nodes have heard what owners here have told of their turns so far (`News`).

        It waits for a moment at most.

        Cancellation ends the wait.
        """
        self._told += 1
        self._membership.peers.say_all(TOPIC, _encode(_Happened(NOTHING, b"", self._told)))
        await self.wait_followed()

    # -- for the others -----------------------------------------------------------------------------

    async def next(self) -> tuple[str, int, object]:
        """Wait for the next event of another node; returns the node, and number and event for `followed`.

        Cancellation ends the wait, and loses nothing.
        """
        return await self._receiver.receive()

    def followed(self, node: str, number: int) -> None:
        """Tell a node that the memory of this one has followed an event of its.

        Args:
            node: its name.
            number: of the event, as `next` has returned it.
        """
        self._membership.peers.say(node, FOLLOWED, _encode(number))

    def _hear(self, node: str, body: bytes) -> None:
        happened = _decode(body)
        event: object = None
        if happened.name != NOTHING:
            form = self._forms.get(happened.name)
            if form is None:
                # Of a release that this node is not.
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
        """Number of the last event that all have followed who are waited for."""
        hears = self._membership.peers.hears
        return min((last for node, last in self._followed.items() if hears(node)), default=self._told)

    def _wake(self) -> None:
        floor = self._floor()
        while self._waiting and self._waiting[0][0] <= floor:
            self._waiting.popleft()[1].wake(None)
