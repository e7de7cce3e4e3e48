"""The periodic job of services: migrations that were interrupted, or could not ask all game servers, go on."""

from functools import partial

from actors.errors import NotFound
from actors.services import units_services
from persistence.services import services
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.service import Service
from routes.services.moving import Totals, move

AT_ONCE = 100
"""Most services that one run looks at."""


async def go_on(service: Service) -> None:
    """Move what is left of all migrations.

    Raises:
        PersistenceError: the database failed; the next run goes on.
    """
    for row in await service.database.read(services.migrating, AT_ONCE):
        await move(service, row, Totals())
        try:
            await change_by_itself(service, units_services.finish, row.service_id, row.owner_id, about=None)
        except NotFound:
            continue  # its owner was erased meanwhile


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The job."""
    return (Job("migrations of services", 5, partial(go_on, service), one_node=True),)
