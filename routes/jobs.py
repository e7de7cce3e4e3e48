"""What is done now and then, and how often: one line a job."""

from functools import partial
from typing import TYPE_CHECKING

import trio

from actors.chat.archive import archive_old
from actors.chat.attachments import sweep
from persistence import journal, notifications, receipts
from persistence.friends import requests as friend_requests
from persistence.people import shares
from persistence.saved import addresses
from routes.connect.cleaning import clean_connect
from routes.housekeeping import Job, ticking
from routes.networks.tending import tend_networks
from routes.people.erasure import sweep_erased
from routes.publications.follow import clean_publications, flush_statuses

if TYPE_CHECKING:
    from routes.service import Service

DAY_MS = 24 * 60 * 60 * 1000


def jobs_of(service: "Service") -> tuple[Job, ...]:
    """The jobs of a service; those that the configuration switches off are left out."""
    now_ms, database = service.clock.now_ms, service.database

    async def expire_receipts() -> None:
        await database.transact(receipts.prune, now_ms())

    async def prune_journal() -> None:
        await database.transact(partial(journal.prune, now_ms=now_ms()))

    async def sweep_attachments() -> None:
        await sweep(database, service.blobs, trio.to_thread.run_sync, now_ms=now_ms())

    async def prune_notifications() -> None:
        prune = partial(notifications.prune, now_ms=now_ms())
        for user_id in await database.transact(prune):
            service.system.changed(service.notifications, user_id, "notifications")

    async def sweep_addresses() -> None:
        await database.transact(addresses.sweep, now_ms() - DAY_MS)

    async def expire_shares() -> None:
        await database.transact(shares.prune, now_ms())

    async def archive() -> None:
        after_ms = service.config.archive_after_days * DAY_MS
        await archive_old(database, now_ms=now_ms(), after_ms=after_ms)

    async def expire_friend_requests() -> None:
        for sender_id, recipient_id in await database.transact(friend_requests.prune, now_ms()):
            service.friends.changed(sender_id, recipient_id)

    jobs = [
        ticking("grants that expire", 1, service.users.tick),
        ticking("presence", 0.2, service.presence.tick),
        Job("changes whose outcome is unknown", 1, service.doubts.settle),
        Job("last seen", 60, service.users.flush),
        Job("downloads of capes", 1, service.capes.downloads.flush),
        Job("game servers", 60, partial(clean_connect, service)),
        Job("networks", 30, partial(tend_networks, service)),
        Job("statuses of game servers", 1, partial(flush_statuses, service)),
        Job("publications", 60, partial(clean_publications, service)),
        Job("flame streaks", 1, service.streaks.flush),
        Job("friend requests that expire", 60, expire_friend_requests),
        Job("idempotency receipts", 60, expire_receipts),
        Job("journal", 60, prune_journal),
        Job("sizes of tables", 60, partial(service.disk.look, database)),
        Job("old notifications", 60, prune_notifications),
        Job("erased users", 1, partial(sweep_erased, service)),
        Job("addresses that nobody saves", 3600, sweep_addresses),
        Job("shared profiles that expire", 3600, expire_shares),
        Job("unused attachments", 3600, sweep_attachments),
        Job("GeoIP database", 30, partial(service.places.refresh, trio.to_thread.run_sync)),
    ]
    if service.config.archive_after_days:
        jobs.append(Job("archive", 3600, archive))
    return tuple(jobs)
