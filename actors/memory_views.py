"""Views whose state is a frame that lies in memory: no rows are read for them, and all who watch see the same."""

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from persistence.connection import Connection

Frame = TypeVar("Frame")


def memory_view(
    name: str,
    newest: Callable[[], Frame],
    render_event: Callable[[Frame, Any, None], Delta],
    *,
    interval_ms: int,
    events: Callable[[Frame, Frame, Collection[str]], Sequence[Event]] | None = None,
    adopt: Callable[[Frame | None, Frame], Frame] | None = None,
    release: Callable[[Frame], None] | None = None,
) -> View[Frame]:
    """A view of the newest frame in memory, which is looked up whenever the view is loaded or marked as changed.

    Args:
        name, interval_ms, events, adopt, release: the arguments of `View`.
        newest: returns the frame, a struct; also called in the database's thread.
        render_event: the `render_event` of `Rendering`, the same for all viewers.
    """

    async def load(_conn: Connection, _id: str) -> Frame:
        return newest()

    async def reread(_conn: Connection, _id: str, _sources: AbstractSet[str]) -> Frame:
        return newest()

    def take(_state: Frame, _sources: AbstractSet[str], _peek: Peek) -> tuple[Frame, AbstractSet[str]]:
        return newest(), frozenset()

    return View(
        name=name,
        load=load,
        reread=reread,
        take=take,
        absorb=lambda _state, found: found,
        rendering=Rendering(audience=_everybody, render=_whole, render_event=render_event),
        interval_ms=interval_ms,
        events=events,
        adopt=adopt,
        release=release,
    )


def _everybody(_state: object, _viewer: object) -> None:
    return None


def _whole(state: Frame, _audience: None) -> Frame:
    return state
