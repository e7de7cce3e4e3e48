"""What the service refuses is said, also where no field of the form is called as the service calls it."""

import pytest
from playwright.sync_api import expect

from tests.console.furnished import claimed_server
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)


async def test_a_part_of_a_field_that_is_refused_is_said_at_the_field(world: World) -> None:
    """A link of several, a tag of several, the number of a quantity with a unit, a value in a text of JSON."""
    root = await world.super_admin()
    ben = await world.player("Ben")
    server_id = (await claimed_server(world, root, "Survival"))["id"]

    def story(scene: Scene) -> None:
        scene.expected.add("422 (Unprocessable")
        page = scene.enter(root, f"/app/servers/{server_id}/publication")
        page.get_by_label("Display name").fill("Survival")
        page.get_by_label("Address for players").fill("play.example.org")
        links, tags = page.get_by_label("Links"), page.get_by_label("Tags")
        links.fill("https://example.org\nno link")
        save = page.get_by_role("button", name="Save", exact=True)
        save.click()
        expect(links).to_be_focused()
        expect(page.get_by_text("an http or https address, bare or as url")).to_be_visible()
        links.fill("")
        tags.fill(f"pvp, {'x' * 33}")
        save.click()
        expect(tags).to_be_focused()
        expect(page.get_by_text("expected string of length <= 32")).to_be_visible()
        page = scene.enter(root, "/app/operate/launcher")
        hosts = page.get_by_role("textbox", name="Hosts that launchers may talk to")
        hosts.fill("cdn.example.org\nno host")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(hosts).to_be_focused()
        page = scene.enter(root, f"/app/operate/users/{ben.id}")
        page.locator("summary", has_text="Grant a right").click()
        page.get_by_label("Right", exact=True).fill("social:friends.max")
        amount = page.get_by_label("Quantity")
        amount.fill("-5")
        page.get_by_label("Unit").select_option("count")
        page.get_by_role("button", name="Grant a right").click()
        expect(amount).to_be_focused()
        page = scene.enter(root, f"/app/servers/{server_id}/settings")
        page.get_by_label("Settings (JSON)").fill(f'{{"seed": {10**40}}}')
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("the number is out of range")).to_be_visible()

    await play(world, DESK, story)


async def test_what_no_field_is_about_is_said_by_the_form(world: World) -> None:
    root = await world.super_admin()
    server_id = (await claimed_server(world, root, "Survival"))["id"]
    unknown = {"pointer": "/elsewhere", "code": "REQUIRED", "message": "nothing here is called so"}
    refusal = {"status": 422, "code": "VALIDATION_FAILED", "message": unknown["message"], "errors": [unknown]}

    def story(scene: Scene) -> None:
        scene.expected.add("422 (Unprocessable")
        page = scene.enter(root, f"/app/servers/{server_id}/console")
        page.get_by_label("Action").fill("count")
        page.get_by_label("Payload (JSON)").fill("[]")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("alert").filter(has_text="expected object, got array")).to_be_visible()
        page = scene.enter(root, f"/app/servers/{server_id}/publication")
        page.get_by_label("Display name").fill("Survival")
        page.route("**/v1/connect/publications/**", lambda route: route.fulfill(status=422, json=refusal))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert").filter(has_text=unknown["message"])).to_be_visible()

    await play(world, DESK, story)


async def test_what_could_not_be_read_is_read_again(world: World) -> None:
    """Where there was no answer at all, as where there was one."""
    ada = await world.player("Ada")
    busy = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}

    def story(scene: Scene) -> None:
        scene.expected |= {"503 (Service Unavailable)", "net::ERR_FAILED"}
        page = scene.enter(ada, "/app/quests")
        for answer in (lambda route: route.abort(), lambda route: route.fulfill(status=503, json=busy)):
            page.route("**/v1/connect/networks", answer)
            page.evaluate(
                "history.pushState(null, '', '/app/networks'); dispatchEvent(new PopStateEvent('popstate'))"
            )
            fault = page.get_by_role("alert").filter(has=page.get_by_role("button", name="Try again"))
            expect(fault).to_be_visible()
            page.unroute("**/v1/connect/networks")
            fault.get_by_role("button").click()
            expect(page.get_by_text("No networks")).to_be_visible()
            page.go_back()

    await play(world, DESK, story)
