"""Wire: the feed, as feed readers see it."""

from typing import Any

import feedparser
import pytest

from tests.news.play import GLOBAL, PUBLIC, ahead, change, editor, network, write
from tests.support.one_world import in_one_world
from tests.support.world import World

RSS = f"{PUBLIC}/rss"


async def feed(world: World, **query: object) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    answer = await world.nobody().ask("GET", f"{RSS}?{asked}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/rss+xml; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=60"
    parsed = feedparser.parse(answer.content, sanitize_html=False, response_headers={})
    assert (parsed.bozo, parsed.version) == (False, "rss20")
    return parsed


async def test_a_reader_finds_no_fault_in_it(world: World) -> None:
    ed = await editor(world)
    body = "# a & b < c ]]> \ufffe\n\n*x* <script>alert(1)</script>"
    made = await write(
        ed,
        "Tom & <b>Jerry</b>]]>",
        body=body,
        summary="1 < 2 & 3",
        category="events",
        tags=["a&b"],
        locale="de-AT",
    )
    parsed = await feed(world)
    (entry,) = parsed.entries
    assert entry.title == "Tom & <b>Jerry</b>]]>"
    assert entry.summary == "1 < 2 & 3"
    assert entry.content[0].value.strip() == made["bodyHtml"].replace("\ufffe", "").strip()
    assert (entry.id, entry.guidislink) == (f"urn:partyline:news:{made['id']}", False)
    assert [tag.term for tag in entry.tags] == ["events", "a&b"]
    assert entry.author == "Ed"
    site = world.service.config.base_url.rstrip("/")
    assert entry.link == f"{site}/v1/public/news/{made['id']}"
    assert {link.rel: link.href for link in parsed.feed.links} == {"alternate": site, "self": f"{site}{RSS}"}
    assert list(entry.published_parsed)[:3] == [int(part) for part in made["publishedAt"][:10].split("-")]


async def test_an_empty_feed_is_one(world: World) -> None:
    assert (await feed(world)).entries == []


async def test_guids_never_change_and_nothing_unpublished_is_in_it(world: World) -> None:
    ed = await editor(world)
    made = await write(ed, "one")
    await write(ed, "draft", status="draft")
    await write(ed, "scheduled", status="scheduled", publishAt=ahead(world, 60_000))
    await write(ed, "members", visibility="authenticated")
    before = (await feed(world)).entries
    await change(ed, made, title="two", body="other", summary="s", category="c")
    after = (await feed(world)).entries
    assert ([one.title for one in before], [one.title for one in after]) == (["one"], ["two"])
    assert before[0].id == after[0].id
    assert before[0].published == after[0].published
    await change(ed, made, status="archived")
    assert (await feed(world)).entries == []
    await change(ed, made, status="published")
    assert (await feed(world)).entries[0].id == before[0].id


async def test_it_is_filtered_and_named_by_its_query(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    scope = await network(ann)
    for number in range(3):
        world.advance(1_000)
        await write(ed, f"g{number}", scope=GLOBAL, category="a&b", locale="de")
    await write(ann, "n", scope=scope)
    for query, titles in (
        ({"limit": 2}, ["n", "g2"]),
        ({"scopeType": "global", "limit": 99}, ["g2", "g1", "g0"]),
        ({"scopeType": "network", "scopeId": scope["id"]}, ["n"]),
        ({"category": "A%26b"}, ["g2", "g1", "g0"]),
        ({"locale": "de"}, ["g2", "g1", "g0"]),
    ):
        assert [entry.title for entry in (await feed(world, **query)).entries] == titles
    parsed = await feed(world, category="A%26b", locale="de", more="no")
    own = next(link.href for link in parsed.feed.links if link.rel == "self")
    assert own.endswith(f"{RSS}?category=a%26b&locale=de")
    assert parsed.feed.language == "de"


async def test_readers_ask_again_and_get_304_until_it_changes(world: World) -> None:
    ed, nobody = await editor(world), world.nobody()
    made = await write(ed)
    first = await nobody.ask("GET", RSS)
    known = {"if-none-match": first.headers["etag"]}
    assert (await nobody.ask("GET", RSS, headers=known)).status_code == 304
    await change(ed, made, title="New")
    assert (await nobody.ask("GET", RSS, headers=known)).status_code == 200


@pytest.mark.one_node(because="each node notes itself since when a feed is as it is")
async def test_readers_may_ask_by_date(world: World) -> None:
    """Also when an article leaves the feed, which makes nothing in it newer."""
    ed, nobody = await editor(world), world.nobody()
    world.clock.stop()
    old, _ = await write(ed, "old"), await write(ed, "new")

    async def asked(**headers: str) -> Any:
        return await nobody.ask(
            "GET", RSS, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )

    assert "last-modified" not in (await asked()).headers
    world.advance(1_000)
    first = await asked()
    date, tag = first.headers["last-modified"], first.headers["etag"]
    assert (await asked(if_modified_since=date)).status_code == 304
    assert (await asked(if_modified_since=date, if_none_match=tag)).status_code == 304
    assert (await asked(if_modified_since=date, if_none_match='"other"')).status_code == 200
    for text in ("yesterday", "Mon, 31 Feb 2026 00:00:00 GMT", date.replace("20", "19", 1), date + " x"):
        assert (await asked(if_modified_since=text)).status_code == 200
    await change(ed, old, status="archived")
    assert (await asked(if_modified_since=date)).status_code == 200
    world.advance(1_000)
    again = await asked(if_modified_since=date)
    assert (again.status_code, again.headers["last-modified"] > date) == (200, True)
    assert (await asked(if_modified_since=again.headers["last-modified"])).status_code == 304


@in_one_world("query", ["scopeType=planet", "limit=x", "scopeId=" + "x" * 201])
async def test_queries_that_are_refused(world: World, query: str) -> None:
    assert await world.nobody().refused("GET", f"{RSS}?{query}") == (400, "BAD_QUERY")
