"""Periodic jobs of Discord webhooks."""

from functools import partial

from actors.discord.moves import KEPT_MS
from persistence.connection import Connection
from persistence.discord import outbox
from routes.discord.follow import tell_of_servers
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: tell of servers that have come or gone, and forget posts that nobody has sent."""

    async def old_posts(conn: Connection, limit: int) -> int:
        return await outbox.prune(conn, limit, before_ms=service.clock.now_ms() - KEPT_MS)

    return (
        Job("servers that come and go", 1, partial(tell_of_servers, service), one_node=True),
        Job("old posts to Discord", 3600, Pruning(rows_of(service.database, old_posts)).run, one_node=True),
    )
