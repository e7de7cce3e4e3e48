"""What is forgotten about game servers now and then (contract §7)."""

from typing import TYPE_CHECKING

from actors.connect.commands import RemoveSilent
from actors.connect.state import TICKET_KEPT_MS
from actors.errors import Refused
from persistence.connect import commands, extensions, servers, sessions
from persistence.connection import Connection
from routes.connect.parting import part_all

if TYPE_CHECKING:
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
"""Servers whose commands have ended since are looked at."""

BATCH = 200
"""Servers removed in one run."""


async def clean_connect(service: "Service") -> None:
    """Remove silent servers, and forget keys, tickets and heads that nobody will ask about.

    Raises:
        PersistenceError: the database is away; the rest waits for the next run.
    """
    now_ms, connect = service.clock.now_ms(), service.connect
    await connect.credentials.flush()
    before_ms = now_ms - SILENT_MS
    found = await service.database.read(_silent, before_ms)
    for server_id in connect.credentials.silent(found):
        try:
            await service.system.ask(connect.server, server_id, RemoveSilent())
        except Refused:
            continue  # gone already, or too busy: then somebody does want something of it
    await service.database.transact(_forget, now_ms)
    for user_id in await service.database.transact(_forget_extensions):
        service.users.changed(user_id)
    await part_all(service)


async def _silent(conn: Connection, before_ms: int) -> list[str]:
    return await servers.silent(conn, before_ms=before_ms, limit=BATCH)


async def _forget_extensions(conn: Connection) -> list[str]:
    return await extensions.forget_orphans(conn, BATCH)


async def _forget(conn: Connection, now_ms: int) -> None:
    await servers.forget_claim_keys(conn, before_ms=now_ms - CLAIM_KEY_KEPT_MS)
    await sessions.forget_tickets(conn, before_ms=now_ms - TICKET_KEPT_MS)
    await commands.forget_old(conn, since_ms=now_ms - LOOK_BACK_MS, keep=FINISHED_KEPT)
    await servers.forget_removed(conn, before_ms=now_ms - HEAD_KEPT_MS)
