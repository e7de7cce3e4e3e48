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
        service, now_ms = self._service, self._service.clock.now_ms()
        while (
            await change_by_itself(service, units_progress.count_ended, PAGE_ROWS, now_ms, about=None)
            == PAGE_ROWS
        ):
            pass
        place: tuple[str, str] | None = None
        while True:
            page = await change_by_itself(
                service, units_progress.count_play, place, PAGE_ROWS, self._began_at_ms, now_ms, about=None
            )
            place = page.last
            if place is None:
                break
        while (
            await change_by_itself(service, units_progress.count_parties, PAGE_ROWS, now_ms, about=None)
            == PAGE_ROWS
        ):
            pass
        self._began_at_ms = now_ms


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
