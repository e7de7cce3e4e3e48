"""What hands do: double clicks, fields that are left half filled, menus on the narrowest phone."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.furnished import LONG, SCHEMA, befriend, claimed_server
from tests.console.stage import Look, Scene, needs_browser, play
from tests.console.sweep import SCRIPT, found_by
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)
PHONE = Look("dark", 360)


def press(page: Page, target: Locator) -> None:
    """Click in the middle, once the target is there."""
    box = target.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)


def press_again(page: Page) -> None:
    """Make a double click of it, slowly: what the first click has done is done and shown by now."""
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)


async def test_a_double_click_is_for_one_row_alone(world: World) -> None:
    ada, *others = await world.players("Ada", "Ben", "Cleo")
    for other in others:
        await other.do("POST", "/v1/social/friends/requests", {"targetId": ada.id})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/friends")
        accept = page.get_by_role("button", name="Accept")
        expect(accept).to_have_count(2)
        press(page, accept.first)
        expect(accept).to_have_count(1)
        # The other request is where the first one was, as in a list that nothing stands above of.
        box = accept.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        press_again(page)
        page.get_by_role("button", name="Blocked people").click()
        expect(page.get_by_text("You have blocked nobody.")).to_be_visible()
        assert len(scene.let(ada.get, "/v1/social/friends")["friends"]) == 1
        accept.click()
        expect(page.get_by_text("2 friends")).to_be_visible()

    await play(world, DESK, story)


async def test_a_double_click_sends_a_form_once(world: World) -> None:
    ada = await world.player("Ada")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server_id}/console")
        lines = page.get_by_role("region", name="On this server").get_by_role("listitem")
        page.get_by_label("Action").fill("restart")
        send = page.get_by_role("button", name="Send", exact=True)
        press(page, send)
        expect(lines).to_have_count(1)
        expect(send).to_be_enabled()
        press_again(page)
        cancel = page.get_by_role("button", name="Cancel: restart")
        cancel.click()
        expect(cancel).to_have_count(0)
        assert len(scene.let(ada.get, f"/v1/connect/servers/{server_id}/commands")["items"]) == 1
        again = page.get_by_role("button", name="Repeat: restart")
        press(page, again)
        expect(lines).to_have_count(2)
        expect(again).to_be_enabled()
        press_again(page)
        cancel.click()
        expect(cancel).to_have_count(0)
        assert len(scene.let(ada.get, f"/v1/connect/servers/{server_id}/commands")["items"]) == 2

    await play(world, DESK, story)


async def test_a_moment_that_is_half_filled_is_not_sent_as_none(world: World) -> None:
    """Without it the right would be given for ever, and without its amount."""
    root = await world.super_admin()
    ben = await world.player("Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(root, f"/app/operate/users/{ben.id}")
        page.locator("summary", has_text="Grant a right").click()
        page.get_by_label("Right", exact=True).fill("social:friends.max")
        page.get_by_label("Quantity").fill("500")
        until = page.get_by_label("Ends")
        until.focus()
        page.keyboard.type("12312027")  # and no time of day
        give = page.get_by_role("button", name="Grant a right")
        give.click()
        expect(until).to_be_focused()
        until.fill("2027-12-31T12:00")
        amount = page.get_by_label("Quantity")
        amount.fill("")
        amount.press_sequentially("5e")
        give.click()
        expect(amount).to_be_focused()
        amount.fill("50")
        give.click()
        expect(page.get_by_role("button", name="Remove: social:friends.max")).to_be_visible()
        [grant] = scene.let(root.get, f"/v1/admin/users/{ben.id}/permissions")["items"]
        assert grant["value"] == 50
        assert grant["expiresAt"] is not None

    await play(world, DESK, story)


async def test_a_number_that_is_half_typed_is_not_saved_as_none(world: World) -> None:
    ada = await world.player("Ada")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]
    path = f"/v1/connect/servers/{server_id}/settings"
    await ada.do("PUT", path, {"data": {"motd": "Welcome", "slots": 40}, "schema": SCHEMA})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server_id}/settings")
        slots = page.get_by_label("Slots")
        slots.press_sequentially("e")
        save = page.get_by_role("button", name="Save", exact=True)
        save.click()
        expect(slots).to_be_focused()
        page.keyboard.press("Control+s")
        slots.fill("41")
        save.click()
        expect(page.get_by_text("Saved.", exact=True)).to_have_count(1)
        stored = scene.let(ada.get, path)
        assert (stored["version"], stored["data"]["slots"]) == (2, 41)

    await play(world, DESK, story)


async def test_the_menu_of_a_row_fits_a_phone(world: World) -> None:
    ada, ben = await world.players("Ada", LONG[:64])
    await befriend(ada, ben)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/friends")
        page.evaluate(SCRIPT.read_text())
        page.locator(".more > summary").click()
        expect(page.get_by_role("button", name="Remove friend")).to_be_visible()
        scene.faults += found_by(page, "cutOff")
        page.set_viewport_size({"width": 320, "height": 800})
        scene.faults += found_by(page, "cutOff")

    await play(world, PHONE, story)
