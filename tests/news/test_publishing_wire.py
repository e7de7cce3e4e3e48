"""Wire: scheduled articles are there at their moment, and are announced once."""

from functools import partial

import pytest
import trio

from actors.news import units_publishing
from actors.news.units_publishing import publish_due
from actors.time import iso
from persistence.connection import Connection
from persistence.news import articles
from routes.news import jobs
from tests.connect.play import claimed
from tests.discord.play import queue, waiting_webhook
from tests.news.play import FEED, GLOBAL, NEWS, PUBLIC, ahead, change, editor, follow, network, titles, write
from tests.support.jobs import job_named
from tests.support.refusing import allow, refuse
from tests.support.world import World

NOTIFICATIONS = "/v1/notifications"


async def run(world: World, name: str) -> None:
    await job_named(world, name).run()


async def published(world: World) -> None:
    await run(world, "scheduled news")


async def notified(world: World) -> None:
    """All that are to be notified are; the service's own job may be at work as well."""
    await run(world, "notifications of news")
    while await rows(world, "news_announcements"):
        await run(world, "notifications of news")


async def rows(world: World, table: str) -> int:
    async def count(conn: Connection) -> int:
        found: int = await conn.fetchval(f"SELECT count(*) FROM {table}")
        return found

    return await world.service.database.read(count)


async def left(world: World) -> list[str]:
    """The ids of articles that are due and not published."""
    due = partial(articles.due, now_ms=world.clock.now_ms(), limit=100)
    return [one.news_id for one in await world.service.database.read(due, None)]


async def test_it_is_there_at_its_millisecond_whether_the_job_has_run_or_not(world: World) -> None:
    ed, ann, nobody = await editor(world), await world.player("Ann"), world.nobody()
    world.clock.stop()
    moment_ms = world.clock.now_ms() + 60_000
    made = await write(ed, status="scheduled", publishAt=iso(moment_ms))
    assert (made["status"], made["publishAt"], made["publishedAt"]) == ("scheduled", iso(moment_ms), None)
    paths = (f"{NEWS}/{made['id']}", f"{PUBLIC}/{made['id']}")
    world.advance(59_999)
    await published(world)
    assert await titles(ann, NEWS) == await titles(nobody, PUBLIC) == await titles(ann, FEED) == []
    for reader, path in zip((ann, nobody), paths, strict=True):
        assert await reader.refused("GET", path) == (404, "NOT_FOUND")
    world.advance(1)
    early = await ann.get(paths[0])
    assert (early["status"], early["publishedAt"]) == ("published", iso(moment_ms))
    lists = [await reader.get(path) for reader, path in ((ann, NEWS), (nobody, PUBLIC), (ann, FEED))]
    assert [page["items"] for page in lists] == [[early]] * 3
    assert await titles(ed, NEWS, status="scheduled") == []
    await published(world)
    assert await ann.get(paths[0]) == early
    assert [await reader.get(path) for reader, path in ((ann, NEWS), (nobody, PUBLIC), (ann, FEED))] == lists


async def test_a_schedule_can_be_moved_and_taken_back(world: World) -> None:
    ed = await editor(world)
    made = await write(ed, status="scheduled", publishAt=ahead(world, 60_000))
    later = ahead(world, 120_000)
    moved = await change(ed, made, publishAt=later)
    assert (moved["status"], moved["publishAt"]) == ("scheduled", later)
    answer = await ed.ask("PATCH", f"{NEWS}/{made['id']}", {"publishAt": None})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "REQUIRED")
    world.advance(60_001)
    assert await titles(ed, NEWS) == []
    assert (await change(ed, made, status="draft"))["status"] == "draft"
    world.advance(120_000)
    await published(world)
    assert await titles(ed, NEWS) == []
    again = await change(ed, made, status="published")
    assert (again["publishAt"], again["status"]) == (None, "published")


async def test_whoever_changes_it_in_its_first_second_finds_it_published(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    scope = await network(ann)
    await waiting_webhook(world, scope["id"])
    made = await write(ann, scope=scope, status="scheduled", publishAt=ahead(world, 60_000), notify=True)
    await follow(ed, scope)
    world.advance(60_000)
    assert await ann.refused("PATCH", f"{NEWS}/{made['id']}", {"status": "draft"}) == (409, "INVALID_STATE")
    changed = await change(ann, made, title="New")
    assert (changed["status"], changed["publishedAt"]) == ("published", made["publishAt"])
    await published(world)
    await notified(world)
    assert len((await ed.get(NOTIFICATIONS))["items"]) == 1
    assert await queue(world, scope["id"]) == [("news_published", made["id"])]


async def test_all_that_are_due_at_once_are_published_by_one_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "DUE_AT_ONCE", 3)
    ed, ann = await editor(world), await world.player("Ann")
    at = ahead(world, 60_000)
    for number in range(7):
        await write(ed, f"{number}", status="scheduled", publishAt=at)
    world.advance(60_000)
    assert len(await titles(ann, NEWS)) == 7
    await published(world)
    assert await left(world) == []
    assert len(await titles(ann, NEWS)) == 7


async def test_two_who_publish_it_at_once_announce_it_once(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    scope = await network(ann)
    await waiting_webhook(world, scope["id"])
    made = await write(ann, scope=scope, status="scheduled", publishAt=ahead(world, 60_000))
    world.advance(60_000)
    did: list[bool] = []

    async def publish() -> None:
        done = await world.service.database.transact(publish_due, made["id"], world.clock.now_ms())
        did.append(done.value)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(publish)
    # The service's own job may have been the first.
    assert did.count(True) <= 1
    assert await queue(world, scope["id"]) == [("news_published", made["id"])]
    assert (await ed.get(f"{NEWS}/{made['id']}"))["publishedAt"] == made["publishAt"]


async def test_followers_are_notified_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_publishing, "NOTIFIED_AT_ONCE", 2)
    ann, server = await world.player("Ann"), await claimed(world, await world.player("Owner"))
    scope = await network(ann)
    followers = [await world.player(f"f{number}") for number in range(5)]
    for follower in (*followers, ann):
        await follow(follower, scope, {"type": "server", "id": server.id})
    made = await write(ann, "Party", scope=scope, notify=True)
    await notified(world)
    for follower in followers:
        (found,) = (await follower.get(NOTIFICATIONS))["items"]
        assert (found["kind"], found["actorId"]) == ("news", ann.id)
        assert found["data"] == {"newsId": made["id"], "slug": "party", "title": "Party", "scope": scope}
    assert (await ann.get(NOTIFICATIONS))["items"] == []
    for status in ("archived", "published"):
        await change(ann, made, status=status, notify=True)
    await write(ann, "Quiet", scope=scope)
    await notified(world)
    assert len((await followers[0].get(NOTIFICATIONS))["items"]) == 1
    assert await rows(world, "news_announcements") == 0


async def test_each_of_several_articles_is_announced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_publishing, "NOTIFIED_AT_ONCE", 1)
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    one, other = await network(ann), await network(ann, "Other")
    await follow(ben, one)
    await follow(cid, one, other)
    for title, scope in (("A", one), ("B", other), ("C", one)):
        await write(ann, title, scope=scope, notify=True)
    await notified(world)
    told = {
        player: sorted(found["data"]["title"] for found in (await player.get(NOTIFICATIONS))["items"])
        for player in (ben, cid)
    }
    assert told == {ben: ["A", "C"], cid: ["A", "B", "C"]}
    assert await rows(world, "news_announcements") == 0


async def test_what_is_archived_meanwhile_is_not_announced(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    scope = await network(ann)
    await follow(ben, scope)
    made = await write(ann, scope=scope, notify=True)
    await change(ann, made, status="archived")
    await notified(world)
    assert (await ben.get(NOTIFICATIONS))["items"] == []


async def test_global_articles_notify_nobody(world: World) -> None:
    ed = await editor(world)
    await write(ed, scope=GLOBAL, notify=True)
    assert await rows(world, "news_announcements") == 0


async def test_what_two_change_at_once_is_a_conflict(world: World) -> None:
    ed = await editor(world)
    article = await write(ed)
    first = await change(ed, article, title="one", revision=article["revision"])
    assert first["revision"] > article["revision"]
    path = f"{NEWS}/{article['id']}"
    refused = await ed.ask("PATCH", path, {"title": "two", "revision": article["revision"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "REVISION_CONFLICT")
    assert refused.json()["meta"]["revision"] == first["revision"]
    seen = await ed.get(path)
    assert (seen["title"], seen["revision"]) == ("one", first["revision"])
    assert (await change(ed, article, title="three"))["title"] == "three"  # whoever names none means any
    assert await ed.refused("PATCH", path, {"revision": None}) == (422, "VALIDATION_FAILED")


async def test_articles_that_cannot_be_published_hold_up_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "DUE_AT_ONCE", 2)
    ed = await editor(world)
    made = [
        await write(ed, f"{number}", status="scheduled", publishAt=ahead(world, 60_000 + number))
        for number in range(3)
    ]
    bad = [one["id"] for one in made[:2]]
    await refuse(world, "UPDATE ON news_articles", f"OLD.id IN ('{bad[0]}', '{bad[1]}')")
    world.advance(60_002)
    await published(world)
    assert await left(world) == bad
    await allow(world)
    await published(world)
    assert await left(world) == []


async def test_an_article_that_cannot_be_announced_holds_up_no_other(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    scope = await network(ann)
    await follow(ben, scope)
    await refuse(world, "DELETE ON news_announcements", "OLD.created_at_ms % 2 = 0")
    world.clock.stop()
    world.advance(world.clock.now_ms() % 2)
    for title in ("Bad", "Good"):
        await write(ann, title, scope=scope, notify=True)
        world.advance(1)
    await run(world, "notifications of news")
    assert [found["data"]["title"] for found in (await ben.get(NOTIFICATIONS))["items"]] == ["Good"]
    await allow(world)
    await notified(world)
    assert len((await ben.get(NOTIFICATIONS))["items"]) == 2
