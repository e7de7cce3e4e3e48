"""Periodic jobs of networks (contract §7)."""

from persistence.connection import Connection
from persistence.networks import networks
from routes.jobs import Job
from routes.networks.name_service import NAME_SERVICE
from routes.pruning import Pruning, rows_of
from routes.service import Service

TOKEN_KEPT_MS = 24 * 3_600_000
"""How long an expired join token is kept, so that using it answers 410 rather than 404."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: write DNS records that are due, and delete join tokens that have been expired for long."""

    async def forget_tokens(conn: Connection, limit: int) -> int:
        return await networks.forget_tokens(conn, limit, before_ms=service.clock.now_ms() - TOKEN_KEPT_MS)

    return (
        Job("DNS records", 30, service.of(NAME_SERVICE).automation.tick),
        Job("join tokens", 60, Pruning(rows_of(service.database, forget_tokens)).run),
    )
