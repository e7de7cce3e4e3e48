"""What is done now and then, and how often: one line a job."""

from functools import partial
from typing import TYPE_CHECKING

import trio

from actors.chat.archive import archive_old
from actors.chat.leavings import sweep_leavings
from actors.chat.sweeping import sweep, sweep_strays
from persistence import history, notifications, receipts
from persistence.chat import bounds
from persistence.connection import Connection
from persistence.friends import requests as friend_requests
from persistence.people import shares
from persistence.saved import addresses
from routes.connect.cleaning import connect_jobs
from routes.housekeeping import Job, ticking
from routes.networks.tending import network_jobs
from routes.party.follow import party_jobs
from routes.people.erasure import sweep_erased
from routes.pruning import Pruning, pages_of, rows_of
from routes.publications.follow import publication_jobs

if TYPE_CHECKING:
    from routes.service import Service

DAY_MS = 24 * 60 * 60 * 1000


def jobs_of(service: "Service") -> tuple[Job, ...]:
    """The jobs of a service; those that the configuration switches off are left out."""

    async def sweep_empty_groups() -> None:
        system, kind = service.system, service.chat.conversation
        await sweep_leavings(service.database, lambda id: system.peek(kind, id) is not None)

    async def sweep_attachments() -> None:
        now_ms = service.clock.now_ms()
        await sweep(service.database, service.blobs, trio.to_thread.run_sync, now_ms=now_ms)

    async def sweep_stray_files() -> None:
        now_ms = service.clock.now_ms()
        await sweep_strays(service.database, service.blobs, trio.to_thread.run_sync, now_ms=now_ms)

    return (
        ticking("grants that expire", 1, service.users.tick),
        ticking("presence", 0.2, service.presence.tick),
        Job("changes whose outcome is unknown", 1, service.doubts.settle),
        Job("last seen", 60, service.users.flush),
        Job("downloads of capes", 1, service.capes.downloads.flush),
        Job("flame streaks", 1, service.streaks.flush),
        Job("sizes of tables", 60, partial(service.disk.look, service.database)),
        Job("erased users", 1, partial(sweep_erased, service)),
        Job("groups that everybody has left", 60, sweep_empty_groups),
        Job("attachments that nothing shows", 60, sweep_attachments),
        Job("files without an attachment", 3600, sweep_stray_files),
        Job("GeoIP database", 30, partial(service.places.refresh, trio.to_thread.run_sync)),
        *connect_jobs(service),
        *network_jobs(service),
        *party_jobs(service),
        *publication_jobs(service),
        *_prunings(service),
        *_archiving(service),
    )


def _prunings(service: "Service") -> tuple[Job, ...]:
    now_ms, database = service.clock.now_ms, service.database

    async def expire_receipts(conn: Connection, limit: int) -> int:
        return await receipts.prune(conn, limit, now_ms=now_ms())

    async def prune_journal(
        conn: Connection, after: tuple[str, str] | None, limit: int
    ) -> tuple[str, str] | None:
        return await history.prune(conn, after, limit, now_ms=now_ms())

    async def expire_shares(conn: Connection, limit: int) -> int:
        return await shares.prune(conn, limit, now_ms=now_ms())

    async def sweep_addresses(
        conn: Connection, after: tuple[int, str] | None, limit: int
    ) -> tuple[int, str] | None:
        return await addresses.sweep(conn, after, limit, before_ms=now_ms() - DAY_MS)

    async def forget_additions(conn: Connection, limit: int) -> int:
        return await bounds.prune(conn, now_ms(), limit=limit)

    return (
        Job("additions to groups", 60, Pruning(rows_of(database, forget_additions)).run),
        Job("idempotency receipts", 60, Pruning(rows_of(database, expire_receipts)).run),
        Job("journal", 60, Pruning(pages_of(database, prune_journal)).run),
        Job("old notifications", 60, Pruning(partial(_prune_notifications, service)).run),
        Job("friend requests that expire", 60, Pruning(partial(_expire_requests, service), most=1_000).run),
        Job("shared profiles that expire", 3600, Pruning(rows_of(database, expire_shares), most=500).run),
        Job("addresses that nobody saves", 3600, Pruning(pages_of(database, sweep_addresses)).run),
    )


async def _prune_notifications(service: "Service", limit: int) -> bool:
    gone: list[str] = []

    async def prune(conn: Connection) -> None:
        gone.extend(await notifications.prune(conn, limit, now_ms=service.clock.now_ms()))

    async def tell() -> None:
        for user_id in set(gone):
            service.system.changed(service.notifications, user_id, "notifications")

    with service.doubts.unless_known("old notifications", tell):
        await service.database.transact(prune)
    await tell()
    return len(gone) >= limit


async def _expire_requests(service: "Service", limit: int) -> bool:
    gone: list[tuple[str, str]] = []

    async def prune(conn: Connection) -> None:
        gone.extend(await friend_requests.prune(conn, limit, now_ms=service.clock.now_ms()))

    async def tell() -> None:
        for sender_id, recipient_id in gone:
            service.friends.changed(sender_id, recipient_id)

    with service.doubts.unless_known("friend requests that expire", tell):
        await service.database.transact(prune)
    await tell()
    return len(gone) >= limit


def _archiving(service: "Service") -> tuple[Job, ...]:
    if not service.config.archive_after_days:
        return ()
    after_ms = service.config.archive_after_days * DAY_MS

    async def move(limit: int) -> bool:
        moved = await archive_old(
            service.database, now_ms=service.clock.now_ms(), after_ms=after_ms, most=limit
        )
        return moved >= limit

    return (Job("archive", 3600, Pruning(move).run),)
