"""The live actors of the process, for super-admins (contract §11)."""

from typing import Annotated

import msgspec

from actors.errors import NotFound
from actors.kernel.overview import Inspected, inspect, surveyed
from actors.kernel.statistics import ActorStatistics
from actors.operations.survey import KindTotals, Sort, Survey, Wanted
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire


class ActorsQuery(Wire, frozen=True):
    """Which actors.

    Args:
        kind: only of this kind.
        query: only those in whose id or last error this text stands, case ignored.
        sort: `trouble`: those that an error has ended, then the most restarts, the longest queues, the most
            subscribers; `mailbox`, `subscribers` or `restarts`: the most first; `idle`: idle for longest; `busy`: least
            idle; `kind`: by kind and id.
    """

    kind: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    query: Annotated[str, msgspec.Meta(max_length=100)] = ""
    sort: Sort = "trouble"
    limit: Annotated[int, Clamp(1, 1_000)] = 50


class ActorList(Wire, frozen=True):
    """The live actors of this process.

    Args:
        total: how many are live.
        matched: how many of them are of the kind and have the text that were asked for.
        kinds: totals of all, by kind.
        items: actors and views, the first in the order that was asked for.
    """

    total: int
    matched: int
    kinds: tuple[KindTotals, ...]
    items: list[ActorStatistics]


@endpoint("GET", "/v1/admin/actors", needs=SUPER_ADMIN)
async def list_actors(call: Call, query: ActorsQuery) -> ActorList:
    """The live actors of this process, with their queues, subscribers and last faults, 50 unless more are asked for;
    and totals of all. The channel `actors` tells them every two seconds."""
    wanted = Wanted(kind=query.kind, text=query.query, sort=query.sort, limit=query.limit)
    survey = Survey(wanted)
    async for rows in surveyed(call.service.system, call.now_ms):
        survey.add(rows)
    return ActorList(survey.total, survey.matched, survey.kinds, survey.rows)


@endpoint("GET", "/v1/admin/actors/{kind}/{id}", needs=SUPER_ADMIN, refusals=(NotFound,))
def read_actor(call: Call, kind: str, id: str) -> Inspected:
    """One live actor: its queue, its last fault, who watches it, and the names of its newest events. One that is not
    live is a 404."""
    found = inspect(call.service.system, kind, id, call.now_ms)
    if found is None:
        raise NotFound("no such live actor")
    return found
