"""Commands without a caller for owners that may live on another node.

What is told is already in rows, so an owner that is not in memory needs no telling: it reads them when it is loaded. A
copy of it has read them before; each node hears of such a change, and has its own copy read them anew. One that is in
memory has to hear of it wherever it is by now:

    the owner is                          what is told
    in memory here                        is put into its mailbox
    this node's, and not in memory        is dropped
    another node's, by a higher fence     goes there
    nowhere, as far as is known           waits until that is known, for as long as a caller would

A node that is told something and has the owner no more passes it on in the same way. Each time the fence is higher, so
nothing goes in a circle. What goes through a former owner may be overtaken by what is told later and goes straight.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec
import structlog
import trio

from actors.kernel.kind import Kind
from actors.kernel.nodes.entries import Told, encode
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.whereabouts import WAITING_LETTERS, Whereabouts
from persistence.nodes.members import Lease

ROUND_SECONDS = 0.25
"""How often commands are looked at that may have waited for too long."""

TellHere = Callable[[str, str, Any], bool]
"""Tells an owner that lives here a command; see `far.Here.tell_here`."""

Decoders: TypeAlias = Mapping[tuple[str, str], Callable[[bytes], Any]]
"""Decode commands that have come from other nodes, by the name of the kind and that of the command's type. Each raises
msgspec.DecodeError for bytes that are no such command."""

_log = structlog.get_logger()


class _Waiting(NamedTuple):
    """A command that waits: as it travels, decoded, and until when it waits, on trio's clock."""

    told: Told
    command: Any
    until: float


class Telling:
    """All commands without a caller that go to other nodes, or come from them.

    Args:
        where: which node owns which shard.
        peers: the other nodes.
        spawn: starts a task that ends with the node.
        seconds: how long a command waits while nobody owns the owner's shard.
    """

    def __init__(
        self, where: Whereabouts, peers: Peers, spawn: Callable[..., object], seconds: float
    ) -> None:
        self._where = where
        self._peers = peers
        self._spawn = spawn
        self._seconds = seconds
        self._tell_here: TellHere | None = None
        self._decoders: Decoders = {}
        self._waiting: dict[tuple[str, str], deque[_Waiting]] = {}
        self._waiting_count = 0
        self._is_looked_after = False

    def open(self, tell_here: TellHere, decoders: Decoders) -> None:
        """Connect the owners of this node; called once.

        Args:
            tell_here: puts a command into the mailbox of an owner in memory.
            decoders: decode the commands that come from other nodes.
        """
        self._tell_here, self._decoders = tell_here, decoders
        self._peers.hear(Told, self._hear)

    def tell(self, kind: Kind[Any, Any], id: str, command: Any) -> None:
        """Tell an owner that is not in memory here a command, if it is in memory elsewhere.

        Args:
            kind, id: which owner.
            command: one of those of the kind that cross; another one is logged and dropped.
        """
        if self._where.is_here(kind.name, id):
            return
        if type(command) not in kind.crossing:
            _log.error("command_does_not_cross", kind=kind.name, command=type(command).__name__)
            return
        self._go(Told(kind.name, id, type(command).__name__, encode(command)), command)

    def _hear(self, _node: str, told: Told) -> None:
        command = self._decoders[told.kind, told.name](told.command)
        shard = self._where.shard_of(told.kind, told.id)
        if told.fence:
            self._where.learn({shard: Lease(self._where.node, told.fence)})
        self._go(told, command)

    def _go(self, told: Told, command: Any) -> None:
        """Send a command to its owner, behind those that wait for the same one."""
        before = self._waiting.get((told.kind, told.id))
        one = _Waiting(told, command, trio.current_time() + self._seconds)
        if before is None and self._went(one):
            return
        if self._waiting_count >= WAITING_LETTERS:
            _log.warning("too_much_is_told", kind=told.kind, waiting=WAITING_LETTERS)
            return
        self._waiting.setdefault((told.kind, told.id), deque()).append(one)
        self._waiting_count += 1
        if not self._is_looked_after:
            self._is_looked_after = True
            self._spawn(self._look_after)

    def _went(self, one: _Waiting) -> bool:
        """Tell, send or drop a command, by the module's table; returns False when it has to wait."""
        told = one.told
        if self._tell_here is not None and self._tell_here(told.kind, told.id, one.command):
            return True
        if self._where.is_here(told.kind, told.id):
            return True
        place = self._where.elsewhere(told.kind, told.id)
        if place is None or place.fence <= told.fence:
            return False
        self._peers.tell(place.node, msgspec.structs.replace(told, fence=place.fence))
        return True

    async def _look_after(self) -> None:
        """Have what waits go on when owners have moved, or drop it when its time is over; until nothing waits."""
        try:
            while self._waiting:
                with trio.move_on_after(ROUND_SECONDS):
                    await self._where.wait_changed()
                now = trio.current_time()
                for key, line in list(self._waiting.items()):
                    while line and (self._went(line[0]) or line[0].until <= now):
                        line.popleft()
                        self._waiting_count -= 1
                    if not line:
                        del self._waiting[key]
        finally:
            self._is_looked_after = False


def decoders_of(kinds: Iterable[Kind[Any, Any]]) -> Decoders:
    """The decoders of all commands of these kinds that cross between nodes."""
    return {
        (kind.name, form.__name__): msgspec.msgpack.Decoder(form).decode
        for kind in kinds
        for form in kind.crossing
    }
