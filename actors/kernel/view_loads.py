"""Loading views: each by itself, or with all of its sort that wait, where one query can read many.

When thousands of clients come back at once, each with the same few views, a read for each is mostly the way into the
database's thread and back. So at most `AT_ONCE` reads of one sort are under way; views that are wanted meanwhile wait,
and are read together by the next one. Where little happens, nothing ever waits.
"""

from collections.abc import Callable, Mapping
from typing import Any

from actors.errors import NotFound
from actors.kernel.kind import LoadMany
from actors.kernel.live_views import LiveView
from actors.kernel.mailbox import Failure
from actors.kernel.runtime import Runtime
from actors.kernel.supervisor import Contained, Fault
from persistence.errors import DatabaseUnavailable, PersistenceError

# Reads of one sort of view that are under way: while one is answered, the next is on its way.
AT_ONCE = 2

# Most views in one read: what most users have takes some milliseconds, and of those who have most of all there may be
# this many in one statement, whose time is bounded.
MOST_TOGETHER = 16


class ViewLoads:
    """Reads the states of views.

    Args:
        runtime: what all actors of the system share.
        landed: called for each view, in the trio thread, with its state and None, or with the failure in place of it.
    """

    __slots__ = ("_landed", "_runtime", "_under_way", "_waiting")

    def __init__(self, runtime: Runtime, landed: Callable[[LiveView, Any, Failure | None], None]) -> None:
        self._runtime = runtime
        self._landed = landed
        # {view's name: those that wait}, {view's name: how many tasks read for it}
        self._waiting: dict[str, list[LiveView]] = {}
        self._under_way: dict[str, int] = {}

    def begin(self, live: LiveView) -> None:
        """Have a view read by a task; `landed` is called once it was."""
        name, load_many = live.view.name, live.view.load_many
        if load_many is None:
            self._runtime.start(self._read_one, live)
            return
        self._waiting.setdefault(name, []).append(live)
        if self._under_way.get(name, 0) < AT_ONCE:
            self._under_way[name] = self._under_way.get(name, 0) + 1
            self._runtime.start(self._read_waiting, name, load_many)

    async def _read_waiting(self, name: str, load_many: LoadMany[Any]) -> None:
        """Read until no view of this sort waits."""
        try:
            while waiting := self._waiting.pop(name, None):
                if len(waiting) > MOST_TOGETHER:
                    self._waiting[name] = waiting[MOST_TOGETHER:]
                    del waiting[MOST_TOGETHER:]
                await self._read_many(name, load_many, waiting)
        finally:
            self._under_way[name] -= 1

    async def _read_many(self, name: str, load_many: LoadMany[Any], waiting: list[LiveView]) -> None:
        """Read some together. If a rule raises, or a statement is refused, each is read alone: one is at fault."""
        if len(waiting) == 1:
            await self._read_one(waiting[0])
            return
        # One that its last viewer has left meanwhile may wait beside its successor.
        ids = list(dict.fromkeys(live.id for live in waiting))
        found: Mapping[str, Any] | None = None
        failure: Failure | None = None
        with Contained("loading views", name, ""):
            try:
                async with self._runtime.loads:
                    found = await self._runtime.store.read(load_many, ids)
            except DatabaseUnavailable as unavailable:
                failure = unavailable
            except PersistenceError:
                pass
        for live in waiting:
            if found is not None or failure is not None:
                self._landed(live, (found or {}).get(live.id), failure)
            else:
                self._runtime.start(self._read_one, live)

    async def _read_one(self, live: LiveView) -> None:
        state: Any = None
        failure: Failure | None = None
        with Contained("loading a view", live.view.name, live.id) as loading:
            try:
                async with self._runtime.loads:
                    state = await self._runtime.store.read(live.view.load, live.id)
            except (PersistenceError, NotFound) as error:
                failure = error
        self._landed(live, state, Fault() if loading.fault is not None else failure)
