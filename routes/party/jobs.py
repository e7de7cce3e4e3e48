"""Periodic jobs of parties."""

from persistence.connection import Connection
from persistence.party.rows import sweep_ended
from routes.jobs import Job
from routes.pruning import Pruning, pages_of
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The job that deletes parties that have ended."""

    async def sweep(conn: Connection, after: str | None, limit: int) -> str | None:
        return await sweep_ended(conn, after, limit, now_ms=service.clock.now_ms())

    return (Job("ended parties", 600, Pruning(pages_of(service.database, sweep)).run, one_node=True),)
