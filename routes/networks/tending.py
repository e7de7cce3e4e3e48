"""What is done for networks now and then (contract §7)."""

from typing import TYPE_CHECKING

from persistence.connection import Connection
from persistence.networks import networks

if TYPE_CHECKING:
    from routes.service import Service

TOKEN_KEPT_MS = 24 * 3_600_000
"""So long after its end a join token is told from one that never was (410, not 404)."""


async def tend_networks(service: "Service") -> None:
    """Write the DNS records that are due, and forget join tokens that nobody will ask about.

    Raises:
        PersistenceError: the database is away; the rest waits for the next run.
    """
    await service.database.transact(_forget, service.clock.now_ms() - TOKEN_KEPT_MS)
    await service.networks.automation.tick()


async def _forget(conn: Connection, before_ms: int) -> None:
    await networks.forget_tokens(conn, before_ms=before_ms)
