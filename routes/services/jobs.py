"""The periodic job of services: migrations that were interrupted, or could not ask all game servers, go on."""

from functools import partial

from actors.errors import NotFound
from actors.services import units_services
from persistence.services import services
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning, Walk
from routes.service import Service
from routes.services.moving import Totals, move

AT_ONCE = 100
"""How many services a page has at most."""


async def go_on(service: Service, after: str | None, limit: int) -> str | None:
    """Go on with one page of unfinished migrations. Those that cannot end now do not hold up the others.

    Args:
        after: the last service of the page before; None from the start.
        limit: services on the page.

    Returns:
        Where the next page starts; None after the last.

    Raises:
        PersistenceError: the database failed; the next run repeats the page.
    """
    page = await service.database.read(services.migrating, after, limit)
    for row in page:
        await move(service, row, Totals())
        try:
            await change_by_itself(service, units_services.finish, row.service_id, row.owner_id, about=None)
        except NotFound:
            continue  # its owner was erased meanwhile
    return page[-1].service_id if len(page) >= limit else None


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The job that goes on with migrations."""
    walk = Pruning(Walk(partial(go_on, service)).take, most=AT_ONCE)
    return (Job("migrations of services", 5, walk.run, one_node=True),)
