"""The profile: language, privacy, what one shares, and what one may do."""

import json

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_the_language_is_chosen_and_kept(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/profile")
        page.get_by_label("Language").select_option("Deutsch")
        expect(page.get_by_role("heading", name="Profil", level=1)).to_be_visible()
        assert page.locator("html").get_attribute("lang") == "de"
        scene.stop_at(page, "profile-german")
        page.goto("/app/servers")
        expect(page.get_by_text("Noch keine Spielserver")).to_be_visible()
        kept = page.evaluate("Object.entries(localStorage)")
        assert sorted(kept) == [["partyline-language", "de"], ["partyline-theme", "light dark"]]

    await play(world, look, story)


async def test_what_a_language_lacks_is_shown_in_english(world: World) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.stranger()
        page.add_init_script("localStorage.setItem('partyline-language', 'de')")
        page.route("**/text/de.json", lambda route: route.fulfill(json={"signIn.submit": "Anmelden"}))
        page.goto("/app")
        page.get_by_label("Access token").fill(ada.token or "")
        page.get_by_role("button", name="Anmelden").click()
        expect(page.get_by_role("heading", name="Hello, Ada")).to_be_visible()

    await play(world, Look("light", 1280), story)


async def test_privacy_shares_and_rights(world: World) -> None:
    ada = await world.player("Ada")
    manifest = json.dumps({"mods": ["border"]}).encode()

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/profile")
        page.get_by_label("Who may add you to groups").select_option("Friends")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
        assert scene.let(ada.get, "/v1/profile/settings")["privacy"]["groupInvites"] == "FRIENDS"
        page.get_by_text("Share a profile").first.click()
        page.get_by_label("Name").fill("My pack")
        page.get_by_label("Manifest").set_input_files(
            {"name": "pack.json", "mimeType": "application/json", "buffer": manifest}
        )
        page.get_by_role("button", name="Share a profile").click()
        expect(page.get_by_text("My pack")).to_be_visible()
        page.get_by_text("rights", exact=False).last.click()
        expect(page.get_by_text("Write in chats")).to_be_visible()
        scene.stop_at(page, "profile")
        page.get_by_role("button", name="End share").click()
        page.get_by_role("dialog").get_by_role("button", name="End share").click()
        expect(page.get_by_text("You share no launcher profiles.")).to_be_visible()

    await play(world, Look("dark", 390), story)
