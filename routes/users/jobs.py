"""Periodic jobs of users."""

from functools import partial

from persistence.connection import Connection
from persistence.users import shares
from routes.jobs import Job, ticking
from routes.pruning import Pruning, rows_of
from routes.service import Service
from routes.users.erasure import sweep_erased
from routes.users.parts import PRESENCE, USER_DIRECTORY


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: expire grants and shares, announce presence, write when users were last seen, finish erasures."""

    async def expire_shares(conn: Connection, limit: int) -> int:
        return await shares.prune(conn, limit, now_ms=service.clock.now_ms())

    return (
        ticking("grants that expire", 1, service.of(USER_DIRECTORY).tick),
        ticking("presence", 0.2, service.of(PRESENCE).tick),
        Job("last seen", 60, service.of(USER_DIRECTORY).last_seen.flush),
        Job("erased users", 1, partial(sweep_erased, service), one_node=True),
        Job(
            "shared profiles that expire",
            3600,
            Pruning(rows_of(service.database, expire_shares), most=500).run,
            one_node=True,
        ),
    )
