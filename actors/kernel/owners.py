"""The owners that are live in this process, each once.

Activation is single-flight because an actor is here from the first request for it: later callers find it while it
loads, and wait in its mailbox.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

import trio

from actors.kernel.actor import Actor
from actors.kernel.kind import Kind
from actors.kernel.nodes.copies import Copies
from actors.kernel.nodes.far import Far
from actors.kernel.runtime import Runtime
from actors.kernel.supervisor import supervise


class Owners:
    """All live owners of this process.

    Args:
        runtime: what all actors of the system share.
        nursery: the nursery in which their tasks run.
        copies: of owners on other nodes, which come and go as owners do here; None without other nodes.
        far: the way to owners on other nodes; None without other nodes.

    Attributes:
        live: {(kind's name, id): the actor}; changed by this class alone.
        closing: whether the system is stopping, so that no more owners are loaded.
    """

    def __init__(
        self, runtime: Runtime, nursery: trio.Nursery, copies: Copies | None, far: Far | None
    ) -> None:
        self.live: dict[tuple[str, str], Actor] = {}
        self.closing = False
        self._runtime = runtime
        self._copies = copies
        self._far = far
        self._nursery = nursery
        self._left: trio.Event | None = None  # while somebody waits
        self._on_leave = self._gone  # bound once for all actors
        runtime.placement.on_lost(self._lose)

    def activate(self, kind: Kind[Any, Any], id: str) -> Actor:
        """Have an owner loaded that is not live here; returns its actor, which takes letters from now on."""
        actor = self.live[kind.name, id] = Actor(kind, id, self._runtime, self._on_leave)
        if self._copies is not None:
            self._copies.hand_over(actor)
        self._nursery.start_soon(supervise, actor)
        return actor

    def position(self, kind_name: str, id: str) -> tuple[str, int] | None:
        """The epoch and version of a live owner; None when it is not live.

        Args:
            kind_name: the name of its kind.
        """
        actor = self.live.get((kind_name, id))
        activation = None if actor is None else actor.activation
        return None if activation is None else (activation.epoch, activation.version)

    def close(self) -> None:
        """Have all owners finish their turns, save snapshots and leave; no more are loaded."""
        self.closing = True
        for actor in list(self.live.values()):
            actor.close()

    def abandon(self) -> None:
        """Remove owners that could not be stopped in time, and answer all that wait for them."""
        for actor in list(self.live.values()):
            actor.gone()

    async def wait_left(self) -> None:
        """Wait until an owner leaves. Cancellation ends only the wait."""
        if self._left is None:
            self._left = trio.Event()
        await self._left.wait()

    def _gone(self, actor: Actor) -> None:
        if self.live.get((actor.kind.name, actor.id)) is actor:
            del self.live[actor.kind.name, actor.id]
            if self._copies is not None and not self.closing:
                self._copies.adopt(actor)
            far = self._far
            if far is not None and not (self.closing or far.is_here(actor.kind.name, actor.id)):
                actor.move_on(partial(far.forward, actor.kind, actor.id, self._runtime.clock.now_ms()))
            if self._left is not None:
                self._left.set()
                self._left = None

    def _lose(self, shards: Collection[int]) -> None:
        for actor in self.live.values():
            if self._runtime.placement.shard_of(actor.kind.name, actor.id) in shards:
                actor.lose()
