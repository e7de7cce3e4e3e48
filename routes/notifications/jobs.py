"""What is forgotten of notifications now and then."""

from functools import partial

from actors.notifications import NOTIFICATIONS
from persistence import notifications
from persistence.connection import Connection
from routes.housekeeping import Job
from routes.pruning import Pruning
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """Forget what nobody will look up any more."""
    return (Job("old notifications", 60, Pruning(partial(_prune, service)).run),)


async def _prune(service: Service, limit: int) -> bool:
    gone: list[str] = []

    async def prune(conn: Connection) -> None:
        gone.extend(await notifications.prune(conn, limit, now_ms=service.clock.now_ms()))

    async def tell() -> None:
        for user_id in set(gone):
            service.system.changed(NOTIFICATIONS, user_id, "notifications")

    with service.reconciler.reconcile_if_unknown("old notifications", tell):
        await service.database.transact(prune)
    await tell()
    return len(gone) >= limit
