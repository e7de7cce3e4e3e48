"""Periodic jobs of friends."""

from functools import partial

from actors.change import Change
from actors.friends.events import RequestEnded
from persistence.connection import Connection
from persistence.friends import requests
from routes.changes import change_by_itself
from routes.friends.parts import STREAKS
from routes.jobs import Job
from routes.pruning import Pruning
from routes.service import Service


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: write which friends were in touch today, and expire requests."""
    return (
        Job("flame streaks", 1, service.of(STREAKS).flush),
        Job(
            "friend requests that expire",
            60,
            Pruning(partial(_expire_requests, service), most=1_000).run,
            one_node=True,
        ),
    )


async def _expire_requests(service: Service, limit: int) -> bool:
    async def prune(conn: Connection) -> Change[int]:
        gone = await requests.prune(conn, limit, now_ms=service.clock.now_ms())
        return Change(len(gone), tuple(RequestEnded(*pair) for pair in gone))

    return await change_by_itself(service, prune, about="friend requests that expire") >= limit
