"""Views that are about to be watched, so that they are loaded together."""

from collections.abc import Iterable
from typing import Protocol

from actors.kernel.live_views import LiveView


class Loading(Protocol):
    """The part of `Views` that loads and drops views."""

    async def wait_landed(self, wanted: Iterable[LiveView], /) -> None:
        """Wait until each of these views is loaded or could not be; cancellation ends only the wait."""
        ...

    def drop_unwatched(self, live: LiveView, /) -> None:
        """Drop a view that has no subscriber and no viewer about to subscribe."""
        ...


class Expected:
    """A block during which some views, which are about to be watched, are not dropped.

    Args:
        views: loads the views.
        wanted: the views, loaded or being loaded.
    """

    __slots__ = ("_views", "_wanted")

    def __init__(self, views: Loading, wanted: list[LiveView]) -> None:
        self._views = views
        self._wanted = wanted

    def __enter__(self) -> "Expected":
        for live in self._wanted:
            live.wanted += 1
        return self

    def __exit__(self, *_: object) -> None:
        for live in self._wanted:
            live.wanted -= 1
            self._views.drop_unwatched(live)

    async def wait_landed(self) -> None:
        """Wait until each view is loaded or could not be, for as long as a command may take; `watch` raises why not.

        Cancellation ends only the wait.
        """
        await self._views.wait_landed(self._wanted)
