"""Wire: articles are written by those who may, and read by all."""

from threading import get_ident
from typing import Any

import pytest
import trio

from actors.news import markdown, quota
from actors.news.units_articles import MOST_OF_SCOPE
from persistence.news.owned import ARTICLE_MIN_BYTES
from routes.rates import ARTICLE
from tests.connect.play import claimed
from tests.news.play import FEED, GLOBAL, NEWS, POLL, PUBLIC, ahead, change, editor, network, titles, write
from tests.support.one_world import in_one_world
from tests.support.world import Player, World


async def test_an_article_is_there_for_all(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    made = await write(
        ed, "Über alles", body="# Hi\n\n*there*", summary="s", category="Events", tags=["PvP", "pvp", "new"],
        coverUrl="https://example.org/a.png", locale="de-AT", pinned=True,
    )  # fmt: skip
    assert made["slug"] == "uber-alles"
    assert (made["body"], made["bodyFormat"]) == ("# Hi\n\n*there*", "markdown")
    assert made["bodyHtml"] == "<h2>Hi</h2>\n<p><em>there</em></p>\n"
    assert (made["category"], made["tags"], made["locale"]) == ("events", ["pvp", "new"], "de-AT")
    assert (made["scope"], made["authorId"], made["authorName"]) == (
        {"type": "global", "id": None},
        ed.id,
        "Ed",
    )
    assert (made["status"], made["visibility"], made["publishAt"]) == ("published", "public", None)
    assert made["publishedAt"] == made["createdAt"]
    for reader, path in ((ann, NEWS), (world.nobody(), PUBLIC)):
        assert await reader.get(f"{path}/{made['id']}") == made
        assert (await reader.get(path)) == {"items": [made], "nextCursor": None, "hasMore": False}
    assert (await ann.get(FEED))["items"] == [made]


@pytest.mark.parametrize("status", ["draft", "scheduled", "archived"])
async def test_what_is_not_published_leaks_nowhere(world: World, status: str) -> None:
    ed, ann, nobody = await editor(world), await world.player("Ann"), world.nobody()
    before = {path: (await ann.ask("GET", path)).headers["etag"] for path in (NEWS, FEED, PUBLIC)}
    publish_at = {"publishAt": ahead(world, 60_000)}
    made = await write(ed, "Secret", status="draft" if status == "archived" else status, **publish_at)
    if status == "archived":
        await change(ed, made, status="archived")
    for path, etag in before.items():
        answer = await ann.ask("GET", path)
        assert (answer.json()["items"], answer.headers["etag"]) == ([], etag)
    assert await ann.refused("GET", f"{NEWS}/{made['id']}") == (404, "NOT_FOUND")
    assert await nobody.refused("GET", f"{PUBLIC}/{made['id']}") == (404, "NOT_FOUND")
    assert await ann.refused("PATCH", f"{NEWS}/{made['id']}", {}) == (404, "NOT_FOUND")
    for other in ("draft", "scheduled", "archived", "published"):
        assert await titles(ann, NEWS, status=other) == []
        assert await titles(ed, NEWS, status=other) == (["Secret"] if other == status else [])
    assert (await ed.get(f"{NEWS}/{made['id']}"))["status"] == status


WRITERS: dict[str, dict[str, Any]] = {
    "stranger": {"global": (403, "FORBIDDEN"), "network": (404, "NOT_FOUND"), "server": (404, "NOT_FOUND")},
    "operator": {"global": (403, "FORBIDDEN"), "network": (404, "NOT_FOUND"), "server": (403, "FORBIDDEN")},
    "admin": {"global": (403, "FORBIDDEN"), "network": (404, "NOT_FOUND"), "server": None},
    "owner": {"global": (403, "FORBIDDEN"), "network": None, "server": None},
    "editor": {"global": None, "network": None, "server": None},
}


async def test_who_may_write_where(world: World) -> None:
    owner, ed = await world.player("Owner"), await editor(world)
    server = await claimed(world, owner)
    scopes = {
        "global": GLOBAL,
        "network": await network(owner),
        "server": {"type": "server", "id": server.id},
    }
    drafts = {name: await write(ed, name, scope=scope, status="draft") for name, scope in scopes.items()}
    people = {"owner": owner, "editor": ed, "stranger": await world.player("Stranger")}
    for role in ("operator", "admin"):
        people[role] = await member(owner, server.path, await world.player(role), role)
    for who, answers in WRITERS.items():
        for name, refusal in answers.items():
            body = {"scope": scopes[name], "title": who, "body": "b"}
            path = f"{NEWS}/{drafts[name]['id']}"
            if refusal is None:
                await people[who].do("POST", NEWS, body, status=201)
                assert (await people[who].get(path))["title"] == name
                await people[who].do("PATCH", path, {"summary": who}, status=200)
                continue
            assert await people[who].refused("POST", NEWS, body) == refusal, (who, name)
            # Who may not write global news may not know of drafts there.
            hidden = (404, "NOT_FOUND") if name == "global" else refusal
            assert await people[who].refused("PATCH", path, {"summary": who}) == hidden, (who, name)
            assert await people[who].refused("GET", path) == (404, "NOT_FOUND")
    for name, draft in drafts.items():
        # The moment is not theirs to change as long as they cannot write; once they can read it, they are told.
        await change(ed, draft, status="published")
        path = f"{NEWS}/{draft['id']}"
        assert await people["stranger"].refused("PATCH", path, {"title": "x"}) == (403, "FORBIDDEN"), name
    assert (await world.nobody().refused("POST", NEWS, {"scope": GLOBAL, "title": "t", "body": "b"}))[
        0
    ] == 401


async def member(owner: Player, path: str, player: Player, role: str) -> Player:
    """A member of a server."""
    await owner.do("PUT", f"{path}/members/{player.id}", {"role": role}, status=200)
    return player


async def test_of_an_unknown_scope_nothing_is_told(world: World) -> None:
    ann = await world.player("Ann")
    for kind in ("network", "server"):
        body = {"scope": {"type": kind, "id": ann.id}, "title": "t", "body": "b"}
        assert await ann.refused("POST", NEWS, body) == (404, "NOT_FOUND")


async def test_scope_and_author_stay(world: World) -> None:
    ann, ed = await world.player("Ann"), await editor(world)
    scope = await network(ann)
    made = await write(ann, scope=scope)
    changed = await change(ed, made, scope=GLOBAL, authorId=ed.id, title="Other")
    assert (changed["scope"], changed["authorId"], changed["title"]) == (scope, ann.id, "Other")


async def test_slugs_are_unique_in_their_scope_and_stay_once_published(world: World) -> None:
    ann, ed = await world.player("Ann"), await editor(world)
    first, second = await write(ed, "A title!"), await write(ed, "A title?")
    assert (first["slug"], second["slug"]) == ("a-title", f"a-title-{second['id'][8:]}")
    assert (await write(ed, "日本"))["slug"] == "news"
    body = {"scope": GLOBAL, "title": "t", "body": "b", "slug": "a-title"}
    assert await ed.refused("POST", NEWS, body) == (409, "SLUG_TAKEN")
    assert (await write(ann, "A title!", scope=await network(ann)))["slug"] == "a-title"
    draft = await write(ed, "Draft", status="draft", slug="my-slug")
    assert draft["slug"] == "my-slug"
    assert (await change(ed, draft, slug="other", title="New"))["slug"] == "other"
    assert await ed.refused("PATCH", f"{NEWS}/{draft['id']}", {"slug": "a-title"}) == (409, "SLUG_TAKEN")
    published = await change(ed, draft, status="published")
    assert await ed.refused("PATCH", f"{NEWS}/{draft['id']}", {"slug": "again"}) == (409, "INVALID_STATE")
    assert (await change(ed, published, slug="other", title="T"))["slug"] == "other"


@pytest.mark.parametrize("status", ["draft", "scheduled", "published"])
async def test_a_change_of_nothing_changes_nothing(world: World, status: str) -> None:
    ed = await editor(world)
    moment = {"publishAt": ahead(world, 60_000)} if status == "scheduled" else {}
    made = await write(ed, status=status, body="text", tags=["a"], poll=POLL, **moment)
    world.advance(1_000)
    for nothing in (
        {},
        {"revision": made["revision"]},
        {"title": made["title"], "tags": ["A"]},
        {"status": status},
    ):
        assert await change(ed, made, **nothing) == made
    changed = await change(ed, made, body="texts")
    assert (changed["revision"], changed["updatedAt"] > made["updatedAt"]) == (made["revision"] + 1, True)


async def test_changing_what_is_published_announces_nothing_anew(world: World) -> None:
    ed = await editor(world)
    made = await write(ed)
    world.advance(1_000)
    changed = await change(ed, made, body="**new**", tags=None, category=None, coverUrl=None, summary=None)
    assert changed["publishedAt"] == made["publishedAt"] < changed["updatedAt"]
    assert changed["bodyHtml"] == "<p><strong>new</strong></p>\n"
    gone = await change(ed, made, status="archived")
    assert gone["publishedAt"] == made["publishedAt"]
    assert await titles(ed, NEWS) == await titles(ed, PUBLIC) == []
    back = await change(ed, made, status="published")
    assert (back["status"], back["publishedAt"]) == ("published", made["publishedAt"])
    assert await titles(ed, NEWS) == ["Hello"]


async def test_a_scope_keeps_a_hundred_articles(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOST_OF_SCOPE, "network", 3)
    ann = await world.player("Ann")
    scope = await network(ann)
    first, *_ = [await write(ann, f"{number}", scope=scope) for number in range(3)]
    body = {"scope": scope, "title": "t", "body": "b", "status": "published"}
    answer = await ann.ask("POST", NEWS, body)
    assert (answer.status_code, answer.json()["code"], answer.json()["meta"]) == (
        422,
        "QUOTA_EXCEEDED",
        {"max": 3},
    )
    await change(ann, first, status="archived")
    await write(ann, "new", scope=scope)
    assert await titles(ann, NEWS) == ["new", "2", "1"]
    assert await ann.refused("GET", f"{NEWS}/{first['id']}") == (404, "NOT_FOUND")


async def test_the_articles_of_an_owner_have_a_bound_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota, "OWNED_BYTES", 3 * ARTICLE_MIN_BYTES)
    ann, bob = await world.player("Ann"), await world.player("Bob")
    here, there = await network(ann), {"type": "server", "id": (await claimed(world, ann)).id}
    old, *others = [await write(ann, title, scope=here) for title in ("old", "older", "oldest")]
    await write(bob, "Bob's", scope=await network(bob, "Bob's"))
    await write(await editor(world), "everybody's")

    await change(ann, old, title="new", body="as short")
    for method, path, body in (
        ("POST", NEWS, {"scope": there, "title": "t", "body": "b"}),
        ("PATCH", f"{NEWS}/{old['id']}", {"body": "x" * ARTICLE_MIN_BYTES}),
    ):
        answer = await ann.ask(method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (422, "QUOTA_EXCEEDED")
        assert answer.json()["meta"] == {"max": 3 * ARTICLE_MIN_BYTES}

    await change(ann, others[0], status="archived")
    await write(ann, "there", scope=there)
    assert await ann.refused("GET", f"{NEWS}/{others[0]['id']}") == (404, "NOT_FOUND")
    assert await titles(ann, NEWS) == ["there", "everybody's", "Bob's", "oldest", "new"]


async def test_two_articles_that_cross_do_not_both_find_the_last_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quota, "OWNED_BYTES", ARTICLE_MIN_BYTES)
    ann = await world.player("Ann")
    found: list[int] = []

    async def write_in(writer: Player, scope: dict[str, str]) -> None:
        answer = await writer.ask("POST", NEWS, {"scope": scope, "title": "t", "body": "b"})
        found.append(answer.status_code)

    scopes = {await editor(world): await network(ann), ann: await network(ann, "Other")}
    async with trio.open_nursery() as nursery:
        for writer, scope in scopes.items():
            nursery.start_soon(write_in, writer, scope)
    assert sorted(found) == [201, 422]


@in_one_world(
    ("field", "value", "pointer", "code"),
    [
        ("title", " ", "/title", "REQUIRED"),
        ("title", "x" * 201, "/title", "TOO_LONG"),
        ("title", "a\nb", "/title", "BAD_TEXT"),
        ("summary", "x" * 501, "/summary", "TOO_LONG"),
        ("body", "x" * 32_769, "/body", "TOO_LONG"),
        ("body", "é" * 16_385, "/body", "TOO_LONG"),
        ("body", "[" * 1_001, "/body", "TOO_MANY"),
        ("body", "", "/body", "REQUIRED"),
        ("body", "a\u0000", "/body", "BAD_TEXT"),
        ("slug", "A", "/slug", "BAD_FORMAT"),
        ("slug", "x" * 65, "/slug", "BAD_FORMAT"),
        ("coverUrl", "http://example.org/a", "/coverUrl", "BAD_FORMAT"),
        ("coverUrl", "https://user@example.org/a", "/coverUrl", "BAD_FORMAT"),
        ("coverUrl", "https://example.org/" + "a" * 500, "/coverUrl", "TOO_LONG"),
        ("category", "x" * 33, "/category", "TOO_LONG"),
        ("tags", ["x"] * 11, "/tags", "TOO_MANY"),
        ("tags", ["a", ""], "/tags/1", "REQUIRED"),
        ("locale", "english language", "/locale", "BAD_FORMAT"),
        ("publishAt", "tomorrow", "/publishAt", "BAD_FORMAT"),
        ("publishAt", "2020-01-01T00:00:00Z", "/publishAt", "PAST"),
        ("publishAt", "2999-01-01T00:00:00Z", "/publishAt", "TOO_FAR"),
        ("poll", {**POLL, "options": []}, "/poll/options", "TOO_FEW"),
        ("poll", {**POLL, "expiresAtMs": 1}, "/poll/expiresAtMs", "PAST"),
        ("status", "scheduled", "/publishAt", "REQUIRED"),
    ],
)
async def test_a_bad_field_of_an_article_is_refused_by_its_pointer(
    world: World, field: str, value: object, pointer: str, code: str
) -> None:
    ed = await editor(world)
    answer = await ed.ask("POST", NEWS, {"scope": GLOBAL, "title": "t", "body": "b", field: value})
    assert answer.status_code == 422
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]
    assert await titles(ed, NEWS, status="draft") == []


async def test_what_the_table_of_states_does_not_have(world: World) -> None:
    ed = await editor(world)
    scheduled = await write(ed, status="scheduled", publishAt=ahead(world, 60_000))
    published, archived = await write(ed), await write(ed)
    await change(ed, archived, status="archived")
    for article, moves in (
        (scheduled, ("published", "archived")),
        (published, ("draft", "scheduled")),
        (archived, ("draft", "scheduled")),
    ):
        for status in moves:
            path = f"{NEWS}/{article['id']}"
            assert await ed.refused("PATCH", path, {"status": status}) == (409, "INVALID_STATE")


async def test_what_a_node_lets_one_write_is_in_the_audit_trail(world: World) -> None:
    ed, root = await editor(world), await world.super_admin()
    made = await write(ed)
    await change(ed, made, pinned=True)
    entries = (await root.get("/v1/admin/audit"))["items"]
    assert [(e["action"], e["actorId"], e["targetId"]) for e in entries if e["action"].startswith("news.")] == [
        ("news.changed", ed.id, made["id"]), ("news.created", ed.id, made["id"]),
    ]  # fmt: skip
    ann = await world.player("Ann")
    await write(ann, scope=await network(ann))
    assert len((await root.get("/v1/admin/audit"))["items"]) == len(entries)


async def test_a_repeated_request_answers_with_the_article_as_it_is_now(world: World) -> None:
    ed = await editor(world)
    body = {"scope": GLOBAL, "title": "t", "body": "b", "status": "published"}
    key = {"idempotency-key": "once"}
    made = (await ed.ask("POST", NEWS, body, headers=key)).json()
    changed = await change(ed, made, title="changed")
    again = await ed.ask("POST", NEWS, body, headers=key)
    assert (again.status_code, again.json()) == (201, changed)
    assert again.headers["idempotent-replayed"] == "true"
    assert await titles(ed, NEWS) == ["changed"]


async def test_ids_that_are_none(world: World) -> None:
    ed = await editor(world)
    for id in ("x", "\u202e", "0" * 36):
        body = {"scope": {"type": "network", "id": id}, "title": "t", "body": "b"}
        assert await ed.refused("POST", NEWS, body) == (422, "VALIDATION_FAILED")
    assert await ed.refused("POST", NEWS, {**body, "scope": {"type": "server"}}) == (422, "VALIDATION_FAILED")
    for path in (NEWS, PUBLIC, f"{PUBLIC}/rss"):
        for query in ("scopeId=%00", "scopeId=x", "category=%00", "locale=%00", "scopeType=%00"):
            response = await ed.ask("GET", f"{path}?{query}")
            assert response.status_code in {200, 400}, response.text


async def test_texts_of_those_who_may_write_are_rendered_off_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    render = markdown.render

    def noting(body: str, pointer: str) -> str:
        threads.append(get_ident())
        return render(body, pointer)

    monkeypatch.setattr(markdown, "render", noting)
    ed, ann = await editor(world), await world.player("Ann")
    body = {"scope": GLOBAL, "title": "t", "body": "b"}
    assert await ann.refused("POST", NEWS, body) == (403, "FORBIDDEN")
    assert await ann.refused("POST", NEWS, body | {"scope": await network(ed)}) == (404, "NOT_FOUND")
    assert threads == []
    await change(ed, await write(ed), title="no text, no rendering")
    assert len(threads) == 1
    assert get_ident() not in threads


@pytest.mark.one_node(because="it counts to the last token")
async def test_articles_have_a_rate_of_their_own(world: World):
    """A text of 32 KiB takes a quarter of a second to render, also where it is the one that is there already."""
    ann = await world.player("Ann")
    scope = await network(ann)
    world.clock.stop()
    article = await write(ann, scope=scope)
    for _ in range(ARTICLE.quota - 1):
        await change(ann, article, body="text")
    refused = await ann.ask("PATCH", f"{NEWS}/{article['id']}", {"body": "text"})
    assert (refused.status_code, refused.headers["ratelimit-policy"]) == (429, '"article";q=120;w=240')
    body = {"scope": scope, "title": "Other", "body": "text"}
    assert await ann.refused("POST", NEWS, body) == (429, "RATE_LIMITED")
    world.clock.advance(2_000)
    await write(ann, "Other", scope=scope)
