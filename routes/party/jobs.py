"""Periodic jobs of parties."""

from functools import partial

from actors.party.state import INVITE_MS
from persistence.connection import Connection
from persistence.friends.blocks import APART_MS
from persistence.party.rows import invites_across_blocks, sweep_ended
from routes.jobs import Job
from routes.party.reactions import take_back_between
from routes.pruning import EachOf, Pruning, pages_of
from routes.service import Service

BATCH = 200
"""Pairs of users of one batch between whom there are a block and an invite."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs that delete parties that have ended, and take back what a block has left."""

    async def sweep(conn: Connection, after: str | None, limit: int) -> str | None:
        return await sweep_ended(conn, after, limit, now_ms=service.clock.now_ms())

    return (
        Job("ended parties", 600, Pruning(pages_of(service.database, sweep)).run, one_node=True),
        Job("invites across blocks", 60, Pruning(_left_over(service).take, most=BATCH).run, one_node=True),
    )


def _left_over(service: Service) -> EachOf[tuple[str, str]]:
    """Takes back invites that are left over because the node that had committed a block has ended before it could."""

    async def page(after: tuple[str, str] | None, limit: int) -> list[tuple[str, str]]:
        since_ms = service.clock.now_ms() - INVITE_MS - APART_MS
        return await service.database.read(partial(invites_across_blocks, since_ms=since_ms), after, limit)

    async def end(pair: tuple[str, str]) -> None:
        await take_back_between(service, *pair)

    return EachOf(page, end, doing="taking back an invite after a block", about=" and ".join)
