"""Game servers: from the key on a console to a published server, commands, settings, and rights that are taken away."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.console.furnished import befriend, claimed_server
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import Player, World

pytestmark = [needs_browser, pytest.mark.slow]

SCHEMA = {
    "fields": [
        {"key": "motd", "label": "Greeting", "type": "string", "max": 60},
        {"key": "slots", "label": "Slots", "type": "int", "min": 1, "max": 500},
        {"key": "pvp", "label": "Players fight", "type": "bool"},
        {"key": "token", "label": "Token", "type": "secret"},
    ]
}

BUSY = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}


async def registered(world: World) -> Any:
    body = {"serverType": "paper", "serverName": "Survival"}
    return await world.nobody().do("POST", "/v1/connect/servers/register", body, status=201)


async def test_from_a_claim_key_to_a_published_server(world: World, look: Look) -> None:
    ada, root = await world.player("Ada"), await world.super_admin()
    made = await registered(world)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/servers/claim")
        scene.expected |= {"404 (Not Found)", "503 (Service Unavailable)"}
        page.get_by_label("Claim key").fill("AAAAA-BBBBB-CCCCC-DDDDD")
        page.get_by_role("button", name="Claim", exact=True).click()
        expect(page.get_by_role("alert")).not_to_be_empty()
        page.get_by_label("Claim key").fill(made["claimKey"])
        page.get_by_role("button", name="Claim", exact=True).click()
        page.get_by_label("Name of the new network").fill("Islands")
        page.route(
            f"**/v1/connect/servers/{made['serverId']}", lambda route: route.fulfill(status=503, json=BUSY)
        )
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("alert")).to_contain_text("too much at once")
        page.unroute_all()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Without a domain").click()
        page.get_by_label("Display name").fill("Survival Islands")
        page.get_by_label("Address for players").fill("play.example.org")
        page.get_by_label("Tags").fill("pvp, islands")
        scene.stop_at(page, "publish")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Published.")).to_be_visible()
        page.get_by_role("link", name="Go to the server").click()
        expect(page.get_by_role("heading", name="Survival")).to_be_visible()
        expect(page.get_by_label("Network")).to_have_value(made_network(scene, ada))
        scene.stop_at(page, "server")
        desk = scene.enter(root, "/app/operate/listing")
        desk.get_by_label("Reason, for the owner to read").fill("Not yet")
        desk.get_by_label("Choose Survival Islands").check()
        scene.stop_at(desk, "listing")
        desk.get_by_role("region", name="What is chosen").get_by_role("button", name="Suppress").click()
        expect(desk.get_by_text("Suppress: done for 1.")).to_be_visible()
        assert listed(scene) == []
        desk.get_by_role("button", name="Undo").click()
        expect(desk.get_by_role("button", name="Suppress")).to_have_attribute("aria-pressed", "false")
        assert [one["displayName"] for one in listed(scene)] == ["Survival Islands"]

    def listed(scene: Scene) -> list[dict[str, str]]:
        return list(scene.let(world.nobody().get, "/v1/public/servers")["items"])

    def made_network(scene: Scene, player: Player) -> str:
        return str(scene.let(player.get, "/v1/connect/networks")["items"][0]["networkId"])

    await play(world, look, story)


async def test_a_command_from_its_form_to_its_result(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    made = await registered(world)
    await ada.do("POST", "/v1/connect/servers/claim", {"claimKey": made["claimKey"]})
    server = f"/v1/connect/servers/{made['serverId']}"
    machine = Player(world, made["serverId"], "Survival", made["serverSecret"])
    machine.headers["x-server-id"] = made["serverId"]
    ben = await world.player("Ben")
    await ada.do("PUT", f"{server}/members/{ben.id}", {"role": "operator"})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{made['serverId']}/console")
        page.get_by_label("Action").fill("count")
        page.get_by_label("Payload (JSON)").fill('{"to": 3}')
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("Waits", exact=True)).to_be_visible()
        command = scene.let(machine.get, f"{server}/commands?status=pending")["items"][0]
        acknowledge = f"{server}/commands/{command['id']}/ack"
        scene.let(machine.do, "POST", acknowledge, {"status": "running", "progress": 50})
        expect(page.get_by_label("Progress")).to_be_visible()
        scene.let(machine.do, "POST", acknowledge, {"status": "success", "result": {"counted": 3}})
        expect(page.get_by_text("Done", exact=True)).to_be_visible()
        page.get_by_text("Result", exact=True).click()
        expect(page.get_by_text('"counted": 3')).to_be_visible()
        page.get_by_label("Action").fill("")
        page.get_by_label("Action").press("ArrowUp")
        expect(page.get_by_label("Action")).to_have_value("count")
        scene.let(ben.do, "POST", f"{server}/commands", {"action": "keep-world"})
        for action, name in (("count", "Ada"), ("keep-world", "Ben")):
            line = page.get_by_role("listitem").filter(has_text=action)
            expect(line.locator("bdi")).to_have_text(name)
        scene.stop_at(page, "console")

    await play(world, look, story)


async def test_settings_from_their_schema_and_what_another_has_saved(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]
    path = f"/v1/connect/servers/{server_id}/settings"
    data = {"motd": "Welcome", "slots": 40, "pvp": False, "token": "hidden"}
    await ada.do("PUT", path, {"data": data, "schema": SCHEMA})

    def story(scene: Scene) -> None:
        scene.expected |= {"422 (Unprocessable", "409 (Conflict)"}
        page = scene.enter(ada, f"/app/servers/{server_id}/settings")
        page.get_by_label("Slots").fill("900")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("above 500")).to_be_visible()
        expect(page.get_by_label("Slots")).to_be_focused()
        page.get_by_label("Slots").fill("60")
        scene.stop_at(page, "settings")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
        stored = scene.let(ada.get, path)
        assert stored["data"]["slots"] == 60
        assert stored["data"]["token"] != ""
        typed_while_it_is_saved(page)
        stored = scene.let(ada.get, path)["data"]
        assert (stored["motd"], stored["slots"]) == ("Meanwhile", 70)
        page.get_by_label("Greeting").fill("Mine")
        scene.let(ada.do, "PUT", path, {"data": {**data, "motd": "Theirs"}, "schema": SCHEMA})
        expect(page.get_by_text("Somebody has saved something else meanwhile")).to_be_visible()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Somebody has changed this meanwhile.")).to_be_visible()
        page.get_by_role("button", name="Take theirs").click()
        expect(page.get_by_label("Greeting")).to_have_value("Theirs")
        page.goto(f"/app/servers/{server_id}/settings?source=notes")
        page.get_by_label("Settings (JSON)").fill("{")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert").filter(has_text="This is not valid JSON.")).to_be_visible()

    def typed_while_it_is_saved(page: Page) -> None:
        """What is typed before the answer is there is there afterwards, and saved with the next."""

        def answer(route: Route) -> None:
            if route.request.method == "PUT":
                page.get_by_label("Greeting").fill("Meanwhile")
            route.continue_()

        page.route("**/settings", answer)
        page.get_by_label("Slots").fill("70")
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            page.get_by_role("button", name="Save", exact=True).click()
        page.unroute_all()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)

    await play(world, look, story)


async def test_a_right_that_is_taken_away_ends_the_page(world: World, look: Look) -> None:
    """Check 16: while they type; the button says what is missing, and what they have typed stays."""
    ada, ben = await world.players("Ada", "Ben")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]
    members = f"/v1/connect/servers/{server_id}/members/{ben.id}"
    await ada.do("PUT", members, {"role": "operator"})

    def story(scene: Scene) -> None:
        page = scene.enter(ben, f"/app/servers/{server_id}/console")
        action, send = page.get_by_label("Action"), page.get_by_role("button", name="Send", exact=True)
        action.press_sequentially("co")
        expect(send).to_be_enabled()
        scene.let(ada.do, "PUT", members, {"role": "viewer"})
        action.press_sequentially("unt")
        expect(send).to_be_disabled()
        expect(send).to_have_accessible_description(re.compile("“Send commands” is missing."))
        expect(page.get_by_text("“Send commands” is missing.")).to_be_visible()
        expect(action).to_have_value("count")
        expect(action).to_be_focused()
        page.keyboard.press("Enter")
        assert scene.let(ada.get, f"/v1/connect/servers/{server_id}/commands")["items"] == []
        scene.let(ada.do, "DELETE", members)
        expect(page.get_by_text("is no longer shown")).to_be_visible()

    await play(world, look, story)


async def test_a_command_to_several_servers_has_an_end_on_each(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    here, there, gone = [await claimed_server(world, ada, name) for name in ("Here", "There", "Gone")]

    def machine(server: dict[str, str]) -> Player:
        player = Player(world, server["id"], "", server["secret"])
        player.headers["x-server-id"] = server["id"]
        return player

    def acknowledge(scene: Scene, server: dict[str, str], status: str) -> None:
        path = f"/v1/connect/servers/{server['id']}/commands"
        for command in scene.let(machine(server).get, f"{path}?status=pending")["items"]:
            scene.let(machine(server).do, "POST", f"{path}/{command['id']}/ack", {"status": status})

    def story(scene: Scene) -> None:
        scene.expected.add("404 (Not Found)")
        page = scene.enter(ada, f"/app/servers/{here['id']}/console")
        page.get_by_label("Action").fill("count")
        page.get_by_text("Also to 0 other servers").click()
        page.get_by_role("button", name="All", exact=True).click()
        scene.let(ada.do, "DELETE", f"/v1/connect/servers/{gone['id']}")
        page.get_by_role("button", name="Send", exact=True).click()
        elsewhere = page.get_by_role("region", name="On other servers")
        lines = {name: elsewhere.get_by_role("listitem").filter(has_text=name) for name in ("There", "Gone")}
        expect(lines["Gone"].get_by_text("Refused")).to_be_visible()
        expect(lines["There"].get_by_text("Waits", exact=True)).to_be_visible()
        acknowledge(scene, there, "running")
        expect(lines["There"].get_by_text("Running", exact=True)).to_be_visible()
        scene.stop_at(page, "several-servers")
        acknowledge(scene, here, "success")
        lines["There"].get_by_role("button", name="Cancel").click()
        expect(elsewhere.get_by_text("0 done, 2 failed, 0 open.")).to_be_visible()
        lines["There"].get_by_role("button", name="Repeat").click()
        expect(lines["There"].get_by_text("Waits", exact=True)).to_be_visible()
        acknowledge(scene, there, "success")
        expect(elsewhere.get_by_text("1 done, 1 failed, 0 open.")).to_be_visible()
        lines["Gone"].get_by_role("button", name="Try again").click()
        expect(lines["Gone"].get_by_text("Refused")).to_be_visible()
        here_lines = page.get_by_role("region", name="On this server").get_by_role("listitem")
        expect(here_lines.get_by_text("Done", exact=True)).to_be_visible()
        page.get_by_label("Action").fill("second")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(lines["There"].get_by_text("Waits", exact=True)).to_have_count(1)
        page.get_by_label("Action").fill("third")
        page.get_by_role("button", name="Send", exact=True).click()
        expect(lines["There"].get_by_text("Waits", exact=True)).to_have_count(2)
        acknowledge(scene, there, "success")
        expect(elsewhere.get_by_text("3 done, 3 failed, 0 open.")).to_be_visible()
        expect(here_lines).to_have_count(3)
        page.get_by_label("Action").fill("")
        for name in ("third", "second"):
            page.get_by_label("Action").press("ArrowUp")
            expect(page.get_by_label("Action")).to_have_value(name)
        page.get_by_label("Action").press("ArrowDown")
        expect(page.get_by_label("Action")).to_have_value("third")

    await play(world, look, story)


async def test_members_are_those_that_the_channel_tells(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]
    path = f"/v1/connect/servers/{server_id}"

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server_id}/members")
        people = page.get_by_role("table").locator("tbody tr")
        expect(people).to_have_count(1)
        read: list[str] = []
        page.on("request", lambda request: read.append(request.url) if path in request.url else None)
        scene.let(ada.do, "PUT", f"{path}/members/{ben.id}", {"role": "operator"})
        expect(page.get_by_label("Role of Ben")).to_have_value("operator")
        scene.let(
            ada.do,
            "PATCH",
            f"{path}/access-policy",
            {"accessMode": "private", "inviteRequiresDirectFriend": True},
        )
        expect(page.get_by_label("Who may come to play")).to_have_value("private")
        scene.let(ada.do, "DELETE", f"{path}/members/{ben.id}")
        expect(people).to_have_count(1)
        assert read == []

    await play(world, Look("light", 1280), story)


async def test_what_was_refused_of_one_server_is_not_said_of_the_next(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")
    first = (await claimed_server(world, ada, "Alpha"))["id"]
    second = (await claimed_server(world, ben, "Beta"))["id"]
    member = f"/v1/connect/servers/{first}/members/{ben.id}"
    await ada.do("PUT", member, {"role": "viewer"})

    def story(scene: Scene) -> None:
        page = scene.enter(ben, f"/app/servers/{first}/members")
        expect(page.get_by_role("heading", level=1, name="Alpha")).to_be_visible()
        expect(page.locator("main [aria-busy=true]")).to_have_count(0)
        scene.let(ada.do, "DELETE", member)
        refused = page.locator(".fault.whole")
        expect(refused).to_be_visible()
        page.get_by_role("link", name="Members").focus()  # goes with the page of this server
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill("Beta")
        page.get_by_role("option", name="Beta").click()
        expect(page).to_have_url(re.compile(f"/app/servers/{second}"))
        expect(page.get_by_role("heading", level=1, name="Beta")).to_be_focused()
        expect(page.locator("main .facts").first).to_be_visible()
        expect(refused).to_have_count(0)

    await play(world, look, story)


BIDI = "(field) => getComputedStyle(field).unicodeBidi"
"""`plaintext` where a field is written from the side that its text begins on."""


async def test_a_name_from_the_right_turns_no_sentence_around(world: World, look: Look) -> None:
    ada, *others = await world.players("Ada", "\u05d0\u05d1\u05d0 (1)", "\u05d2\u05de\u05d0 (2)")
    name = "\u05e9\u05e8\u05ea (1)"
    server = await claimed_server(world, ada, name)
    for other in others:
        await befriend(ada, other)
    await ada.talk_to(*others)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server['id']}/danger")
        gone = page.locator("p", has_text="is gone for good")
        expect(gone).to_have_text(re.compile("^\u2068\u05e9\u05e8\u05ea \\(1\\)\u2069 is gone for good"))
        page.get_by_role("button", name="Remove server").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("label")).to_have_text(re.compile(f"\u2068{re.escape(name)}\u2069"))
        dialog.get_by_role("textbox").fill(name)
        dialog.get_by_role("button", name="Remove server").click()
        expect(page).to_have_url(re.compile("/app/servers$"))
        # What isolates a name is neither typed nor the first letter of it.
        page.keyboard.press("Control+k")
        field, option = page.get_by_role("combobox"), page.get_by_role("option", name="conversation")
        field.fill(others[0].name)
        title = option.locator("bdi").text_content() or ""
        isolated = [f"\u2068{other.name}\u2069" for other in others]
        assert title in {" and ".join(isolated), " and ".join(reversed(isolated))}
        plain = re.sub("[\u2068\u2069]", "", title)
        field.fill(plain)
        expect(option).to_be_visible()
        typed = field.evaluate(BIDI)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
        expect(page.locator(".inbox .face")).to_have_text(plain[0])
        assert {typed, page.get_by_role("textbox").evaluate(BIDI)} == {"plaintext"}

    await play(world, look, story)
