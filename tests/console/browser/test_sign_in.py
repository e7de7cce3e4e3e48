"""Signing in and out, in one browser and in several."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_a_session_outlives_the_page_and_no_script_sees_a_credential(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        stranger = scene.stranger()
        stranger.goto("/app")
        stranger.get_by_label("Access token").wait_for()
        scene.stop_at(stranger, "sign-in")
        page = scene.enter(ada)
        page.reload()
        expect(page.get_by_role("heading", name="Hello, Ada")).to_be_visible()
        scene.stop_at(page, "home")
        assert page.evaluate("document.cookie") == ""
        assert page.evaluate("[Object.keys(localStorage), Object.keys(sessionStorage)]") == [
            ["partyline-theme"],
            [],
        ]

    await play(world, look, story)


async def test_a_link_signs_in_once_and_by_a_click(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/profile")
        page.get_by_role("button", name="Sign in on another device").click()
        address = page.get_by_label("Shown once").input_value()
        scene.stop_at(page, "link")
        path = re.sub(r"^https?://[^/]+", "", address)
        other = scene.stranger()
        other.goto(path)
        other.get_by_role("button", name="Continue as Ada").click()
        expect(other.get_by_role("heading", name="Hello, Ada")).to_be_visible()
        assert "code" not in other.url
        scene.expected.add("404 (Not Found)")
        late = scene.stranger()
        late.goto(path)
        expect(late.get_by_role("alert").filter(has_text=re.compile("."))).to_be_visible()

    await play(world, look, story)


async def test_a_session_outlives_the_browser(world: World, tmp_path: Path) -> None:
    """Check 2: the browser is closed and started again."""
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        for number in range(2):
            page = scene.started_again(tmp_path)
            page.goto("/app")
            if number == 0:
                page.get_by_label("Access token").fill(ada.token or "")
                page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("heading", name="Hello, Ada")).to_be_visible()
            assert page.evaluate("document.cookie") == ""
            page.context.close()

    await play(world, Look("light", 1280), story)


async def test_an_operator_lets_somebody_in_by_a_link(world: World) -> None:
    """Check 4: for a second person, in a private window, once."""
    root, ben = await world.super_admin(), await world.player("Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(root, f"/app/operate/users/{ben.id}")
        page.get_by_role("button", name="Make a sign-in link").click()
        path = re.sub(r"^https?://[^/]+", "", page.get_by_label("Shown once").input_value())
        other = scene.stranger()
        other.goto(path)
        other.get_by_role("button", name="Continue as Ben").click()
        expect(other.get_by_role("heading", name="Hello, Ben")).to_be_visible()
        scene.expected.add("404 (Not Found)")
        late = scene.stranger()
        late.goto(path)
        expect(late.get_by_role("alert").filter(has_text=re.compile("."))).to_be_visible()

    await play(world, Look("light", 1280), story)


async def test_signing_out_ends_all_tabs_and_the_token(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.enter(ada)
        tokens: list[str] = []
        page.on(
            "request",
            lambda request: (
                tokens.append(request.headers.get("authorization", "")) if "/v1/" in request.url else None
            ),
        )
        second = scene.page_in(page.context)
        second.goto("/app/friends")
        expect(second.get_by_role("heading", name="Friends", exact=True)).to_be_visible()
        page.goto("/app/profile")
        expect(page.get_by_text("This browser")).to_be_visible()
        if look.width < 800:
            page.get_by_role("button", name="Menu").click()
        page.get_by_role("button", name="Sign out").click()
        for one in (page, second):
            expect(one.get_by_role("heading", name="Sign in to Partyline")).to_be_visible()
        token = next(token for token in reversed(tokens) if token.startswith("Bearer "))
        answer = scene.let(world.http.get, "/v1/auth/verify", headers={"authorization": token})
        assert answer.status_code == 401

    await play(world, look, story)


async def test_another_session_can_be_ended(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        other = scene.enter(ada, "/app/chat")
        page = scene.enter(ada, "/app/profile")
        page.get_by_role("button", name="End session").click()
        page.get_by_role("dialog").get_by_role("button", name="End session").click()
        expect(other.get_by_text("Your session has ended.")).to_be_visible()
        scene.stop_at(other, "ended")
        expect(page.get_by_role("button", name="End session")).to_have_count(0)

    await play(world, look, story)
