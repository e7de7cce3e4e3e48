"""Wire: the channel `news` shows the beginning of a viewer's feed, and each article when it is published."""

from typing import Any

import msgspec
import pytest

from actors.news.live import RECENT_MAX, SHOWN, NewsPublished, NewsSnapshot
from actors.news.units_publishing import ArticleChanged
from persistence.news import articles
from routes.news.parts import NEWS_LIVE
from tests.connect.play import claimed
from tests.news.play import FEED, FOLLOWS, NEWS, POLL, ahead, change, editor, follow, network, write
from tests.support.jobs import job_named
from tests.support.websocket import Client
from tests.support.world import Player, World
from tests.users.play import erase

LIVE = "/v1/social/live?channels="


async def watch(client: Client, mode: str) -> Any:
    """The first snapshot."""
    await client.send_json({"id": "s", "op": "subscribe", "channel": "news", "params": {"mode": mode}})
    reply = await client.receive_until(id="s")
    assert reply["ok"], reply
    return await snapshot(client)


async def snapshot(client: Client) -> Any:
    data = (await client.receive_until(type="snapshot"))["data"]
    shown = msgspec.convert(data, NewsSnapshot)
    assert all(item.body is item.body_html is None for item in shown.items)
    return [item.title for item in shown.items]


async def until(client: Client, *titles: str) -> None:
    """Wait for the frame that shows these."""
    while await snapshot(client) != list(titles):
        pass


async def test_a_snapshot_follows_what_is_published_changed_and_archived(world: World) -> None:
    ed, ann, ben = await editor(world), *(await world.players("Ann", "Ben"))
    scope = await network(ann)
    await follow(ben, scope)
    await write(ed, "old")
    async with ben.live(LIVE) as client:
        assert await watch(client, "snapshot") == ["old"]
        made = await write(ann, "mine", scope=scope)
        await until(client, "mine", "old")
        draft = await write(ed, "draft", status="draft")
        await change(ann, made, title="changed")
        await until(client, "changed", "old")
        await change(ed, draft, status="published", pinned=True)
        await until(client, "draft", "changed", "old")
        await change(ann, made, status="archived")
        await until(client, "draft", "old")
        await change(ann, made, status="published")
        await until(client, "draft", "changed", "old")
        await follow(ben)
        await until(client, "draft", "old")
        assert await titles_of_feed(ben) == ["draft", "old"]


async def titles_of_feed(player: Player) -> list[str]:
    return [item["title"] for item in (await player.get(FEED, limit=SHOWN))["items"]]


@pytest.mark.one_node(because="a view without rows of its own has other offsets on each node")
async def test_an_erased_author_is_named_no_longer(world: World) -> None:
    """Neither to those who look, nor to those who come back."""
    ed, eve, ann = await editor(world), await editor(world, "Eve"), await world.player("Ann")
    async with ann.live(LIVE) as client:
        await client.send_json({"id": "s", "op": "subscribe", "channel": "news"})
        first = await client.receive_until(type="snapshot")
        await write(eve, "hers")
        await until(client, "hers")
        await erase(world, eve)
        await write(ed, "his")
        while len(items := (await client.receive_until(type="snapshot"))["data"]["items"]) < 2:
            pass
        assert [item["authorName"] for item in items] == ["Ed", None]
        assert [item["authorId"] for item in items] == [ed.id, None]
        async with ann.live(LIVE) as other:
            since = {"epoch": first["epoch"], "offset": first["offset"]}
            missed = {
                "id": "s",
                "op": "subscribe",
                "channel": "news",
                "params": {"mode": "delta"},
                "since": since,
            }
            await other.send_json(missed)
            assert (await other.receive_until(id="s"))["recovered"] is False
            told = (await other.receive_until(type="snapshot"))["data"]["items"]
            assert [(one["title"], one["authorName"]) for one in told] == [("his", "Ed"), ("hers", None)]


@pytest.mark.parametrize("goes", ["owner", "network"])
async def test_news_go_with_their_network_and_their_server(world: World, goes: str) -> None:
    """A network goes with its owner, both go when they are removed; whoever looks sees it at once."""
    ed, ann, eve = await editor(world), *(await world.players("Ann", "Eve"))
    server, hers = await claimed(world, ann), await network(eve)
    await follow(ann, {"type": "server", "id": server.id}, hers)
    await write(ed, "global")
    await write(ed, "of a server", scope={"type": "server", "id": server.id})
    await write(ed, "of a network", scope=hers)
    async with ann.live(LIVE) as client:
        assert await watch(client, "snapshot") == ["of a network", "of a server", "global"]
        await ann.do("DELETE", server.path, status=204)
        await until(client, "of a network", "global")
        if goes == "owner":
            await erase(world, eve)
        else:
            await eve.do("DELETE", f"/v1/connect/networks/{hers['id']}", status=204)
        await until(client, "global")
        live = world.service.of(NEWS_LIVE)
        assert {entry.scope.type for entry in live._recent.values()} == {"global"}


async def test_what_is_remembered_no_longer_is_a_snapshot(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes back is not told that nothing is missing, and whoever stayed sees all."""
    monkeypatch.setattr("actors.news.live.RECENT_MAX", 2)
    ed, ann = await editor(world), await world.player("Ann")
    async with ann.live(LIVE) as client:
        await client.send_json({"id": "s", "op": "subscribe", "channel": "news"})
        first = await client.receive_until(type="snapshot")
        for number in range(4):
            await write(ed, f"{number}")
            await until(client, *(f"{shown}" for shown in reversed(range(number + 1))))
        async with ann.live(LIVE) as other:
            since = {"epoch": first["epoch"], "offset": first["offset"]}
            params = {"mode": "delta"}
            await other.send_json(
                {"id": "s", "op": "subscribe", "channel": "news", "params": params, "since": since}
            )
            assert (await other.receive_until(id="s"))["recovered"] is False
            assert await snapshot(other) == ["3", "2", "1", "0"]


async def test_counts_of_polls_follow_for_those_who_see_them(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    made = await write(ed, "asked", poll=POLL)
    counts = job_named(world, "counts of polls of news")
    async with ann.live(LIVE) as client:
        assert await watch(client, "snapshot") == ["asked"]
        option = made["poll"]["options"][1]["id"]
        for voter in (ed, ann):
            await voter.do("POST", f"{NEWS}/{made['id']}/poll/vote", {"optionIds": [option]})
        await counts.run()
        shown = (await client.receive_until(type="snapshot"))["data"]["items"][0]["poll"]["options"]
        assert [one["votes"] for one in shown] == [0, 2]
        await ed.do("POST", f"{NEWS}/{made['id']}/poll/vote", {"optionIds": []})
        await change(ed, made, status="archived")
        await until(client)
        live = world.service.of(NEWS_LIVE)
        row = await world.service.database.read(articles.read, made["id"])
        _, sees = live.counted(row)
        assert not sees(ann.id)
        await counts.run()
        assert live.voted(1) == []


async def test_a_poll_that_has_closed_is_shown_so_to_those_who_see_it(world: World) -> None:
    """Though nobody votes any more, and its article does not change."""
    ed, ann = await editor(world), await world.player("Ann")
    counts = job_named(world, "counts of polls of news")
    await write(ed, "asked", poll={**POLL, "expiresAtMs": world.clock.now_ms() + 120_000})
    async with ann.live(LIVE) as client:
        await client.send_json({"id": "s", "op": "subscribe", "channel": "news"})
        (item,) = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert item["poll"]["closed"] is False
        world.advance(120_000)
        await counts.run()
        (item,) = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert item["poll"]["closed"] is True
        assert world.service.of(NEWS_LIVE).voted(1) == []


async def test_an_author_who_is_renamed_is_named_so_to_those_who_look(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    await write(ed, "one")
    await write(await editor(world, "Eve"), "two")
    renamed = Player(world, ed.id, "Eddie", world.token(ed.id, "Eddie"))
    async with ann.live(LIVE) as client:
        await client.send_json({"id": "s", "op": "subscribe", "channel": "news"})
        before = (await client.receive_until(type="snapshot"))["data"]["items"]
        await renamed.get("/v1/auth/verify")
        items = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert items == [before[0], before[1] | {"authorName": "Eddie"}]
        assert (await ann.get(FEED))["items"][1]["authorName"] == "Eddie"
        remembered = world.service.of(NEWS_LIVE)._recent[items[1]["id"]]
        assert msgspec.json.decode(remembered.encoded) == items[1]


async def test_an_event_is_told_once_for_each_publication(world: World) -> None:
    ed, ann, ben = await editor(world), *(await world.players("Ann", "Ben"))
    scope, strange = await network(ann), await network(ann, "Strange")
    await ben.do("PUT", FOLLOWS, {"items": [{"type": "category", "id": "c"}]}, status=200)
    async with ben.live(LIVE) as client:
        await watch(client, "delta")
        await write(ann, "strange", scope=strange)
        made = await write(ann, "by category", scope=scope, category="c", poll=POLL, body="secret" * 100)
        event = await client.receive_until(type="event")
        assert event["event"] == "news_published"
        told = msgspec.convert(event["data"], NewsPublished).article
        assert (told.id, told.title, told.body) == (made["id"], "by category", None)
        assert [option.selected for option in told.poll.options] == [msgspec.UNSET] * 2
        await change(ann, made, title="changed")
        await change(ann, made, status="archived")
        await change(ann, made, status="published")
        later = await write(ed, "later", status="scheduled", publishAt=ahead(world, 60_000))
        world.advance(60_000)
        await job_named(world, "scheduled news").run()
        event = await client.receive_until(type="event")
        assert (event["event"], event["data"]["article"]["id"]) == ("news_published", later["id"])
        assert event["data"]["article"]["status"] == "published"


async def test_what_shows_as_before_is_sent_to_nobody(world: World) -> None:
    """One that is below what is shown may change; the next frame is of the next that is published."""
    ed, ann = await editor(world), await world.player("Ann")
    made = [await write(ed, f"{number}") for number in range(SHOWN + 1)]
    newest_first = [f"{number}" for number in reversed(range(1, SHOWN + 1))]
    async with ann.live(LIVE) as client:
        assert await watch(client, "snapshot") == newest_first
        await change(ed, made[0], title="changed")
        await write(ed, "next")
        assert await snapshot(client) == ["next", *newest_first[:-1]]


@pytest.mark.one_node(because="a view without rows of its own has other offsets on each node")
async def test_offsets_count_what_events_tell(world: World) -> None:
    """Who counts them finds no gap; who comes back after a change that has none is sent a snapshot."""
    ed, ann = await editor(world), await world.player("Ann")
    async with ann.live(LIVE) as client, ann.live(LIVE) as other:
        await watch(client, "delta")
        made = await write(ed, "first")
        first = await client.receive_until(type="event")
        assert await watch(other, "snapshot") == ["first"]
        await change(ed, made, title="changed")
        await until(other, "changed")
        draft = await write(ed, "draft", status="draft")
        await write(ed, "second")
        second = await client.receive_until(type="event")
        assert (first["offset"], second["offset"]) == (1, 2)
        await change(ed, draft, title="draft still")
        for since, recovered in ((first, False), (second, True)):
            command = {"id": "s", "op": "subscribe", "channel": "news", "params": {"mode": "delta"}}
            place = {"epoch": since["epoch"], "offset": since["offset"]}
            await client.send_json({**command, "since": place})
            assert (await client.receive_until(id="s"))["recovered"] is recovered


async def test_a_full_list_is_read_again_where_one_leaves_it(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    made = [await write(ed, f"{number}", body="b") for number in range(SHOWN + 2)]
    newest_first = [f"{number}" for number in reversed(range(SHOWN + 2))]
    async with ann.live(LIVE) as client:
        assert await watch(client, "snapshot") == newest_first[:SHOWN]
        await change(ed, made[-1], status="archived")
        await until(client, *newest_first[1 : SHOWN + 1])
        await write(ed, "new")
        await until(client, "new", *newest_first[1:SHOWN])
        await change(ed, made[0], pinned=True)
        await until(client, "0", "new", *newest_first[1 : SHOWN - 1])
        await change(ed, made[0], pinned=False)
        await until(client, "new", *newest_first[1:SHOWN])


async def test_one_that_leaves_a_feed_makes_room_for_the_next(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    scope = await network(ann)
    await follow(ben, {"type": "category", "id": "c"})
    made = [await write(ann, f"{number}", scope=scope, category="c") for number in range(SHOWN + 1)]
    newest_first = [f"{number}" for number in reversed(range(SHOWN + 1))]
    async with ben.live(LIVE) as client:
        assert await watch(client, "snapshot") == newest_first[:SHOWN]
        await change(ann, made[-2], category="d")
        await until(client, *(title for title in newest_first if title != f"{SHOWN - 1}"))


async def test_of_two_changes_the_later_one_counts_whichever_is_told_first(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    live = world.service.of(NEWS_LIVE)
    made = await write(ed, "first")
    async with ann.live(LIVE) as client:
        await watch(client, "snapshot")
        earlier = await world.service.database.read(articles.read, made["id"])
        await change(ed, made, title="later")
        await until(client, "later")
        source, concerns = live.changed(ArticleChanged(earlier, published=False))
        world.service.system.touched_if(live.view.name, concerns, source)
        await write(ed, "next")
        assert await snapshot(client) == ["next", "later"]


async def test_whoever_is_being_read_is_told_of_all(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    live = world.service.of(NEWS_LIVE)
    scope = await network(ann)
    made = await write(ann, scope=scope)
    row = await world.service.database.read(articles.read, made["id"])
    async with ed.live(LIVE) as client:
        await watch(client, "snapshot")
        _, concerns = live.changed(ArticleChanged(row, published=True))
        assert (concerns(ed.id), concerns(ann.id)) == (False, True)
        live.follows_changed(ed.id)
        assert concerns(ed.id)


async def test_memory_of_changes_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert RECENT_MAX == 200
    monkeypatch.setattr("actors.news.live.RECENT_MAX", 2)
    ed, ann = await editor(world), await world.player("Ann")
    async with ann.live(LIVE) as client:
        assert await watch(client, "snapshot") == []
        for number in range(5):
            await write(ed, f"{number}")
        await until(client, "4", "3", "2", "1", "0")
        live = world.service.of(NEWS_LIVE)
        assert len(live._recent) == 2
        assert live._watching.keys() == {ann.id}


async def test_nothing_is_kept_of_who_has_gone(world: World) -> None:
    ann = await world.player("Ann")
    async with ann.live(LIVE) as client:
        await watch(client, "snapshot")
        await client.send_json({"id": "u", "op": "unsubscribe", "channel": "news"})
        assert (await client.receive_until(id="u"))["ok"]
        assert not world.service.of(NEWS_LIVE)._watching
