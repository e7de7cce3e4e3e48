"""The periodic job of services: migrations that were interrupted, or could not ask all game servers, go on."""

from contextlib import suppress

from actors.errors import NotFound
from actors.services import units_services
from persistence.services import services
from persistence.services.services import ServiceRow
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import EachOf, Pruning
from routes.service import Service
from routes.services.moving import Totals, move

AT_ONCE = 100
"""How many services a page has at most."""


def unfinished(service: Service) -> EachOf[ServiceRow]:
    """Goes on with unfinished migrations, one after the other; those that cannot end now do not hold up the others."""

    async def page(after: ServiceRow | None, limit: int) -> list[ServiceRow]:
        after_id = None if after is None else after.service_id
        return await service.database.read(services.migrating, after_id, limit)

    async def go_on(row: ServiceRow) -> None:
        await move(service, row, Totals())
        with suppress(NotFound):  # its owner was erased meanwhile
            await change_by_itself(service, units_services.finish, row.service_id, row.owner_id, about=None)

    return EachOf(page, go_on, doing="migrating a service", about=lambda row: row.service_id)


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The job that goes on with migrations."""
    going_on = Pruning(unfinished(service).take, most=AT_ONCE)
    return (Job("migrations of services", 5, going_on.run, one_node=True),)
