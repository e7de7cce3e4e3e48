"""Periodic jobs of publications."""

from functools import partial

from actors.ids import new_object_id
from actors.publications.states import STALE_MS
from actors.publications.units_ownership import verify_owners
from persistence.connection import Connection
from persistence.publications import publications, statuses
from routes.jobs import Job, ticking
from routes.networks.name_service import NAME_SERVICE
from routes.pruning import Pruning, pages_of
from routes.publications.parts import STATUSES
from routes.service import Service

VERIFIED_AT_ONCE = 500
"""How many publications' ownership one transaction checks at most."""


async def flush_statuses(service: Service) -> None:
    """Write the statuses that servers have reported since the last flush.

    Raises:
        PersistenceError: the database failed.
    """
    await service.of(STATUSES).flush(service.database, service.clock.now_ms())


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: write statuses, update ownership after domains were verified and routes have moved, unlist and delete
    what is stale.
    """
    now_ms, database = service.clock.now_ms, service.database
    gateway_domain = service.of(NAME_SERVICE).gateway_domain

    async def verify(conn: Connection, after: str | None, limit: int) -> str | None:
        new_id = partial(new_object_id, now_ms(), service.random_bytes)
        return await verify_owners(
            conn, after, limit, gateway_domain=gateway_domain, new_id=new_id, now_ms=now_ms()
        )

    async def grow_stale(conn: Connection, after: str | None, limit: int) -> str | None:
        return await publications.grow_stale(conn, after, limit, before_ms=now_ms() - STALE_MS)

    async def forget(conn: Connection, after: str | None, limit: int) -> str | None:
        return await statuses.forget(conn, after, limit, before_ms=now_ms() - STALE_MS)

    return (
        Job("statuses of game servers", 1, partial(flush_statuses, service)),
        ticking("statuses in memory that are old", 60, lambda: service.of(STATUSES).forget_old(now_ms())),
        Job(
            "owners of publications",
            60,
            Pruning(pages_of(database, verify), most=VERIFIED_AT_ONCE).run,
            one_node=True,
        ),
        Job("publications that are silent", 60, Pruning(pages_of(database, grow_stale)).run, one_node=True),
        Job("statuses that are old", 60, Pruning(pages_of(database, forget)).run, one_node=True),
    )
