"""Periodic jobs of notifications."""

from functools import partial

from actors.change import Change
from actors.notifications.view import NotificationsChanged
from persistence.connection import Connection
from persistence.notifications import notifications
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The job that deletes old notifications."""
    return (Job("old notifications", 60, Pruning(partial(_prune, service)).run, one_node=True),)


async def _prune(service: Service, limit: int) -> bool:
    async def prune(conn: Connection) -> Change[int]:
        user_ids = await notifications.prune(conn, limit, now_ms=service.clock.now_ms())
        return Change(len(user_ids), tuple(map(NotificationsChanged, sorted(set(user_ids)))))

    return await change_by_itself(service, prune, about="old notifications") >= limit
