"""Periodic jobs of games: what publications name is read soon after each change, and all of it now and then."""

from functools import partial

from persistence.games import games
from persistence.games.games import Listed
from routes.games.parts import GAMES_LIVE, PAGE_ROWS
from routes.jobs import Job
from routes.pruning import Pruning
from routes.service import Service


async def count_changed(service: Service) -> None:
    """Read the categories of the publications that have changed; asks nothing when none has.

    Cancellation: the same are read next time.

    Raises:
        PersistenceError: the database failed; the same are read next time.
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
    """Reads the catalog and the categories of all publications, page by page: games may be imported by another process,
    and addresses lost, without any change of a publication.

    Args:
        service: whose games.
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
    """The jobs: count what has changed, and read all again."""
    return (
        Job("categories of publications", 1, partial(count_changed, service)),
        Job("catalog of games", 60, Pruning(Recount(service).take, most=PAGE_ROWS).run),
    )
