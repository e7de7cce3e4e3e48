"""The jobs of quests: count what users do, forget old days."""

from collections.abc import Awaitable, Callable

from actors.quests import units_progress
from actors.quests.day import day_of
from persistence.connection import Connection
from persistence.quests import company, play, quests
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning, rows_of
from routes.quests.parts import LAUNCHES
from routes.service import Service

PAGE_ROWS = 1_000
"""How many visits, or members of parties, one transaction counts."""

KEPT_DAYS = 7
"""How many days before the present one are kept."""


class Progress:
    """Counts progress from the committed rows, once a minute.

    Args:
        service: gives the clock and the database.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._began_at_ms = 0  # of the last run that came to its end

    async def run(self) -> None:
        """Walk through all visits and parties.

        Cancellation: what was counted stays counted, and the next run counts the rest.

        Raises:
            PersistenceError: the database failed; the next run counts what this one has not.
        """
        now_ms = self._service.clock.now_ms()
        await self._count_all(units_progress.count_ended, now_ms)
        await self._walk_visits(now_ms)
        await self._count_all(units_progress.count_parties, now_ms)
        self._began_at_ms = now_ms

    async def _count_all(self, count: Callable[[Connection, int, int], Awaitable[int]], now_ms: int) -> None:
        """Call a unit of work until one transaction counts less than it might."""
        counted = PAGE_ROWS
        while counted == PAGE_ROWS:
            counted = await change_by_itself(self._service, count, PAGE_ROWS, now_ms, about=None)

    async def _walk_visits(self, now_ms: int) -> None:
        service, since_ms = self._service, self._began_at_ms
        after: tuple[str, str] | None = None
        is_at_end = False
        while not is_at_end:
            page = await change_by_itself(
                service, units_progress.count_play, after, PAGE_ROWS, since_ms, now_ms, about=None
            )
            after, is_at_end = page.last, page.last is None


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: count progress and launches, and delete old days."""
    launches = service.of(LAUNCHES)

    async def count_launches() -> None:
        while oldest := launches.oldest():
            now_ms = service.clock.now_ms()
            await change_by_itself(service, units_progress.count_launches, oldest, now_ms, about=None)
            launches.counted(oldest)

    return (
        Job("launches of quests", 1, count_launches),
        Job("progress of quests", 60, Progress(service).run, one_node=True),
        *(_pruning(service, name, prune) for name, prune in _PRUNED.items()),
    )


_Prune = Callable[..., Awaitable[int]]

_PRUNED: dict[str, _Prune] = {
    "old quests": quests.prune,
    "old play of quests": play.prune,
    "old launches of quests": company.prune_launches,
    "old company of quests": company.prune_company,
}


def _pruning(service: Service, name: str, prune: _Prune) -> Job:
    async def rows(conn: Connection, limit: int) -> int:
        return await prune(conn, limit, before_day=day_of(service.clock.now_ms()) - KEPT_DAYS)

    return Job(name, 3600, Pruning(rows_of(service.database, rows)).run, one_node=True)
