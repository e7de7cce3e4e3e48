"""What statuses follow: servers that move or go, and time."""

from functools import partial
from typing import TYPE_CHECKING

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.state import State
from actors.publications.managing import settle_ownership
from actors.publications.states import STALE_MS
from actors.publications.statuses import Statuses
from persistence.connection import Connection
from persistence.publications import publications, statuses

if TYPE_CHECKING:
    from routes.service import Service


def follow_servers(service: "Service") -> None:
    """From now on a server's status counts for the network that it is in, and is gone when it is."""
    service.connect.listeners.append(partial(_happened, service.statuses))


async def flush_statuses(service: "Service") -> None:
    """Write what servers have said in the last second.

    Raises:
        PersistenceError: the database is away.
    """
    await service.statuses.flush(service.database, service.clock.now_ms())


async def clean_publications(service: "Service") -> None:
    """Follow verified domains, and take from the list what has been silent for long.

    Raises:
        PersistenceError: the database is away; the rest waits for the next run.
    """
    now_ms = service.clock.now_ms()
    service.statuses.forget_old(now_ms)
    await service.database.transact(_clean, now_ms)


async def _clean(conn: Connection, now_ms: int) -> None:
    await settle_ownership(conn, now_ms)
    await publications.grow_stale(conn, before_ms=now_ms - STALE_MS)
    await statuses.forget(conn, before_ms=now_ms - STALE_MS)


def _happened(known: Statuses, state: State, event: AnyEvent) -> None:
    match event:
        case events.ServerChanged():
            known.moved(state.id, event.row.network_id)
        case events.ServerRemoved():
            known.forget(state.id)
