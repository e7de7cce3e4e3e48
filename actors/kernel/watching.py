"""How viewers come to watch an owner, here or on another node, or a view."""

from collections.abc import Iterable
from typing import Any

import trio

from actors.errors import Draining, Overloaded, Parked
from actors.kernel.expected import Expected
from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind, View
from actors.kernel.nodes.copies import Copies
from actors.kernel.nodes.far import Far
from actors.kernel.owners import Owners
from actors.kernel.recovery import read_missed
from actors.kernel.resuming import knows
from actors.kernel.runtime import Runtime
from actors.kernel.subscription import Subscription, WatchRequest
from actors.kernel.views import Views


class Watching:
    """Opens subscriptions to owners and views.

    Args:
        runtime: what all actors of the system share.
        owners: the live owners of this node.
        views: the live views of this node.
        far: the way to the owners of other nodes; None without other nodes.
        copies: the copies here of owners on other nodes; None without other nodes.
    """

    def __init__(
        self, runtime: Runtime, owners: Owners, views: Views, far: Far | None, copies: Copies | None
    ) -> None:
        self._runtime = runtime
        self._owners = owners
        self._views = views
        self._far = far
        self._copies = copies

    async def watch(self, shown: Kind[Any, Any] | View[Any], id: str, request: WatchRequest) -> Subscription:
        """Subscribe a viewer to an owner or a view; see `directory.System.watch`. Cancellation: no subscription.

        Raises: what is said there, Draining and Overloaded included.
        """
        with trio.move_on_after(self._runtime.ask_ms / 1000):
            if self._owners.closing:
                raise Draining
            if isinstance(shown, View):
                return await self._views.watch(shown, id, request)
            return await self._watch_owner(shown, id, request)
        raise Overloaded

    def watch_now(
        self, shown: Kind[Any, Any] | View[Any], id: str, request: WatchRequest
    ) -> Subscription | None:
        """As `watch` for an owner that is live here or a view that is loaded, without waiting; None for all others.

        Raises: Refused by the `audience` of the kind or view.
        """
        if self._owners.closing:
            return None
        if isinstance(shown, View):
            return self._views.watch_now(shown, id, request)
        channel = self._channel_here(shown, id)
        if channel is None or not _says_enough(channel, request):
            return None
        return channel.subscribe(request, None)

    def expecting(self, wanted: Iterable[tuple[View[Any], str]]) -> Expected:
        """Load views, by view and id, all at once, which are then watched within a block.

        Args:
            wanted: the views, all for one viewer, because those that are not loaded yet share one epoch.
        """
        return self._views.expecting(wanted)

    async def _watch_owner(self, kind: Kind[Any, Any], id: str, request: WatchRequest) -> Subscription:
        older: list[tuple[int, Any]] | None = None
        asked = False
        while True:
            channel = await self._channel(kind, id)
            if asked or request.since is None or _says_enough(channel, request):
                return channel.subscribe(request, older)
            # The channel records from here on, so what the journal lacks at its answer is in memory then.
            asked = True
            older = await self._runtime.store.read(
                read_missed, self._runtime.journal, kind, id, request.since[1]
            )

    def _channel_here(self, kind: Kind[Any, Any], id: str) -> Channel | None:
        """The channel of an owner that is live on this node, which is sure to own it; None for all others."""
        actor = self._owners.live.get((kind.name, id))
        if actor is None or actor.activation is None:
            return None
        if self._far is not None and not self._far.where.is_sure():
            return None
        return actor.open_channel()

    async def _channel(self, kind: Kind[Any, Any], id: str) -> Channel:
        """The channel of an owner, with its present state."""
        while True:
            if self._owners.closing:
                raise Draining
            if await self._is_elsewhere(kind, id):
                copied = None if self._copies is None else await self._copies.current(kind, id)
                if copied is not None:
                    return copied
                continue
            actor = self._owners.live.get((kind.name, id)) or self._owners.activate(kind, id)
            if actor.activation is not None:
                return actor.open_channel()
            if self._runtime.clock.now_ms() < actor.parked_until_ms:
                raise Parked
            await actor.wait_loaded()

    async def _is_elsewhere(self, kind: Kind[Any, Any], id: str) -> bool:
        if self._far is None:
            return False
        if (kind.name, id) in self._owners.live:
            # An owner whose heir may have gone on would show what was.
            if not (self._far.where.is_sure() or await self._far.where.wait_sure()):
                raise Overloaded
            return False
        return await self._far.place(kind.name, id) is not None


def _says_enough(channel: Channel, request: WatchRequest) -> bool:
    """Whether a channel has in memory all that a viewer is to be sent first."""
    return request.mode == "snapshot" or request.since is None or knows(channel, request.since)
