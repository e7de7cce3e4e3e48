"""The Domain record of saved servers."""

from persistence.connection import Connection
from persistence.saved_servers import addresses
from persistence.saved_servers.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import Job
from routes.pruning import Pruning, pages_of
from routes.saved_servers import others, own
from routes.service import Service

UNSAVED_KEPT_MS = 24 * 3_600_000
"""How long an address that is in no user's list is kept."""


def _jobs(service: Service) -> tuple[Job, ...]:
    async def sweep(conn: Connection, after: tuple[int, str] | None, limit: int) -> tuple[int, str] | None:
        before_ms = service.clock.now_ms() - UNSAVED_KEPT_MS
        return await addresses.sweep(conn, after, limit, before_ms=before_ms)

    return (
        Job(
            "addresses without a saved server",
            3600,
            Pruning(pages_of(service.database, sweep)).run,
            one_node=True,
        ),
    )


SAVED = Domain(
    name="saved_servers",
    mounts=(Mount("saved servers", (own, others)),),
    jobs=_jobs,
    exported=EXPORTED,
)
