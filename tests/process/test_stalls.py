"""The database stands still in the middle of each job, one after the other: the process lives, everything heals."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from actors.gateways.registry import SILENT_MS
from actors.time import DAY_MS
from persistence.connection import Connection
from persistence.publications.rows import StatusRow
from routes.capes.textures import CAPE_WORKSHOP
from routes.connect.parts import GAME_SERVERS
from routes.friends.parts import STREAKS
from routes.gateways.parts import CARRYING, GATEWAY_REGISTRY
from routes.jobs import Housekeeping, keep_house
from routes.publications.parts import STATUSES
from routes.users.parts import USER_DIRECTORY
from routes.users.reactions import TokensOf
from routes.versions.parts import TALLY
from tests.gateways.play import row
from tests.support.jobs import job_named, jobs_of
from tests.support.proxy import Proxy, open_proxy
from tests.support.waiting import wait_until
from tests.support.world import World, open_world

ASK_NOTHING = (
    "GeoIP database",
    "actors that are watched",
    "categories of publications",
    "commands for streams",
    "counts of polls of news",
    "files without a release",
    "files without an attachment",
    "free memory",
    "grants that expire",
    "heartbeats of voice nodes",
    "launches of quests",
    "presence",
    "rights in voice",
    "samples of metrics",
    "servers that come and go",
    "servers that no longer ask",
    "servers that only listen",
    "silent voice",
    "statuses in memory that are old",
    "voice nodes that are gone",
)
"""Jobs that do not need the database."""

ASK = (
    "DNS records",
    "additions to groups",
    "addresses of gateway routes",
    "addresses without a saved server",
    "archive",
    "attachments that nothing shows",
    "bought rights that are over",
    "calls of game servers",
    "catalog of games",
    "changes whose outcome is unknown",
    "checkouts",
    "claim keys",
    "clocks",
    "consent across blocks",
    "downloads of capes",
    "ended parties",
    "ended voice channels",
    "erased users",
    "events of releases",
    "extensions without owner",
    "finished commands",
    "flame streaks",
    "friend requests that expire",
    "gateways that are gone",
    "groups that everybody has left",
    "heartbeats of gateways",
    "idempotency receipts",
    "invites across blocks",
    "join tickets",
    "join tokens",
    "journal",
    "last seen",
    "migrations of services",
    "notifications of news",
    "old batches of events",
    "old checkouts",
    "old company of quests",
    "old counts of performance reports",
    "old events of releases",
    "old launches of quests",
    "old notifications",
    "old performance reports",
    "old play of quests",
    "old posts to Discord",
    "old quests",
    "old webhooks",
    "owners of publications",
    "progress of quests",
    "publications that are silent",
    "removed game servers",
    "revision of routes",
    "scheduled news",
    "sessions that are over",
    "shared profiles that expire",
    "sign-in links that are over",
    "silent game servers",
    "silent gateways",
    "sizes of tables",
    "statuses of game servers",
    "statuses that are old",
)
"""Those that do."""

BEAT_SECONDS = 0.01

STALL_SECONDS = 0.2
"""How long the database may take while it stands still."""


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    async with open_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
async def world(proxy: Proxy, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(proxy.url, tmp_path, archive_after_days="1") as world:
        for service in world.services:
            service.lifecycle.started_at_ms = 0  # just after a start some jobs leave everything alone
        yield world


async def test_every_job_is_among_them(world: World) -> None:
    known = {job.name for job in jobs_of(world.service)}
    assert known - {*ASK, *ASK_NOTHING} == {*ASK, *ASK_NOTHING} - known == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ASK)
async def test_a_database_that_stands_still_in_the_middle_of_a_job_ends_nothing(
    world: World, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    housekeeping = Housekeeping()
    ann, ben = await world.players("Ann", "Ben")
    await prepare(world, ann.id)
    job = replace(job_named(world, name), every_seconds=BEAT_SECONDS)

    async def failed() -> bool:
        return bool(housekeeping.failures[name])

    async def ran_well() -> bool:
        return housekeeping.behind_seconds()[name] < trio.current_time() - healed_at

    async with trio.open_nursery() as nursery:
        with monkeypatch.context() as hasty:
            for service in world.services:
                hasty.setattr(service.database, "_timeout_seconds", STALL_SECONDS)
            proxy.swallow_after(1)  # the job has begun
            note(world, ann.id, ben.id)
            nursery.start_soon(keep_house, (job,), housekeeping, lambda _job: True)
            await trio.testing.wait_all_tasks_blocked()
            await wait_until(failed)
        healed_at = trio.current_time()
        proxy.heal()
        await wait_until(ran_well)
        nursery.cancel_scope.cancel()
    again = await world.player("Ann again")
    assert (await again.get("/v1/auth/verify"))["valid"]


async def prepare(world: World, ann_id: str) -> None:
    """Give jobs rows to ask for."""
    await world.service.of(CARRYING).table()
    await world.service.database.transact(_erase, ann_id)


def note(world: World, ann_id: str, ben_id: str) -> None:
    """Give jobs something to write, once the database stands still: before, the service's own jobs would write it."""
    service, now_ms = world.service, world.clock.now_ms()
    service.of(USER_DIRECTORY).last_seen.note(ann_id, now_ms)
    service.of(CAPE_WORKSHOP).downloads.count(ann_id)
    service.of(STREAKS).contact(ann_id, ben_id, now_ms)
    service.of(GAME_SERVERS).credentials.saw("s", now_ms, "127.0.0.1")
    service.of(STATUSES).report(StatusRow("s", None, True, "", 1, 2, now_ms), now_ms)
    service.of(TALLY).add(now_ms // DAY_MS, "0" * 24, "check", "any")
    for gateway_id in ("silent", "heard"):
        service.of(GATEWAY_REGISTRY).changed(row(gateway_id))
    world.clock.advance(SILENT_MS)
    service.of(GATEWAY_REGISTRY).heard("heard", service.clock.now_ms(), 1)
    service.reconciler.add(TokensOf(ann_id))


async def _erase(conn: Connection, user_id: str) -> None:
    await conn.execute("INSERT INTO erased_users VALUES (overlay($1 placing '0' from 1), 1, false)", user_id)
