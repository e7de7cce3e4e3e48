"""What is done for friends now and then."""

from functools import partial

from persistence.connection import Connection
from persistence.friends import requests
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.housekeeping import Job
from routes.pruning import Pruning
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """Write who was in touch today, and let requests expire."""
    return (
        Job("flame streaks", 1, service.of(STREAKS).flush),
        Job("friend requests that expire", 60, Pruning(partial(_expire_requests, service), most=1_000).run),
    )


async def _expire_requests(service: Service, limit: int) -> bool:
    gone: list[tuple[str, str]] = []

    async def prune(conn: Connection) -> None:
        gone.extend(await requests.prune(conn, limit, now_ms=service.clock.now_ms()))

    async def tell() -> None:
        for sender_id, recipient_id in gone:
            service.of(FRIENDS_LIVE).changed(sender_id, recipient_id)

    with service.reconciler.reconcile_if_unknown("friend requests that expire", tell):
        await service.database.transact(prune)
    await tell()
    return len(gone) >= limit
