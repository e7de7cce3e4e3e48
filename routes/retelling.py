"""What has happened to rows, told to all other nodes: the memory of each follows it by the same reactions.

Told once it is committed, by the node that did it, and heard in order. Reactions that turn to actors (`Reaction.once`)
are called there alone: they reach an actor wherever it lives.
"""

from collections.abc import Iterable

import msgspec
import trio

from actors.kernel.nodes.membership import Membership

TOPIC = "happened"

WAITING_MAX = 100_000
"""What may wait to be reacted to; beyond it this node's memory cannot be trusted any more, and it ends."""


class _Happened(msgspec.Struct, frozen=True, array_like=True):
    name: str
    event: bytes


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
        self._sender, self._receiver = trio.open_memory_channel[object](WAITING_MAX)
        membership.peers.hear_topic(TOPIC, self._hear)

    def follow(self, forms: Iterable[type]) -> None:
        """Say which events are told, by their types: those to which the memory of every node reacts."""
        self._forms = {form.__name__: form for form in forms}

    def tell(self, event: object) -> None:
        """Tell all other nodes of a committed event, if their memory follows it."""
        name = type(event).__name__
        if name in self._forms:
            self._membership.peers.say_all(TOPIC, _encode(_Happened(name, _encode(event))))

    async def next(self) -> object:
        """Wait for the next event of another node. Cancellation ends the wait, and loses nothing."""
        return await self._receiver.receive()

    def _hear(self, node: str, body: bytes) -> None:
        happened = _decode(body)
        form = self._forms.get(happened.name)
        if form is None:
            return  # of a release that this node is not
        try:
            self._sender.send_nowait(msgspec.msgpack.decode(happened.event, type=form))
        except trio.WouldBlock:
            self._membership.failed(f"node {node} tells more than this one can follow")
