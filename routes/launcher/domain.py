"""The Domain record of launchers."""

from functools import partial

from actors.launcher.units_reports import KEPT_DAYS
from actors.time import DAY_MS
from persistence.connection import Connection
from persistence.launcher import performance_reports as rows
from persistence.launcher.exported import EXPORTED
from routes.domain import Domain
from routes.edge.declare.mounts import Mount
from routes.jobs import Job
from routes.launcher import allowlist, performance_reports
from routes.pruning import Pruning, rows_of
from routes.service import Service


def _jobs(service: Service) -> tuple[Job, ...]:
    def oldest_ms() -> int:
        return service.clock.now_ms() - KEPT_DAYS * DAY_MS

    async def reports(conn: Connection, limit: int) -> int:
        return await rows.prune(conn, limit, before_ms=oldest_ms())

    async def counts(conn: Connection, limit: int) -> int:
        return await rows.prune_counts(conn, limit, before_day=oldest_ms() // DAY_MS)

    # A report may have a quarter of a megabyte, so a batch has few.
    pruning = partial(Pruning, most=500)
    return (
        Job("old performance reports", 3600, pruning(rows_of(service.database, reports)).run, one_node=True),
        Job(
            "old counts of performance reports",
            3600,
            pruning(rows_of(service.database, counts)).run,
            one_node=True,
        ),
    )


LAUNCHER = Domain(
    name="launcher",
    mounts=(Mount("launcher", (performance_reports, allowlist)),),
    jobs=_jobs,
    exported=EXPORTED,
)
