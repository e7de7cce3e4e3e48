"""The frame: for whom pages are, without a mouse, without a session, and with nothing but our modules."""

import re

import pytest
from playwright.sync_api import expect

from tests.connect.play import claimed
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_without_a_mouse(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)

    def story(scene: Scene) -> None:
        page = scene.stranger()
        page.goto("/app")
        page.get_by_label("Access token").wait_for()
        page.keyboard.press("Tab")
        page.keyboard.insert_text(ada.token or "")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Hello, Ada").wait_for()
        page.reload()
        page.get_by_role("heading", name="Hello, Ada").wait_for()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # skips to the content
        assert page.evaluate("document.activeElement.id") == "main"
        page.goto(f"/app/chat/{room.id}")
        page.get_by_label("Message Ben").focus()
        page.keyboard.type("typed")
        page.keyboard.press("Enter")
        expect(page.get_by_role("log").get_by_text("typed")).to_be_visible()
        page.goto("/app/friends")
        page.get_by_role("heading", name="Friends", exact=True).wait_for()
        # On a change of page its title gets the focus, so that it is read out.
        page.get_by_role("link", name="Profile").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Profile", level=1)).to_be_focused()

    await play(world, Look("light", 1280), story)


async def test_what_one_may_not_see_is_not_offered_and_says_why(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected.add("403 (Forbidden)")
        page = scene.enter(ada)
        expect(page.get_by_role("link", name="Live actors")).to_have_count(0)
        page.goto("/app/operate/actors")
        expect(page.get_by_role("alert")).to_contain_text("You may not do this.")
        page.goto("/app/nowhere")
        expect(page.get_by_role("heading", name="No such page")).to_be_visible()
        scene.stop_at(page, "no-page")

    await play(world, look, story)


async def test_the_landing_page_needs_neither_session_nor_scripts(world: World, look: Look) -> None:
    """Check 30: what this is, the public servers, and the ways in."""
    ada = await world.player("Ada")
    server = await claimed(world, ada, "Islands")
    await ada.do(
        "PUT",
        f"/v1/connect/publications/server/{server.id}",
        {"displayName": "Survival Islands", "address": "play.example.org"},
    )

    def story(scene: Scene) -> None:
        page = scene.stranger(java_script_enabled=False)
        page.goto("/")
        expect(page.get_by_role("heading", name="Partyline")).to_be_visible()
        expect(page.get_by_text("Survival Islands")).to_be_visible()
        expect(page.get_by_role("link", name="Interface for programs")).to_have_attribute("href", "/docs")
        page.get_by_role("link", name=re.compile("Sign in")).click()
        assert page.url == f"{world.url}/app"
        page.close()  # a browser complains some seconds later about what only scripts would fetch
        with_scripts = scene.stranger()
        with_scripts.goto("/")
        scene.stop_at(with_scripts, "landing")
        with_scripts.get_by_role("link", name=re.compile("Sign in")).click()
        with_scripts.get_by_label("Access token").wait_for()

    await play(world, look, story)
