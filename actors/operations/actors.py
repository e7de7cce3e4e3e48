"""The channel `actors`: totals of all live actors, and those that are worth a look.

However many there are, a frame has the same bound, and all who watch share it. Actors are surveyed only while somebody
watches.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import msgspec

from actors.kernel.directory import System
from actors.kernel.facets import Delta
from actors.kernel.kind import Event, View
from actors.kernel.overview import surveyed
from actors.kernel.statistics import ActorStatistics
from actors.memory_views import memory_view
from actors.operations.survey import KindTotals, Survey, Wanted

NAME = "actors"
"""The name of the view, of its channel, and of the one id that it has."""

INTERVAL_MS = 2_000
"""Frames are at least this far apart."""

SHOWN = Wanted(limit=50)
"""The choice of actors that a frame has."""


class ActorsSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame.

    Args:
        at_ms: when the actors were looked at, epoch milliseconds.
        total: how many actors are live.
        kinds: totals, by kind.
        items: at most fifty actors: those that an error has ended come first, then those with the most restarts, the
            longest queues and the most subscribers.
    """

    type: Literal["actors_snapshot"] = "actors_snapshot"
    at_ms: int = 0
    total: int = 0
    kinds: tuple[KindTotals, ...] = ()
    items: tuple[ActorStatistics, ...] = ()


class ActorsChanged(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `actors_changed`: the whole as it is now; fields as in the snapshot.

    Args:
        total: how many actors there are.
        kinds: how many of each kind.
    """

    at_ms: int
    total: int
    kinds: tuple[KindTotals, ...]
    items: tuple[ActorStatistics, ...]


class Surveyed(Event, frozen=True):
    """The actors were looked at again."""


class LiveActors:
    """The newest survey, and the view that shows it.

    Attributes:
        newest: the newest survey.
    """

    def __init__(self) -> None:
        self.newest = ActorsSnapshot()
        self.view = _view(self)
        self.watched = False
        self._system: System | None = None
        self._now_ms: Callable[[], int] = lambda: 0

    def follow(self, system: System, now_ms: Callable[[], int]) -> None:
        """Survey this system from now on.

        Args:
            now_ms: returns epoch milliseconds.
        """
        self._system, self._now_ms = system, now_ms

    async def refresh(self) -> None:
        """Look at all actors, some hundred at a time. Cancellation leaves the survey before."""
        if self._system is None:
            return
        survey, now_ms = Survey(SHOWN), self._now_ms()
        async for rows in surveyed(self._system, now_ms):
            survey.add(rows)
        self.newest = ActorsSnapshot(
            at_ms=now_ms, total=survey.total, kinds=survey.kinds, items=tuple(survey.rows)
        )

    async def prepare(self) -> None:
        """Look at all actors for a viewer who begins to watch, unless the survey for others is younger than two
        seconds.

        So a thousand viewers who come at once share one survey. Cancellation leaves the survey before.
        """
        if not self.watched or self._now_ms() - self.newest.at_ms >= INTERVAL_MS:
            await self.refresh()

    async def tick(self) -> None:
        """Look at all actors and show them, if somebody watches; to be called every two seconds."""
        if self.watched and self._system is not None:
            await self.refresh()
            self._system.changed(self.view, NAME, NAME)


def _view(live: LiveActors) -> View[ActorsSnapshot]:
    def adopt(_before: ActorsSnapshot | None, after: ActorsSnapshot) -> ActorsSnapshot:
        live.watched = True
        return after

    def release(_last: ActorsSnapshot) -> None:
        live.watched = False

    return memory_view(
        NAME,
        lambda: live.newest,
        _delta,
        interval_ms=INTERVAL_MS,
        events=_events,
        adopt=adopt,
        release=release,
    )


def _events(before: ActorsSnapshot, after: ActorsSnapshot, _sources: Collection[str]) -> Sequence[Event]:
    return () if before is after else (Surveyed(),)


def _delta(state: ActorsSnapshot, _event: Surveyed, _audience: None) -> Delta:
    return Delta("actors_changed", ActorsChanged(state.at_ms, state.total, state.kinds, state.items))
