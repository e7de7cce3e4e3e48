"""The Domain record of sessions."""

from functools import partial

from actors.sessions.lifetimes import USUAL
from actors.sessions.units import end_overdue
from persistence.connection import Connection
from persistence.sessions import links as link_rows
from persistence.sessions.exported import EXPORTED
from routes.changes import change_by_itself
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.service import Service
from routes.sessions import identities, issuers, links, sessions
from routes.sessions.parts import PROVIDERS, SIGNED_IN
from routes.sessions.reactions import REACTIONS, follow_ends


def _jobs(service: Service) -> tuple[Job, ...]:
    async def end_some(rows: int) -> bool:
        now_ms = service.clock.now_ms()
        unit = partial(
            end_overdue,
            now_ms=now_ms,
            used_before_ms=now_ms - USUAL.unused_ms,
            created_before_ms=now_ms - USUAL.whole_ms,
        )
        return await change_by_itself(service, unit, rows, about=None) >= rows

    async def prune_links(conn: Connection, limit: int) -> int:
        return await link_rows.prune(conn, limit, now_ms=service.clock.now_ms())

    return (
        Job("sessions that are over", 600, Pruning(end_some, most=500).run, one_node=True),
        Job(
            "sign-in links that are over",
            600,
            Pruning(rows_of(service.database, prune_links)).run,
            one_node=True,
        ),
    )


def _show_gauges(service: Service) -> None:
    signed_in = service.of(SIGNED_IN)
    service.metrics.gauge("sessions_ended_lately", "Ended sessions in memory.", lambda: len(signed_in))


SESSIONS = Domain(
    name="sessions",
    mounts=(
        Mount("sessions", (sessions, links)),
        Mount("profile", (identities,)),
        Mount("public", (issuers,)),
    ),
    parts=(SIGNED_IN, PROVIDERS),
    jobs=_jobs,
    follow=follow_ends,
    gauges=_show_gauges,
    reactions=REACTIONS,
    exported=EXPORTED,
)
