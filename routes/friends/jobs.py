"""What is done for friends now and then."""

from functools import partial
from typing import TYPE_CHECKING

from persistence.connection import Connection
from persistence.friends import requests
from routes.housekeeping import Job
from routes.pruning import Pruning

if TYPE_CHECKING:
    from routes.service import Service


def jobs_of(service: "Service") -> tuple[Job, ...]:
    """Write who was in touch today, and let requests expire."""
    return (
        Job("flame streaks", 1, service.streaks.flush),
        Job("friend requests that expire", 60, Pruning(partial(_expire_requests, service), most=1_000).run),
    )


async def _expire_requests(service: "Service", limit: int) -> bool:
    gone: list[tuple[str, str]] = []

    async def prune(conn: Connection) -> None:
        gone.extend(await requests.prune(conn, limit, now_ms=service.clock.now_ms()))

    async def tell() -> None:
        for sender_id, recipient_id in gone:
            service.friends.changed(sender_id, recipient_id)

    with service.reconciler.reconcile_if_unknown("friend requests that expire", tell):
        await service.database.transact(prune)
    await tell()
    return len(gone) >= limit
