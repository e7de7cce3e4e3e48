"""Queues for the keyboard while more comes into them: a key judges what its reader has seen."""

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.console.stage import Look, Scene, holding, needs_browser, play
from tests.support.world import Player, World

pytestmark = [needs_browser, pytest.mark.slow]
DESK = Look("light", 1280)


async def report(by: Player, target: Player, reason: str) -> str:
    made = await by.do("POST", "/v1/social/friends/reports", {"targetId": target.id, "reason": reason})
    return str(made["id"])


def marked(page: Page, reason: str) -> None:
    expect(page.locator(".queue > li[aria-current=true]")).to_contain_text(reason)


async def test_what_comes_does_not_slide_under_the_mark(world: World) -> None:
    ada, ben, cyd = await world.players("Ada", "Ben", "Cyd")
    mona = await world.ranked("Mona", "moderator")
    await report(ada, ben, "harmless")

    def story(scene: Scene) -> None:
        page = scene.enter(mona, "/app/operate/reports")
        marked(page, "harmless")
        scene.let(report, ada, cyd, "grave threats")
        expect(page.get_by_text("grave threats")).to_be_visible()
        marked(page, "harmless")
        page.keyboard.press("1")
        expect(page.get_by_text("harmless")).to_have_count(0)
        expect(page.get_by_text("grave threats")).to_be_visible()

    await play(world, DESK, story)


async def test_what_comes_just_when_another_is_judged_is_shown(world: World) -> None:
    """The number of those that wait is the same then, so that no frame tells of it."""
    ada, ben, cyd, dan = await world.players("Ada", "Ben", "Cyd", "Dan")
    mona = await world.ranked("Mona", "moderator")
    await report(ada, ben, "second")
    await report(ada, cyd, "first")
    silent: list[bool] = []

    def relay(near: WebSocketRoute) -> None:
        far = near.connect_to_server()
        far.on_message(lambda said: None if silent and "moderation" in str(said) else near.send(said))

    def story(scene: Scene) -> None:
        page = scene.arrive(mona.token or "")
        page.route_web_socket("**/v1/social/live*", relay)
        page.goto("/app/operate/reports")
        expect(page.get_by_role("link", name="Reports 2 waiting")).to_be_visible()
        marked(page, "first")
        silent.append(True)
        page.keyboard.press("1")
        marked(page, "second")
        scene.let(report, ada, dan, "third")
        expect(page.get_by_text("third")).to_be_visible()
        marked(page, "second")

    await play(world, DESK, story)


async def test_what_comes_just_when_somebody_else_judges_is_shown(world: World) -> None:
    """The number between is never told, as where both happen between two frames."""
    ada, ben, cyd, dan = await world.players("Ada", "Ben", "Cyd", "Dan")
    mona, moritz = await world.ranked("Mona", "moderator"), await world.ranked("Moritz", "moderator")
    first = await report(ada, ben, "first")
    await report(ada, cyd, "second")

    def relay(near: WebSocketRoute) -> None:
        far = near.connect_to_server()
        far.on_message(lambda said: None if '"reports":1' in str(said) else near.send(said))

    def story(scene: Scene) -> None:
        page = scene.arrive(mona.token or "")
        page.route_web_socket("**/v1/social/live*", relay)
        page.goto("/app/operate/reports")
        expect(page.get_by_role("link", name="Reports 2 waiting")).to_be_visible()
        marked(page, "second")
        scene.let(moritz.do, "PATCH", f"/v1/admin/reports/{first}", {"status": "dismissed"})
        scene.let(report, ada, dan, "third")
        expect(page.get_by_text("third")).to_be_visible()
        expect(page.get_by_text("first")).to_have_count(0)
        marked(page, "second")

    await play(world, DESK, story)


async def test_what_comes_after_a_verdict_does_not_slide_under_the_mark(world: World) -> None:
    ada, ben, cyd, dan = await world.players("Ada", "Ben", "Cyd", "Dan")
    mona = await world.ranked("Mona", "moderator")
    for target, reason in ((dan, "third"), (cyd, "second"), (ben, "first")):
        await report(ada, target, reason)

    def story(scene: Scene) -> None:
        page = scene.enter(mona, "/app/operate/reports")
        marked(page, "first")
        page.keyboard.press("1")
        marked(page, "second")
        scene.let(report, ben, cyd, "fourth")
        expect(page.get_by_text("fourth")).to_be_visible()
        marked(page, "second")
        page.keyboard.press("1")
        marked(page, "third")  # the next one of those that were there, and not what has come before it
        # Letters go on where one is chosen by the mouse, and what is chosen while others are judged stays so.
        page.get_by_label("Choose Dan").check()
        page.keyboard.press("k")
        marked(page, "fourth")
        held = holding(page, "**/v1/admin/reports/*")
        with page.expect_request("**/v1/admin/reports/*"):
            page.get_by_role("region", name="What is chosen").get_by_role("button", name="Dismiss").click()
        page.get_by_label("Choose Cyd").check()
        held.pop().continue_()
        expect(page.get_by_text("third")).to_have_count(0)
        expect(page.get_by_text("Dismiss: done for 1.")).to_be_visible()
        expect(page.get_by_label("Choose Cyd")).to_be_checked()

    await play(world, DESK, story)
