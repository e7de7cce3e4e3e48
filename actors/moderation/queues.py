"""The channel `moderation`: how many reports and capes wait for moderators, and which has come last.

The number alone does not say that something has come: it stays where another was judged meanwhile, and at its bound.

Each moderator has a view of their own, which knows no report about them: neither a number nor a frame tells them that
they were reported. Who may judge only one sort of things sees what is about those, and null for the others.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

import msgspec

from actors.errors import Forbidden
from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from persistence.connection import Connection
from persistence.moderation import queues
from persistence.moderation.queues import Queues

NAME = "moderation"
"""The name of the view and of its channel."""

INTERVAL_MS = 1_000
"""Frames are at least this far apart, and so are two counts."""

MOST = 1_000
"""Most reports, and most capes, that are counted."""


class Judge(NamedTuple):
    """What a viewer may judge.

    Args:
        reports, capes: whether the viewer may settle reports, and moderate capes.
        also_own: whether they may settle reports about themselves (a super-admin).
    """

    reports: bool
    capes: bool
    also_own: bool


class ModerationSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame.

    Args:
        reports: how many open reports the viewer may settle, 1,000 at most; null for a viewer who may settle none.
        capes: how many capes are pending, 1,000 at most; null for a viewer who may not moderate them.
        newest_report_id: the report that was made last of those; null where there is none.
        newest_cape_id: the cape of those that was submitted, or renamed by a moderator, last; null where there is none.
    """

    type: Literal["moderation_snapshot"] = "moderation_snapshot"
    reports: int | None
    capes: int | None
    newest_report_id: str | None
    newest_cape_id: str | None


class ModerationChanged(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `moderation_changed`: how much waits now; fields as in the snapshot.

    Args:
        reports: reports that are open; null for those who may not see them.
        capes: capes that wait for a verdict; null for those who may not see them.
        newest_report_id: the report that came last; null without one.
        newest_cape_id: the cape that came last; null without one.
    """

    reports: int | None
    capes: int | None
    newest_report_id: str | None
    newest_cape_id: str | None


class QueuesChanged(Event, frozen=True):
    """What waits has changed: how many reports or capes, or which came last.

    Args:
        before: what was known before the change.
    """

    before: Queues


async def _load(conn: Connection, user_id: str) -> Queues:
    return await queues.count(conn, user_id, MOST)


async def _reread(conn: Connection, user_id: str, _sources: AbstractSet[str]) -> Queues:
    return await queues.count(conn, user_id, MOST)


def _take(state: Queues, sources: AbstractSet[str], _peek: Peek) -> tuple[Queues, AbstractSet[str]]:
    return state, sources


def _events(before: Queues, after: Queues, _sources: Collection[str]) -> Sequence[QueuesChanged]:
    return () if before == after else (QueuesChanged(before),)


def _audience(_state: Queues, viewer: Judge) -> Judge:
    if not (viewer.reports or viewer.capes):
        raise Forbidden("only for the role moderator", role="moderator")
    return viewer


def _snapshot(state: Queues, audience: Judge) -> ModerationSnapshot:
    reports, newest = (
        (state.reports, state.newest_report)
        if audience.also_own
        else (state.reports_of_others, state.newest_report_of_others)
    )
    return ModerationSnapshot(
        reports=reports if audience.reports else None,
        capes=state.capes if audience.capes else None,
        newest_report_id=newest if audience.reports else None,
        newest_cape_id=state.newest_cape if audience.capes else None,
    )


def _delta(state: Queues, event: QueuesChanged, audience: Judge) -> Delta | None:
    shown = _snapshot(state, audience)
    if shown == _snapshot(event.before, audience):
        return None
    changed = ModerationChanged(shown.reports, shown.capes, shown.newest_report_id, shown.newest_cape_id)
    return Delta("moderation_changed", changed)


MODERATION = View(
    name=NAME,
    load=_load,
    reread=_reread,
    take=_take,
    absorb=lambda _state, found: found,
    events=_events,
    rendering=Rendering(audience=_audience, render=_snapshot, render_event=_delta),
    interval_ms=INTERVAL_MS,
    differing=lambda shown, stored: () if shown == stored else (NAME,),
)
"""The view of how many reports and capes wait for moderators, and which has come last."""
