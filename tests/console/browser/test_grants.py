"""Granting to one what everybody has takes it from all others, so it is asked first."""

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_what_everybody_has_is_granted_to_one_by_typing_it(world: World, look: Look) -> None:
    root = await world.super_admin()
    ben = await world.player("Ben")
    zoe = await world.player("Zoe")

    def story(scene: Scene) -> None:
        page = scene.enter(root, f"/app/operate/users/{ben.id}")
        page.get_by_text("Grant a right").first.click()
        page.get_by_label("Right", exact=True).fill("social:chat.write")
        page.get_by_role("button", name="Grant a right").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("Everybody else loses it")).to_be_visible()
        expect(dialog.get_by_role("button", name="Give")).to_be_disabled()
        page.keyboard.press("Escape")
        expect(page.get_by_text("Nothing beyond what everybody has.")).to_be_visible()
        page.get_by_label("What", exact=True).select_option("take")  # from Ben alone: nobody else notices
        page.get_by_role("button", name="Grant a right").click()
        expect(page.get_by_text("Taken away", exact=True)).to_be_visible()
        page.get_by_label("Right", exact=True).fill("social:chat.write")
        page.get_by_label("What", exact=True).select_option("give")
        page.get_by_role("button", name="Grant a right").click()
        dialog.get_by_role("textbox").fill("social:chat.write")
        dialog.get_by_role("button", name="Give").click()
        expect(page.get_by_text("Given", exact=True)).to_be_visible()
        page.get_by_label("Right", exact=True).fill("social:chat.write")
        # Nobody has it by itself any more, so nothing is asked.
        page.get_by_role("button", name="Grant a right").click()
        expect(page.get_by_label("Right", exact=True)).to_have_value("")
        expect(dialog).to_have_count(0)

    await play(world, look, story)
    assert "social:chat.write" in (await ben.get("/v1/auth/verify"))["permissions"]
    assert "social:chat.write" not in (await zoe.get("/v1/auth/verify"))["permissions"]
