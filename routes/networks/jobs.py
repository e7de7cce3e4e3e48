"""Periodic jobs of networks (contract §7)."""

from functools import partial

from actors.networks.record_hosts import follow
from persistence.connection import Connection
from persistence.networks import networks
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.networks.name_service import NAME_SERVICE
from routes.pruning import Pruning, rows_of
from routes.service import Service

TOKEN_KEPT_MS = 24 * 3_600_000
"""How long an expired join token is kept, so that using it answers 410 rather than 404."""

ROUTES_A_RUN = 500
"""Most routes whose DNS records are queued in one transaction."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: write due DNS records, keep routes' records up to date with their gateways, and delete join tokens that
    expired long ago.
    """

    async def forget_tokens(conn: Connection, limit: int) -> int:
        return await networks.forget_tokens(conn, limit, before_ms=service.clock.now_ms() - TOKEN_KEPT_MS)

    return (
        Job("addresses of gateway routes", 60, partial(_follow, service), one_node=True),
        Job("DNS records", 30, service.of(NAME_SERVICE).automation.tick, one_node=True),
        Job("join tokens", 60, Pruning(rows_of(service.database, forget_tokens)).run, one_node=True),
    )


async def _follow(service: Service) -> bool:
    """Queue records of routes whose gateways went online or offline; once a minute, so that none changes more often."""
    hosts, now_ms = service.of(NAME_SERVICE).record_hosts, service.clock.now_ms()
    return await change_by_itself(service, follow, hosts, now_ms, ROUTES_A_RUN, about=None) < ROUTES_A_RUN
