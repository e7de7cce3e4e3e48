"""Finds the open views that do not show what rows say, and has them read that; each tells its sockets the difference.

Views are told what has changed, and read nothing else again. Where somebody may have ended before they told it, the
open ones are therefore compared with rows: some at a time, one read after the other, so that a node with many sockets
reads no more at once than it does otherwise. What stands is left alone, so no socket is sent anything in vain.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import trio

from actors.kernel.kind import View
from persistence.connection import Connection
from routes.changes import Reconciliation, reconcile_when_parted
from routes.jobs import BackgroundTask, OneOfMany
from routes.part import Opening, Part
from routes.service import Service

COMPARED_TOGETHER = 16
"""Most views that are read at once, as when they are loaded (`MOST_TOGETHER` of `actors/kernel/view_loads.py`)."""

BUSY_SECONDS = 1.0
"""Pause before views are looked at again that were just being read, or have changed meanwhile."""

LOOKS = 10
"""How often a view is looked at, at most. One that changes each time is told of, so what it had missed is found by the
next comparison alone."""


class MissedChanges(msgspec.Struct, frozen=True):
    """Reconciliation subject: what all open views show, since a node that has ended may not have told all changes."""


class Comparing:
    """The task that compares views when it is asked to."""

    def __init__(self) -> None:
        self._asked = trio.Event()

    def ask(self) -> None:
        """Have all views compared that are open now."""
        self._asked.set()

    async def keep(self, service: Service) -> None:
        """Compare whenever that is asked for, until cancelled.

        Raises:
            PersistenceError: the rows cannot be read; all are compared again when this is called again.
        """
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            try:
                await compare_all(service)
            except BaseException:
                self._asked.set()
                raise


def follow(service: Service) -> BackgroundTask:
    """Subscribe: have views compared when another node has ended; returns the task that does it."""
    reconcile_when_parted(service, MissedChanges())
    return BackgroundTask("views that may be outdated", partial(service.of(COMPARING).keep, service))


async def _look(service: Service, _about: MissedChanges, _events: Sequence[object]) -> tuple[()]:
    # With many views this takes long, and other subjects do not wait for it.
    service.of(COMPARING).ask()
    return ()


async def compare_all(service: Service) -> None:
    """Compare all open views with rows, and mark those that differ as changed.

    Cancellation leaves the rest as they are.

    Raises:
        PersistenceError: the rows cannot be read; what was not compared yet stays as it is.
    """
    sorts = {shown.view.name: shown.view for shown in service.system.live_views()}
    for view in sorts.values():
        if view.differing is not None:
            await compare(service, view)


async def compare(service: Service, view: View[Any]) -> None:
    """As `compare_all`, for the open views of one sort.

    Args:
        service: the service whose views are compared.
        view: the sort of view; it has `differing`.
    """
    left = _open_ids(service, view)
    for look in range(LOOKS):
        if look:
            await trio.sleep(BUSY_SECONDS)
            watched = set(_open_ids(service, view))
            left = [id for id in left if id in watched]
        pages = [left[first : first + COMPARED_TOGETHER] for first in range(0, len(left), COMPARED_TOGETHER)]
        left = []
        for page in pages:
            with OneOfMany("comparing views", view.name, service.housekeeping.failing):
                left += await _compare(service, view, page)
        if not left:
            return


def _open_ids(service: Service, view: View[Any]) -> list[str]:
    return [shown.id for shown in service.system.live_views() if shown.view is view]


async def _compare(service: Service, view: View[Any], ids: Sequence[str]) -> list[str]:
    """Compare some views; returns those that were just being read, have changed meanwhile, or are watched no more."""
    system = service.system
    known = {id: system.peek_view(view, id) for id in ids}
    stored = await service.database.read(_load, view, ids)
    left = []
    for id, before in known.items():
        if before is None or before is not system.peek_view(view, id):
            left.append(id)
        elif id in stored and view.differing is not None:
            for source in view.differing(before, stored[id]):
                system.changed(view, id, source)
    return left


async def _load(conn: Connection, view: View[Any], ids: Sequence[str]) -> Mapping[str, Any]:
    if view.load_many is not None:
        return await view.load_many(conn, ids)
    return {id: await view.load(conn, id) for id in ids}


async def _open(_opening: Opening) -> Comparing:
    return Comparing()


COMPARING = Part(name="comparing views with rows", open=_open)
"""Finds views that do not show what rows say."""

RECONCILIATIONS = (Reconciliation(MissedChanges, _look),)
"""Not before what the ended node had under way is committed or gone."""
