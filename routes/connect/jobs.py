"""Periodic jobs of game servers: mostly the removal of what is no longer needed (contract §7)."""

from functools import partial

from actors.change import Change
from actors.connect.commands import RemoveSilent
from actors.connect.state import TICKET_KEPT_MS
from actors.kernel.clock import Leaps
from actors.users.events import NodesRemoved, UserChanged
from persistence.connect import commands, extensions, servers, sessions
from persistence.connection import Connection
from routes.asking import ask_one_of_many
from routes.changes import change_by_itself
from routes.connect.delivering import EVERY_SECONDS
from routes.connect.parting import left_over
from routes.connect.parts import GAME_SERVERS
from routes.connect.waiters import WAITERS
from routes.jobs import Job, ticking
from routes.pruning import Pruning, Walk, pages_of, rows_of
from routes.service import Service

SILENT_MS = 24 * 3_600_000
"""Unclaimed servers and temporary instances that have not called for this long are removed."""

SETTLING_MS = 3_600_000
"""How long after its start, and after its machine has slept, a process takes no server to be silent. While the service
was away none could call; those that live call again within a minute or two, and one that only listens counts as calling
each ten minutes."""

LISTENERS_SECONDS = 600
"""How often a server that does no more than keep its stream open counts as calling; far below `SILENT_MS`."""

CLAIM_KEY_KEPT_MS = 24 * 3_600_000
"""How long an expired claim key is kept, so that using it answers 410 rather than 404."""

HEAD_KEPT_MS = 3_600_000
"""How long the head row of a removed server is kept; longer than its actor stays in memory."""

FINISHED_KEPT = 1_000
"""Finished commands of one server that are kept."""

FINISHED_BYTES = 16 * 1024 * 1024
"""Bytes of payloads and results of one server's finished commands that are kept; a command may have 128 KiB."""

LOOK_BACK_MS = 10 * 60_000
"""How far a row's commit may lag behind the time at which its command was finished."""

BATCH = 200
"""Rows of one batch of silent servers, of extensions without owner, and of pairs between whom there is a block."""


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs: write last calls, remove silent servers and outdated rows, end sessions between blocked users."""
    now_ms, database = service.clock.now_ms, service.database

    async def forget_keys(conn: Connection, limit: int) -> int:
        return await servers.forget_claim_keys(conn, limit, before_ms=now_ms() - CLAIM_KEY_KEPT_MS)

    async def forget_tickets(conn: Connection, limit: int) -> int:
        return await sessions.forget_tickets(conn, limit, before_ms=now_ms() - TICKET_KEPT_MS)

    async def forget_removed(conn: Connection, after: str | None, limit: int) -> str | None:
        return await servers.forget_removed(conn, after, limit, before_ms=now_ms() - HEAD_KEPT_MS)

    def note_listeners() -> None:
        service.of(WAITERS).note_calls(service.of(GAME_SERVERS).credentials, now_ms())

    return (
        ticking("servers that no longer ask", 5, lambda: service.of(WAITERS).listening.sweep(now_ms())),
        ticking("commands for streams", EVERY_SECONDS, service.of(WAITERS).deliveries.try_again),
        ticking("servers that only listen", LISTENERS_SECONDS, note_listeners),
        Job("calls of game servers", 60, service.of(GAME_SERVERS).credentials.flush),
        Job(
            "silent game servers",
            60,
            Pruning(Walk(Silence(service).remove).take, most=BATCH).run,
            one_node=True,
        ),
        Job("claim keys", 60, Pruning(rows_of(database, forget_keys)).run, one_node=True),
        Job("join tickets", 60, Pruning(rows_of(database, forget_tickets)).run, one_node=True),
        Job("finished commands", 60, Pruning(FinishedCommands(service).take, most=2_000).run, one_node=True),
        Job("removed game servers", 600, Pruning(pages_of(database, forget_removed)).run, one_node=True),
        Job(
            "extensions without owner",
            60,
            Pruning(partial(_forget_extensions, service), most=BATCH).run,
            one_node=True,
        ),
        Job("consent across blocks", 60, Pruning(left_over(service).take, most=BATCH).run),
    )


class FinishedCommands:
    """Deletes finished commands beyond the newest of a server, `FINISHED_KEPT` of them and `FINISHED_BYTES` in all.

    Walks through finished commands by time: all of them after a start, then only those finished since the last run.

    Args:
        service: provides the database and the clock.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._place = (0, "")

    async def take(self, rows: int) -> bool:
        """Process the next batch of finished commands; returns whether there are more.

        Args:
            rows: most rows of the batch.

        Raises:
            PersistenceError: the database failed; the batch is processed again by the next call.
        """
        self._place, more = await change_by_itself(self._service, self._forget, rows, about=None)
        if not more:  # go back a little, so that the next run meets rows that were committed late
            self._place = min(self._place, (self._service.clock.now_ms() - LOOK_BACK_MS, ""))
        return more

    async def _forget(self, conn: Connection, rows: int) -> tuple[tuple[int, str], bool]:
        return await commands.forget_old(
            conn, self._place, rows, keep=FINISHED_KEPT, keep_bytes=FINISHED_BYTES
        )


class Silence:
    """Removes unclaimed servers and temporary instances that have not called for a day.

    Args:
        service: gives the database, the clock and the servers.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._leaps = Leaps(service.clock)
        # Since when servers could call without a break.
        self._heard_since_ms = service.lifecycle.started_at_ms

    async def remove(self, after: tuple[int, str] | None, limit: int) -> tuple[int, str] | None:
        """Look at the next page of silent servers; returns where the one after it begins, None at the end.

        Raises:
            PersistenceError: the database cannot be asked; the page is looked at again.
        """
        service, now_ms = self._service, self._service.clock.now_ms()
        if self._leaps.noticed():
            self._heard_since_ms = now_ms
        if now_ms - self._heard_since_ms < SETTLING_MS:
            return None
        before_ms = now_ms - SILENT_MS
        page = await service.database.read(partial(servers.silent, before_ms=before_ms), after, limit)
        connect = service.of(GAME_SERVERS)
        for _, server_id in page:
            if not connect.credentials.is_silent(server_id):
                continue
            # A server that cannot be asked is found again by the next walk.
            await ask_one_of_many(service, connect.server, server_id, RemoveSilent())
        return page[-1] if len(page) >= limit else None


async def _forget_extensions(service: Service, limit: int) -> bool:
    async def forget(conn: Connection) -> Change[int]:
        orphans = await extensions.forget_orphans(conn, limit)
        removed = (NodesRemoved(orphans.nodes),) if orphans.nodes else ()
        return Change(orphans.found, (*removed, *map(UserChanged, orphans.losers)))

    return await change_by_itself(service, forget, about="extensions without owner") >= limit
