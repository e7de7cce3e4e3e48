"""What all pages share: finding anything, keys, dialogs that give the focus back, the save bar, undoing."""

import re

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.console.furnished import Furnished, furnish
from tests.console.stage import Look, Scene, at_the_keyboard, holding, needs_browser, play
from tests.console.sweep import SCRIPT, walk
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)


@pytest.fixture
async def furnished(world: World) -> Furnished:
    return await furnish(world)


def find(page: Page, text: str, name: str | re.Pattern[str]) -> None:
    """Go somewhere by Ctrl+K."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Name or id of anything").fill(text)
    option = page.get_by_role("option", name=name)
    expect(option).to_be_visible()
    while option.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


async def test_everything_is_found_by_name_or_id(world: World, look: Look, furnished: Furnished) -> None:
    users, user = furnished.parts["/app/operate/users/:id?"]
    [server] = furnished.parts["/app/servers/:id/:tab?"]
    conversation = furnished.parts["/app/chat/:id?"][1]

    def story(scene: Scene) -> None:
        page = scene.enter(furnished.root)
        page.get_by_role("button", name="Find").click()
        expect(page.get_by_role("option", name="Saved servers page")).to_be_visible()
        scene.stop_at(page, "palette")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Find")).to_be_focused()
        for text, name, path in (
            ("audi", "Audit page", "/app/operate/audit"),
            ("survival", "Survival server", server),
            ("ada", "Ada conversation", conversation),
            ("über", re.compile("user$"), user),
            (user.removeprefix(f"{users}/"), re.compile("user$"), user),
            (server.removeprefix("/app/servers/"), "Survival server", server),
            ("claim a", "Claim a game server action", "/app/servers/claim"),
        ):
            find(page, text, name)
            expect(page).to_have_url(re.compile(f"{path}$"))
        request = scene.let(furnished.root.get, "/v1/admin/audit")["items"][0]["requestId"]
        find(page, request, f"{request} request")
        expect(page.get_by_role("button", name="Request ×")).to_be_visible()
        expect(page.get_by_text("permission.granted")).to_be_visible()
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Name or id of anything").fill("nobody is called so")
        expect(page.get_by_text("0 found")).to_be_visible()
        held = holding(page, "**/v1/admin/users?*")
        with page.expect_request("**/v1/admin/users?*"):
            page.get_by_role("combobox", name="Name or id of anything").fill(user.removeprefix(f"{users}/"))
        expect(page.get_by_text("0 found")).to_be_visible()
        page.keyboard.press("ArrowDown")
        held.pop().continue_()
        expect(page.get_by_role("option", name=re.compile("user$"))).to_have_attribute(
            "aria-selected", "true"
        )

    await play(world, look, story)


async def test_single_letters_work_in_queues_and_can_be_switched_off(
    world: World, furnished: Furnished
) -> None:
    def story(scene: Scene) -> None:
        page = scene.enter(furnished.root, "/app/operate/capes")
        waiting = page.get_by_role("list", name="Capes that wait").get_by_role("listitem")
        expect(waiting).to_have_count(2)
        page.keyboard.press("j")
        expect(waiting.nth(1)).to_have_attribute("aria-current", "true")
        page.keyboard.press("k")
        page.keyboard.press("2")
        expect(waiting).to_have_count(1)
        page.keyboard.press("u")
        expect(waiting).to_have_count(2)
        page.get_by_label("Reason, for the owner to read").press_sequentially("j1?")
        expect(waiting).to_have_count(2)
        page.get_by_role("heading", level=1).focus()
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        expect(keys.get_by_text("Approve", exact=True)).to_be_visible()
        scene.stop_at(page, "keys")
        keys.get_by_label("Single letters do something").uncheck()
        page.keyboard.press("Escape")
        expect(page.get_by_text("Single letters are switched off.")).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("?")
        page.reload()
        expect(page.get_by_text("Single letters are switched off.")).to_be_visible()
        expect(waiting).to_have_count(2)
        expect(page.get_by_role("dialog")).to_have_count(0)

    await play(world, DESK, story)


async def test_what_is_not_saved_is_asked_about_and_shown_beside_theirs(
    world: World, furnished: Furnished
) -> None:
    [server] = furnished.parts["/app/servers/:id/:tab?"]
    path = f"/v1/connect/servers/{server.removeprefix('/app/servers/')}/settings"

    def story(scene: Scene) -> None:
        scene.expected.add("409 (Conflict)")
        asked: list[str] = []
        page = scene.enter(furnished.root, f"{server}/overview")
        page.get_by_role("link", name="Settings").click()

        def stay(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", stay)
        page.get_by_label("Slots").fill("60")
        page.get_by_role("link", name="Friends").click()
        page.go_back()
        expect(page.get_by_label("Slots")).to_have_value("60")
        expect(page).to_have_url(re.compile("/settings$"))
        assert asked == ["Leave without saving?"] * 2
        page.evaluate(SCRIPT.read_text())
        scene.faults += walk(page)  # the bar covers nothing that has the focus
        stored = scene.let(furnished.root.get, path)
        theirs = {"data": {**stored["data"], "motd": "Theirs", "slots": 70}, "schema": stored["schema"]}
        scene.let(furnished.root.do, "PUT", path, theirs)
        expect(page.get_by_text("Somebody else has saved: 70.")).to_be_visible()
        page.keyboard.press("Control+s")
        expect(page.get_by_role("alert")).to_contain_text("Somebody has changed this meanwhile.")
        scene.stop_at(page, "conflict")
        page.get_by_role("button", name="Keep mine, take the rest").click()
        expect(page.get_by_label("Greeting")).to_have_value("Theirs")
        page.get_by_label("Slots").press("Control+s")
        expect(page.get_by_role("status").get_by_text("Saved.")).to_be_visible()
        saved = scene.let(furnished.root.get, path)["data"]
        assert (saved["motd"], saved["slots"]) == ("Theirs", 60)
        page.get_by_label("Slots").fill("61")
        page.get_by_role("button", name="Discard").press("Enter")
        expect(page.get_by_label("Slots")).to_have_value("60")
        expect(page.get_by_role("region", name="Settings", exact=True)).to_be_focused()

    await play(world, DESK, story)


async def test_a_dialog_gives_the_focus_back_and_an_undo_waits_for_it(
    world: World, furnished: Furnished
) -> None:
    user = furnished.parts["/app/operate/users/:id?"][1]

    def story(scene: Scene) -> None:
        page = scene.enter(furnished.root, user)
        erase = page.get_by_role("button", name="Erase user")
        erase.press("Enter")
        expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
        for _ in range(4):  # it keeps the focus
            page.keyboard.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )
        page.keyboard.press("Escape")
        expect(erase).to_be_focused()
        page.clock.install()
        page.get_by_role("button", name="Remove").click()
        undo = page.get_by_role("button", name="Undo: social:friends.max is removed.", exact=True)
        expect(page.get_by_role("button", name="Dismiss: social:friends.max is removed.")).to_be_visible()
        undo.focus()
        page.clock.run_for(20_000)
        expect(undo).to_be_visible()
        page.get_by_role("heading", level=1).focus()
        page.clock.run_for(7_000)
        find(page, "undo", re.compile("^Undo: "))
        expect(page.get_by_text("500 count").first).to_be_visible()
        page.get_by_role("button", name="Remove").click()
        page.clock.run_for(8_000)
        expect(undo).to_have_count(0)

    await play(world, DESK, story)


async def test_who_uses_the_keyboard_goes_on_where_a_row_or_a_field_was(
    world: World, furnished: Furnished
) -> None:
    """Without that the focus is on nothing, and the next key begins at the top of the page."""
    user = furnished.parts["/app/operate/users/:id?"][1]
    notes = f"/v1/admin/users/{user.rpartition('/')[2]}/notes"
    for text in ("one", "two", "three"):
        await furnished.root.do("POST", notes, {"text": text})

    def story(scene: Scene) -> None:
        page = scene.enter(furnished.root, user)
        rows = page.locator("#user-notes + .cards > li")
        expect(rows).to_have_count(3)
        at_the_keyboard(page)
        for left, name in ((["two", "one"], "three"), (["two"], "one")):
            page.get_by_role("button", name=f"Delete: {name}").press("Enter")
            expect(rows).to_have_count(len(left))
            expect(rows.first).to_be_focused()
        page.keyboard.press("Enter")  # once too often
        page.keyboard.press("Tab")
        expect(rows.locator("summary")).to_be_focused()
        find(page, "all servers", "All servers page")
        held = holding(page, "**/v1/admin/connect/publications/*")
        feature = page.get_by_role("button", name="Feature: ")
        feature.press("Enter")
        expect(feature).to_be_disabled()
        page.wait_for_function("document.activeElement === document.body")
        held[0].continue_()
        expect(feature).to_be_focused()
        find(page, "ada", "Ada conversation")
        page.get_by_role("textbox").fill("a word")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Edit").press("Enter")
        expect(page.get_by_label("Edit message")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator(".message:focus").get_by_role("button", name="Edit")).to_be_visible()

    await play(world, DESK, story)
