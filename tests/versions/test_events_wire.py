"""Wire: what clients have said about releases is listed in pages, and counted once whatever becomes of a commit."""

import pytest

from persistence.errors import OutcomeUnknown
from tests.support.jobs import job_named
from tests.support.losing import proxy, world
from tests.support.proxy import Proxy
from tests.support.world import World
from tests.versions.play import EVENTS, TOLD, a_publisher

__all__ = ["proxy", "world"]

SAID = ("check", "download", "installed", "launched", "failed", "rolled_back")


@pytest.mark.one_node(because="each node counts downloads by itself until it writes them")
async def test_counts_come_in_pages(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    releases = [await pia.release(f"1.{n}.0") for n in range(3)]
    for release in releases:
        for event in SAID:
            told = {"event": event, "releaseId": release["releaseId"], "platform": "linux"}
            await nobody.do("POST", TOLD, told, status=202)
    await job_named(world, "events of releases").run()
    whole = await pia.player.get(EVENTS)
    assert (len(whole["items"]), whole["hasMore"], whole["nextCursor"]) == (18, False, None)
    for chosen in ({}, {"releaseId": releases[1]["releaseId"]}):
        listed, cursor = [], {}
        while True:
            page = await pia.player.get(EVENTS, limit=5, **chosen, **cursor)
            listed += page["items"]
            assert page["hasMore"] is (page["nextCursor"] is not None)
            if not page["hasMore"]:
                break
            cursor = {"cursor": page["nextCursor"]}
        assert listed == [
            one for one in whole["items"] if chosen.get("releaseId", one["releaseId"]) == one["releaseId"]
        ]
    assert await pia.player.refused("GET", f"{EVENTS}?cursor=x") == (400, "BAD_QUERY")


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.one_node(because="each node counts downloads by itself until it writes them")
async def test_what_may_have_been_written_counts_once(world: World, proxy: Proxy, *, landed: bool) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    release = await pia.release()
    told = {"event": "launched", "releaseId": release["releaseId"], "platform": "linux"}
    job = job_named(world, "events of releases")
    await nobody.do("POST", TOLD, told, status=202)
    proxy.cut_at(b"COMMIT\0", answered=landed, after=b"version_counts")
    with pytest.raises(OutcomeUnknown):
        await job.run()
    await nobody.do("POST", TOLD, told, status=202)
    for _ in range(3):
        await job.run()
    (count,) = (await pia.player.get(EVENTS))["items"]
    assert count["count"] == 2
    world.advance(2 * 24 * 3600 * 1000)
    await job_named(world, "old batches of events").run()
    assert await world.service.database.read(_batches) == 0


async def _batches(conn: object) -> int:
    count: int = await conn.fetchval("SELECT count(*) FROM version_count_batches")  # type: ignore[attr-defined]
    return count
