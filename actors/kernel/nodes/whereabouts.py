"""Where each actor lives, as this node knows it: on which node, and under which fence.

The rows of the leases decide. What is known here comes from them, or from a node that has just read or changed them,
and the higher fence is the newer; whoever acts on something older is refused by the fence in the writer's statement.

    a shard        its letters
    here           are decided here
    moving away    wait until it has gone, or stays after all
    elsewhere      go to its node, if that is heard; else they are refused
    nowhere        wait until it is taken: its node has died, or given it up
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import trio

from actors.errors import Overloaded
from persistence.errors import Fenced
from persistence.nodes.members import Lease
from persistence.nodes.shards import shard_of, shard_of_job

WAITING_LETTERS = 10_000
"""Most callers that wait for shards to arrive somewhere, or for this node's renewal."""

SURE_SECONDS = 2.0
"""How long is waited for a renewal of this node, which comes at once where it was the machine that stood still."""


class Place(NamedTuple):
    """Another node that owns a shard.

    Args:
        node: the node's name.
        shard: the shard.
        fence: the fence under which the node owns the shard.
    """

    node: str
    shard: int
    fence: int


class Whereabouts:
    """The owners of all shards; the `Placement` of a node among others.

    Args:
        node: the name of this node.
        lives: whether the node with a given name is a member.
        hears: whether the node with a given name was heard lately.
        is_sure: whether no other node can have taken yet what this one owns.
    """

    def __init__(
        self,
        node: str,
        *,
        lives: Callable[[str], bool],
        hears: Callable[[str], bool],
        is_sure: Callable[[], bool] = lambda: True,
    ) -> None:
        self.node = node
        self.is_sure = is_sure
        self.moving: set[int] = set()
        """Shards that are owned here and about to be given away."""
        self._lives = lives
        self._hears = hears
        self._leases: dict[int, Lease] = {}
        self._fences: dict[int, int] = {}  # of what is owned here
        self._listeners: list[Callable[[Collection[int]], None]] = []
        self._moved: list[Callable[[Collection[int]], None]] = []
        self._changed = trio.Event()
        self._waiting = 0

    # -- Placement ----------------------------------------------------------------------------------

    def shard_of(self, kind: str, id: str) -> int:
        """Return the shard of an actor (`persistence/nodes/shards.py`)."""
        return shard_of(kind, id)

    def fence(self, shard: int) -> int:
        """Return the fence under which this node owns the shard.

        Raises:
            Fenced: this node does not own the shard.
        """
        try:
            return self._fences[shard]
        except KeyError:
            raise Fenced(f"shard {shard} is not held by {self.node}") from None

    def held(self) -> Collection[int]:
        """Return the shards that this node owns and is not giving away, as far as it knows."""
        return self._fences.keys() - self.moving

    def does(self, job: str) -> bool:
        """Return whether this node runs the job with this name, of those that one node runs for all."""
        shard = shard_of_job(job)
        return shard in self._fences and shard not in self.moving

    def on_lost(self, listener: Callable[[Collection[int]], None]) -> None:
        """Have `listener(shards)` called when this node finds out that it owns shards no more."""
        self._listeners.append(listener)

    def on_moved(self, listener: Callable[[Collection[int]], None]) -> None:
        """Have `listener(shards)` called when this node finds out that shards have another owner, itself included."""
        self._moved.append(listener)

    # -- who owns what ------------------------------------------------------------------------------

    @property
    def fences(self) -> Mapping[int, int]:
        """What this node owns, {shard: fence}."""
        return self._fences

    def owner(self, shard: int) -> str:
        """The name of the node that owns a shard, alive or not; empty when nobody does."""
        lease = self._leases.get(shard)
        return "" if lease is None else lease.node

    def has_moved_since(self, shard: int, fence: int) -> bool:
        """Whether a shard has had another owner since somebody owned it under a fence, as far as this node knows."""
        lease = self._leases.get(shard)
        return lease is not None and lease.fence > fence

    def counts(self) -> Mapping[str, int]:
        """How many shards each node owns, {name: number}."""
        counted: dict[str, int] = {}
        for lease in self._leases.values():
            counted[lease.node] = counted.get(lease.node, 0) + 1
        return counted

    def learn(self, leases: Mapping[int, Lease]) -> None:
        """Take in leases that are newer than those known; listeners are told of shards that this node has lost, or that
        have moved."""
        lost: list[int] = []
        moved: list[int] = []
        for shard, lease in leases.items():
            known = self._leases.get(shard)
            if known is not None and known.fence >= lease.fence:
                continue
            self._leases[shard] = lease
            moved.append(shard)
            if lease.node == self.node:
                self._fences[shard] = lease.fence
            elif self._fences.pop(shard, None) is not None:
                lost.append(shard)
        if lost:
            for listener in self._listeners:
                listener(lost)
        if moved:
            for listener in self._moved:
                listener(moved)
            self.changed()

    def changed(self) -> None:
        """Have all that wait for a shard look again: a node has come or gone, or a shard is no longer moving."""
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    # -- where a letter goes ------------------------------------------------------------------------

    def is_here(self, kind: str, id: str) -> bool:
        """Whether an owner lives here, or may be loaded here now.

        Args:
            kind, id: the name of its kind, and its id.
        """
        shard = shard_of(kind, id)
        return shard in self._fences and shard not in self.moving

    def elsewhere(self, kind: str, id: str) -> Place | None:
        """The other node where an owner lives, heard or not; None when this node has it, or no living node owns it.

        Args:
            kind, id: the name of its kind, and its id.
        """
        shard = shard_of(kind, id)
        lease = self._leases.get(shard)
        if lease is None or lease.node == self.node or not self._lives(lease.node):
            return None
        return Place(lease.node, shard, lease.fence)

    async def place(self, kind: str, id: str, seconds: float) -> Place | None:
        """The node where an owner lives, None for this one; waits while it is between two nodes. Cancellation ends the
        wait.

        Args:
            kind, id: which owner.
            seconds: how long to wait at most.

        Raises:
            Overloaded: no node has the owner within that time, or its node is not heard.
        """
        if self.is_here(kind, id):
            return None
        place = self.elsewhere(kind, id)
        if place is None:
            place = await self._next_place(kind, id, seconds)
        if place is not None and not self._hears(place.node):
            raise Overloaded
        return place

    async def wait_sure(self) -> bool:
        """Whether no other node can have taken yet what this one owns. A node that stood still renews first, for
        `SURE_SECONDS` at most: if it still lives then, so does all that it owns. Cancellation ends the wait.

        Raises:
            Overloaded: too many wait already.
        """
        with trio.move_on_after(SURE_SECONDS):
            while not self.is_sure():
                await self._wait()
        return self.is_sure()

    async def wait_changed(self) -> None:
        """Wait until shards have changed owners, or may get one. Cancellation ends only the wait."""
        await self._changed.wait()

    async def _next_place(self, kind: str, id: str, seconds: float) -> Place | None:
        """Where an owner that is between two nodes comes to live."""
        with trio.move_on_after(seconds):
            while True:
                await self._wait()
                place = self.elsewhere(kind, id)
                if place is not None or self.is_here(kind, id):
                    return place
        raise Overloaded

    async def _wait(self) -> None:
        if self._waiting >= WAITING_LETTERS:
            raise Overloaded
        self._waiting += 1
        try:
            await self.wait_changed()
        finally:
            self._waiting -= 1
