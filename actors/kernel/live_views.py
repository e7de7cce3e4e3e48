"""Which views are watched, and how they are told that something has changed.

This knows nothing of how a view is loaded or rendered (`views.py`), so that it is there before anything else of a
system: an actor marks views by one call.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, cast

from actors.kernel.fanout import Channel
from actors.kernel.kind import View
from actors.kernel.mailbox import Failure
from actors.kernel.one_shot import OneShot
from actors.kernel.statistics import ActorStatistics
from actors.kernel.subscription import Common

# Pause before another try after a failed read, and after the first failed load.
AGAIN_MS = 500


class Owner(Protocol):
    """The part of `Views` that brings views up to date and drops them."""

    def schedule(self, live: "LiveView", at_ms: int, /) -> None:
        """Have a view rendered at `at_ms`, epoch milliseconds, unless a rendering is planned already."""
        ...

    def drop_unwatched(self, live: "LiveView", /) -> None:
        """Drop a view that has no subscriber and no viewer about to subscribe."""
        ...


class LiveView:
    """One view that is watched, or is about to be.

    Args:
        view, id: the view, and the id for which it is shown.
        owner: renders the view, and drops it once it is unwatched.
        common: what all channels of a system share.

    Attributes:
        channel: the channel with the view's subscribers.
    """

    __slots__ = (
        "_owner", "_trouble", "busy", "channel", "dirty", "loaded", "quiet_until_ms", "rings_ms", "rows_at",
        "state", "waiting", "wanted",
    )  # fmt: skip

    def __init__(self, view: View[Any], id: str, owner: Owner, common: Common) -> None:
        self.channel = Channel(view, id, common, self)
        self._owner = owner
        self.state: Any = None
        self.loaded = False
        # a task reads for it
        self.busy = False
        # {changed source: None}, in the order of the changes; None while there are none, which is nearly always
        self.dirty: dict[str, None] | None = None
        # no frame is sent before
        self.quiet_until_ms = 0
        self.rings_ms: int | None = None
        # how many turns had gone to the writer when rows were last read: none of a later one is in the state
        self.rows_at = 0
        # viewers between asking and subscribing; those of them who wait for the load
        self.wanted = 0
        self.waiting: list[OneShot[Failure | None]] | None = None
        # why it could not be brought up to date, or nothing any more, and the pause before the next try; None for
        # nearly all, of which there are several for each socket
        self._trouble: tuple[str | None, int] | None = None

    @property
    def view(self) -> View[Any]:
        """The view that is shown."""
        return cast("View[Any]", self.channel.shown)

    @property
    def id(self) -> str:
        """The id for which the view is shown."""
        return self.channel.id

    @property
    def error(self) -> str | None:
        """Why it could not be brought up to date; None when it was."""
        return None if self._trouble is None else self._trouble[0]

    @property
    def pause_ms(self) -> int:
        """The pause before it is loaded again after the next failure."""
        return AGAIN_MS if self._trouble is None else self._trouble[1]

    def failed(self, why: str, pause_ms: int) -> None:
        """Note that it could not be brought up to date.

        Args:
            why: the name of what was raised.
            pause_ms: the pause after the next failure.
        """
        self._trouble = why, pause_ms

    def is_loaded(self) -> None:
        """Note that it was loaded. That alone does not shorten the pause after the next failure, which may lie in what
        comes then."""
        self.loaded = True
        if self._trouble is not None:
            self._trouble = None, self._trouble[1]

    def moved(self) -> None:
        """Note that it was brought up to date."""
        self._trouble = None

    def statistics(self, now_ms: int) -> ActorStatistics:
        """Return this view's row for the list of actors.

        Args:
            now_ms: epoch milliseconds.
        """
        return ActorStatistics(
            kind=self.view.name,
            id=self.id,
            mailbox=len(self.dirty or ()),
            subscribers=len(self.channel),
            restarts=0,
            last_error=self.error,
            offset=self.channel.offset,
            idle_ms=now_ms - self.quiet_until_ms + self.view.interval_ms,
        )

    def unwatched(self) -> None:
        """Drop the view; called by the channel when its last subscriber has left."""
        self._owner.drop_unwatched(self)

    def forget(self, waiter: OneShot[Failure | None]) -> None:
        """Take back a waiter, so that it is not woken when the load has ended."""
        if self.waiting is not None and waiter in self.waiting:
            self.waiting.remove(waiter)

    def mark(self, source: str) -> None:
        """Note that a source has changed, and have the view rendered at its next time."""
        if self.dirty is None:
            self.dirty = {}
        self.dirty[source] = None
        if self.loaded and not self.busy and self.rings_ms is None:
            self._owner.schedule(self, self.quiet_until_ms)


class LiveViews:
    """The views that are watched, by name and id."""

    __slots__ = ("_live",)

    def __init__(self) -> None:
        # {view's name: {id: live view}}
        self._live: dict[str, dict[str, LiveView]] = {}

    def __iter__(self) -> Iterator[LiveView]:
        for views in self._live.values():
            yield from views.values()

    def __contains__(self, live: LiveView) -> bool:
        return self._live[live.view.name].get(live.id) is live

    def find(self, view_name: str, id: str) -> LiveView | None:
        """The live view that shows `view_name`, the name of a `View`, for `id`; None when it is not watched."""
        return self._live.get(view_name, {}).get(id)

    def add(self, live: LiveView) -> None:
        """Take a view in, under its name and id."""
        self._live.setdefault(live.view.name, {})[live.id] = live

    def remove(self, live: LiveView) -> None:
        """Take a view out."""
        del self._live[live.view.name][live.id]

    def changed(self, view_name: str, id: str, source: str) -> None:
        """Mark a view as changed by a source; does nothing when the view is not watched.

        Args:
            view_name: the name of the view.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        found = self.find(view_name, id)
        if found is not None:
            found.mark(source)

    def touched(self, view_name: str, ids: Collection[str], source: str) -> None:
        """Mark those of these views that are watched as changed by a source.

        Args:
            view_name: the name of the view.
            ids: which of these views.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        live = self._live.get(view_name)
        if not live:
            return
        if len(ids) > len(live) and isinstance(ids, AbstractSet | Mapping):
            hit = [found for id, found in live.items() if id in ids]
        else:
            hit = [found for id in ids if (found := live.get(id)) is not None]
        for found in hit:
            found.mark(source)

    def touched_if(self, view_name: str, concerns: Callable[[str], bool], source: str) -> None:
        """Mark watched views as changed by a source, those for whose id `concerns` is True; also views being loaded.

        Args:
            view_name: the name of the view.
            concerns: whether the source is shown by the view with this id.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        for id, found in self._live.get(view_name, {}).items():
            if concerns(id):
                found.mark(source)

    def touched_being_read(self, view_name: str, source: str) -> None:
        """Mark the views for which rows are being read: what they are about to show is not known yet, and the rows may
        be older than the change.

        Args:
            view_name: the name of the view.
            source: what has changed, as the view's `take` and `reread` know it.
        """
        for found in self._live.get(view_name, {}).values():
            if found.busy:
                found.mark(source)
