"""What is done for users now and then."""

from functools import partial
from typing import TYPE_CHECKING

from persistence.connection import Connection
from persistence.people import shares
from routes.housekeeping import Job, ticking
from routes.pruning import Pruning, rows_of
from routes.users.erasure import sweep_erased

if TYPE_CHECKING:
    from routes.service import Service


def jobs_of(service: "Service") -> tuple[Job, ...]:
    """End grants and shares that expire, write who was here, and finish erasures."""

    async def expire_shares(conn: Connection, limit: int) -> int:
        return await shares.prune(conn, limit, now_ms=service.clock.now_ms())

    return (
        ticking("grants that expire", 1, service.users.tick),
        ticking("presence", 0.2, service.presence.tick),
        Job("last seen", 60, service.users.flush),
        Job("erased users", 1, partial(sweep_erased, service)),
        Job(
            "shared profiles that expire",
            3600,
            Pruning(rows_of(service.database, expire_shares), most=500).run,
        ),
    )
