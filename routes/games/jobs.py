"""Periodic jobs of games: categories of publications are read soon after each change, and all of them now and then."""

from functools import partial

from persistence.games import games
from persistence.games.games import Listed
from routes.games.parts import GAMES_LIVE, PAGE_ROWS
from routes.jobs import Job
from routes.pruning import Pruning
from routes.service import Service


async def count_changed(service: Service) -> None:
    """Read the categories of publications that have changed; sends no query if none has.

    Cancellation: the next call reads the same ones.

    Raises:
        PersistenceError: the database failed; the next call reads the same ones.
    """
    live = service.of(GAMES_LIVE)
    unread = frozenset(live.unread)
    if not unread:
        return
    with live.reading() as changed:
        found = {one.target_id: one for one in await service.database.read(games.listed, unread)}
    live.unread -= unread - changed
    for target_id in unread - changed:
        live.counts.take(found.get(target_id, Listed(target_id, None)))


class Recount:
    """Reads the catalog and the categories of all publications, page by page, because another process may import games,
    and publications may lose their address, without an event.

    Args:
        service: the service whose games are counted.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._after = ""
        self._gone: set[str] = set()

    async def take(self, rows: int) -> bool:
        """Read the next page; returns whether there are more.

        Raises:
            PersistenceError: the database failed; the page is read again next time.
        """
        live, database = self._service.of(GAMES_LIVE), self._service.database
        if not self._after:
            live.counts.take_catalog(await database.read(games.read_all))
            self._gone = live.counts.targets()
        with live.reading() as changed:
            page = await database.read(games.listed_page, self._after, rows)
        for listed in page:
            if listed.target_id not in changed:
                live.counts.take(listed)
        self._gone.difference_update(listed.target_id for listed in page)
        if len(page) >= rows:
            self._after = page[-1].target_id
            return True
        live.unread |= self._gone
        self._after, self._gone = "", set()
        return False


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: read changed categories, and read all of them again from time to time."""
    return (
        Job("categories of publications", 1, partial(count_changed, service)),
        Job("catalog of games", 60, Pruning(Recount(service).take, most=PAGE_ROWS).run),
    )
