"""Lists that are searched and go on page by page: what is shown is what the address asks for."""

import pytest
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, holding, needs_browser, play
from tests.support.world import Player, World

pytestmark = [needs_browser, pytest.mark.slow]
DESK = Look("light", 1280)

PAGE = 50
"""How many users the console asks for at once."""

FURTHER = "**/v1/admin/users?*cursor=*"
BUSY = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}


SHOWN_NEXT = """async () => {
  for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".people li bdi")].map((one) => one.textContent);
}"""
"""The names in the list after whatever has arrived has been drawn."""


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
