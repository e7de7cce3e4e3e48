"""What is forgotten about game servers now and then (contract §7)."""

from functools import partial

from actors.change import Change
from actors.connect.commands import RemoveSilent
from actors.connect.state import TICKET_KEPT_MS
from actors.errors import Refused
from actors.users.events import UserChanged
from persistence.connect import commands, extensions, servers, sessions
from persistence.connection import Connection
from routes.changes import change_by_itself
from routes.connect.parting import part_all
from routes.connect.parts import GAME_SERVERS
from routes.jobs import Job
from routes.pruning import Pruning, Walk, pages_of, rows_of
from routes.service import Service

SILENT_MS = 24 * 3_600_000
"""Unclaimed servers and temporary instances that have not called for so long are removed."""

CLAIM_KEY_KEPT_MS = 24 * 3_600_000
"""So long after its end a claim key is told from one that never was (410, not 404)."""

HEAD_KEPT_MS = 3_600_000
"""So long the head of a removed server stays: longer than its actor lives."""

FINISHED_KEPT = 1_000
"""Finished commands of one server that stay."""

LOOK_BACK_MS = 10 * 60_000
"""What a command is finished at may be so much older than its row."""

BATCH = 200
"""Silent servers that are looked at at once."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """Remove silent servers, and forget keys, tickets, commands and heads that nobody will ask about."""
    now_ms, database = service.clock.now_ms, service.database

    async def forget_keys(conn: Connection, limit: int) -> int:
        return await servers.forget_claim_keys(conn, limit, before_ms=now_ms() - CLAIM_KEY_KEPT_MS)

    async def forget_tickets(conn: Connection, limit: int) -> int:
        return await sessions.forget_tickets(conn, limit, before_ms=now_ms() - TICKET_KEPT_MS)

    async def forget_removed(conn: Connection, after: str | None, limit: int) -> str | None:
        return await servers.forget_removed(conn, after, limit, before_ms=now_ms() - HEAD_KEPT_MS)

    return (
        Job("calls of game servers", 60, service.of(GAME_SERVERS).credentials.flush),
        Job("silent game servers", 60, Pruning(Walk(partial(_remove_silent, service)).take, most=BATCH).run),
        Job("claim keys", 60, Pruning(rows_of(database, forget_keys)).run),
        Job("join tickets", 60, Pruning(rows_of(database, forget_tickets)).run),
        Job("finished commands", 60, Pruning(FinishedCommands(service).take, most=2_000).run),
        Job("removed game servers", 600, Pruning(pages_of(database, forget_removed)).run),
        Job("extensions without owner", 60, Pruning(partial(_forget_extensions, service), most=BATCH).run),
        Job("consent across blocks", 60, partial(part_all, service)),
    )


class FinishedCommands:
    """Forgets finished commands beyond those that are kept: of every server once, and then of those that finish more.

    Args:
        service: gives the database and the time.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._place = (0, "")

    async def take(self, rows: int) -> bool:
        """Look at the next commands that were finished; whether there are more.

        Raises:
            PersistenceError: the database is away; they are looked at again.
        """
        self._place, more = await change_by_itself(self._service, self._forget, rows, about=None)
        if not more:  # what is committed late is met by the next run
            self._place = min(self._place, (self._service.clock.now_ms() - LOOK_BACK_MS, ""))
        return more

    async def _forget(self, conn: Connection, rows: int) -> tuple[tuple[int, str], bool]:
        return await commands.forget_old(conn, self._place, rows, keep=FINISHED_KEPT)


async def _remove_silent(
    service: Service, after: tuple[int, str] | None, limit: int
) -> tuple[int, str] | None:
    before_ms = service.clock.now_ms() - SILENT_MS
    page = await service.database.read(partial(servers.silent, before_ms=before_ms), after, limit)
    for server_id in service.of(GAME_SERVERS).credentials.silent([server_id for _, server_id in page]):
        try:
            await service.system.ask(service.of(GAME_SERVERS).server, server_id, RemoveSilent())
        except Refused:
            continue  # gone already, or too busy: then somebody does want something of it
    return page[-1] if len(page) >= limit else None


async def _forget_extensions(service: Service, limit: int) -> bool:
    async def forget(conn: Connection) -> Change[int]:
        looked_at, losers = await extensions.forget_orphans(conn, limit)
        return Change(looked_at, tuple(map(UserChanged, losers)))

    return await change_by_itself(service, forget, about="extensions without owner") >= limit
