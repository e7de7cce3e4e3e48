"""Lists that are searched and go on page by page: what is shown is what the address asks for."""

from itertools import combinations

import pytest
from playwright.sync_api import Page, expect

from persistence.connection import Connection
from tests.console.furnished import claimed_server
from tests.console.stage import Look, Scene, holding, needs_browser, play
from tests.support.world import Player, World

pytestmark = [needs_browser, pytest.mark.slow]
DESK = Look("light", 1280)

PAGE = 50
"""How many users the console asks for at once."""

OFFERED = 201
"""Extensions: one more than a page has at most."""

FURTHER = "**/v1/admin/users?*cursor=*"
BUSY = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}


SHOWN_NEXT = """async () => {
  for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".people li bdi")].map((one) => one.textContent);
}"""
"""The names in the list after whatever has arrived has been drawn."""


COPIED = """
INSERT INTO connect_servers SELECT (jsonb_populate_record(server, jsonb_build_object(
    'server_id', gen_random_uuid(), 'id', lpad(n::text, 24, '0'), 'name', 'Server ' || lpad(n::text, 3, '0')
))).* FROM connect_servers server, generate_series(1, 120) n
"""
"""Makes the one server 121: each that is registered counts against a rate."""


async def copied(conn: Connection) -> None:
    await conn.execute(COPIED)


async def many_of_one_name(world: World) -> Player:
    root = await world.super_admin()
    for n in range(PAGE + 2):
        await world.player(f"Zed{n:02}")
    return root


def names(page: Page, count: int) -> list[str]:
    expect(page.locator(".people li")).to_have_count(count)
    return page.locator(".people li bdi").all_inner_texts()


async def test_a_page_of_another_search_is_not_added(world: World) -> None:
    root = await many_of_one_name(world)
    await world.player("Quinn")

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/users?query=Zed")
        names(page, PAGE)
        held = holding(page, FURTHER)
        older = page.get_by_role("button", name="Show older ones")
        with page.expect_request(FURTHER) as asked:
            older.click()
        field = page.get_by_label("Name or id")
        field.fill("Quinn")
        assert names(page, 1) == ["Quinn"]
        held[0].continue_()
        asked.value.response()
        page.unroute(FURTHER)
        assert page.evaluate(SHOWN_NEXT) == ["Quinn"]
        field.fill("Zed")
        names(page, PAGE)
        older.click()
        names(page, PAGE + 2)

    await play(world, DESK, story)


async def groups(owner: Player, member: Player, others: list[Player], numbers: range) -> None:
    """Groups of somebody, each with other participants, as the same ones would have the same group."""
    for n, pair in zip(numbers, combinations(others, 2), strict=False):
        body = {
            "kind": "group",
            "title": f"Group {n:03}",
            "participantIds": [member.id, *(one.id for one in pair)],
        }
        made = await owner.do("POST", "/v1/social/chat/conversations", body, status=201)
        if n == 0:
            said = {"content": "the oldest"}
            await owner.do("POST", f"/v1/social/chat/conversations/{made['id']}/messages", said)


async def test_conversations_beyond_the_inbox_are_reached(world: World) -> None:
    mona, *owners = await world.players("Mona", "Ada", "Ben", "Cyd")
    others = list(await world.players(*(f"Other {n}" for n in range(13))))
    for at, owner in enumerate(owners):
        await groups(owner, mona, others, range(at * 68, at * 68 + 68))

    def story(scene: Scene) -> None:
        page = scene.enter(mona, "/app/chat")
        shown, oldest = page.locator(".inbox li"), page.locator(".inbox li", has_text="Group 000")
        expect(shown).to_have_count(200)
        page.get_by_role("button", name="Show older ones").click()
        expect(shown).to_have_count(204)
        assert shown.locator(".title").all_inner_texts() == [f"Group {n:03}" for n in reversed(range(204))]
        expect(page.get_by_role("button", name="Show older ones")).to_have_count(0)
        expect(oldest.get_by_text("1 unread")).to_be_visible()
        oldest.get_by_role("link").click()
        expect(page.get_by_role("log").get_by_text("the oldest")).to_be_visible()
        page.get_by_role("link", name="Group 001").click()
        expect(oldest.get_by_text("1 unread")).to_have_count(0)
        # One that comes to life is the inbox's, and the one that makes room for it is still there, once.
        page.get_by_role("textbox", name="Message Group 001").fill("alive again")
        page.keyboard.press("Enter")
        expect(shown.first).to_contain_text("alive again")
        expect(shown).to_have_count(204)
        expect(page.locator(".inbox li", has_text="Group 004")).to_have_count(1)

    await play(world, DESK, story)


async def test_everybody_of_a_large_group_is_reached(world: World) -> None:
    """A conversation has its first hundred with it; of more it is not known how many are online."""
    ada, *others = await world.players("Ada", *(f"Member {n:03}" for n in range(110)))
    group = {"kind": "group", "title": "All", "participantIds": [other.id for other in others]}
    made = await ada.do("POST", "/v1/social/chat/conversations", group)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{made['id']}")
        page.get_by_role("button", name="111 members", exact=True).click()
        people = page.locator(".members .people li")
        expect(people).to_have_count(100)
        page.get_by_role("button", name="Show more").click()
        expect(people).to_have_count(111)
        assert set(people.locator("bdi").all_inner_texts()) == {"Ada", *(other.name for other in others)}
        field = page.get_by_role("textbox", name="Message All")
        field.fill("@Member 109 and @Member 000")
        page.keyboard.press("Enter")
        expect(page.get_by_role("log").locator(".mention")).to_have_text(["@Member 109", "@Member 000"])
        expect(field).to_have_value("")

    await play(world, DESK, story)


async def test_one_of_many_servers_is_found(world: World) -> None:
    ada = await world.player("Ada")
    await claimed_server(world, ada, "Server 000")
    await world.service.database.transact(copied)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/servers")
        shown = page.locator(".cards li")
        expect(shown).to_have_count(100)
        page.get_by_role("button", name="Show 21 more").click()
        expect(shown).to_have_count(121)
        page.get_by_role("searchbox", name="Name, type or network").fill("server 07")
        expect(shown).to_have_count(10)
        page.reload()
        expect(shown).to_have_count(10)
        expect(shown.first).to_contain_text("Server 07")
        page.get_by_role("searchbox").fill("nobody's")
        expect(page.get_by_text("No server fits.")).to_be_visible()

    await play(world, DESK, story)


async def test_all_extensions_can_be_chosen_for_a_server(world: World) -> None:
    ada, *authors = await world.players("Ada", *(f"Author {n}" for n in range(5)))
    server = await claimed_server(world, ada, "Survival")
    for n in range(OFFERED):
        body = {"extensionId": f"extension-{n:03}", "name": f"Extension {n:03}"}
        await authors[n // 50].do("POST", "/v1/connect/extensions", body, status=201)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server['id']}/extensions")
        expect(page.locator("select option", has_text="extension-")).to_have_count(OFFERED)

    await play(world, DESK, story)


async def test_a_further_page_that_fails_is_told_and_tried_again(world: World) -> None:
    root = await many_of_one_name(world)

    def story(scene: Scene) -> None:
        scene.expected.add("503 (Service Unavailable)")
        page = scene.enter(root, "/app/operate/users?query=Zed")
        names(page, PAGE)
        page.route(FURTHER, lambda route: route.fulfill(status=503, json=BUSY))
        page.get_by_role("button", name="Show older ones").click()
        fault = page.get_by_role("alert").filter(has_text="too much at once")
        expect(fault).to_be_visible()
        assert len(names(page, PAGE)) == PAGE
        page.unroute(FURTHER)
        fault.get_by_role("button", name="Try again").click()
        names(page, PAGE + 2)
        expect(fault).to_have_count(0)

    await play(world, DESK, story)


async def test_the_field_says_what_is_searched_by(world: World) -> None:
    root = await world.super_admin()
    await world.players("Ada", "Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/users?query=Ada")
        field = page.get_by_label("Name or id")
        shown = page.locator(".people li bdi")
        expect(shown).to_have_text(["Ada"])
        page.locator("nav a[href='/app/operate/users']").click()
        names(page, 3)
        expect(field).to_have_value("")
        field.fill("Ben")
        expect(shown).to_have_text(["Ben"])
        page.go_back()
        expect(shown).to_have_text(["Ada"])
        expect(field).to_have_value("Ada")

    await play(world, DESK, story)
