"""Who may do what on a game server: invites for those who are invited, and the matrix of members."""

import pytest
from playwright.sync_api import Page, expect

from tests.connect.play import claimed
from tests.console.furnished import befriend, claimed_server
from tests.console.stage import Look, Scene, needs_browser, play
from tests.console.sweep import go
from tests.networks.play import network
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_from_an_invite_to_a_member_with_rights_of_their_own(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")
    await befriend(ada, ben)
    server = await claimed(world, ada, "Survival")

    def story(scene: Scene) -> None:
        owner = scene.enter(ada, f"/app/servers/{server.id}/members")
        owner.get_by_label("Friend", exact=True).select_option("Ben")
        owner.get_by_label("Send commands", exact=True).check()
        owner.get_by_label("Note for whoever is invited").fill("come and help")
        owner.get_by_role("button", name="Invite somebody").click()
        expect(owner.get_by_text("come and help")).to_be_visible()
        invited = scene.enter(ben)
        expect(invited.get_by_text("Ada invites you to look")).to_be_visible()
        scene.stop_at(invited, "home-invited")
        invited.get_by_role("button", name="Accept").click()
        expect(invited.get_by_role("heading", name="Survival")).to_be_visible()
        go(invited, f"/app/servers/{server.id}/console")
        invited.get_by_label("Action").fill("say hello")
        expect(invited.get_by_role("button", name="Send", exact=True)).to_be_enabled()
        given = owner.get_by_label("Ben: Send commands")
        expect(given).to_be_checked()
        expect(owner.get_by_label("Ben: See settings")).to_be_disabled()
        scene.stop_at(owner, "members")
        given.click()
        expect(invited.get_by_role("button", name="Send", exact=True)).to_be_disabled()
        expect(invited.get_by_text("“Send commands” is missing")).to_be_visible()
        scene.stop_at(invited, "console-missing")

    await play(world, look, story)


async def test_what_is_saved_at_once_can_be_undone(world: World, look: Look) -> None:
    """Roles and rights of members, who may come to play, and the network of a server."""
    ada, ben = await world.players("Ada", "Ben")
    server, sky = await claimed(world, ada, "Survival"), await network(ada)
    await ada.do("PUT", f"{server.path}/members/{ben.id}", {"role": "viewer"})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server.id}/members")
        role, right = page.get_by_label("Role of Ben"), page.get_by_label("Ben: Send commands")
        right.click()
        expect(right).to_be_checked()
        undo(page)
        expect(right).not_to_be_checked()
        role.select_option("admin")
        expect(page.get_by_text("Ben has other rights here now.")).to_be_visible()
        undo(page)
        expect(role).to_have_value("viewer")
        policy = page.get_by_label("Who may come to play")
        before = policy.input_value()
        policy.select_option("private")
        undo(page)
        expect(policy).to_have_value(before)
        page.get_by_role("link", name="Overview").click()
        choice = page.get_by_label("Network")
        choice.select_option(sky.id)
        expect(page.get_by_role("button", name="Undo")).to_be_visible()
        expect(choice).to_have_value(sky.id)
        with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            undo(page)
        expect(choice).to_have_value("")
        (kept,) = scene.let(ada.get, "/v1/connect/servers")["items"]
        assert kept["networkId"] is None

    def undo(page: Page) -> None:
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)

    await play(world, look, story)


async def test_an_invite_is_declined_where_it_is_seen(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    server = await claimed(world, ada, "Survival")
    body = {"inviteeUserId": ben.id, "role": "operator"}
    await ada.do("POST", f"{server.path}/invites", body)

    def story(scene: Scene) -> None:
        page = scene.enter(ben, "/app/servers")
        expect(page.get_by_text("Ada invites you as an operator")).to_be_visible()
        go(page, "/app/notifications")
        expect(page.get_by_text("You are invited to the game server Survival.")).to_be_visible()
        scene.stop_at(page, "notifications-invite")
        page.get_by_role("button", name="Decline").click()
        expect(page.get_by_text("The invite to Survival is declined.")).to_be_visible()
        expect(page.get_by_role("button", name="Decline")).to_have_count(0)
        (invite,) = scene.let(ada.get, f"{server.path}/invites")["items"]
        assert invite["status"] == "revoked"

    await play(world, Look("dark", 390), story)


async def test_extensions_from_the_catalog_to_a_server(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    server = await claimed(world, ada, "Survival")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/extensions")
        page.get_by_text("Add an extension to the catalog").first.click()
        page.get_by_label("Id", exact=True).fill("world.border")
        page.get_by_label("Name").first.fill("World border")
        page.get_by_role("button", name="Add an extension to the catalog").click()
        expect(page.get_by_text("world.border", exact=True)).to_be_visible()
        page.get_by_role("button", name="Edit").click()
        page.get_by_label("Who may use it").first.select_option("public")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".chip", has_text="Public")).to_be_visible()
        page.get_by_text("Make a service").first.click()
        page.get_by_label("Name").last.fill("Borders")
        page.get_by_role("combobox", name="Extension").last.select_option("world.border")
        page.get_by_role("button", name="Make a service").click()
        expect(page.get_by_text("Borders", exact=True)).to_be_visible()
        scene.stop_at(page, "extensions-mine")
        go(page, f"/app/servers/{server.id}/extensions")
        page.get_by_role("combobox", name="Add one from the catalog").select_option("world.border")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_text("The extension is added.")).to_be_visible()
        expect(page.get_by_text("world.border", exact=True)).to_be_visible()
        scene.stop_at(page, "server-extensions")

    await play(world, look, story)


async def test_whoever_is_taken_in_again_sees_it_again(world: World) -> None:
    """A server comes back by itself, a conversation when it is tried again; neither wants the page loaded anew."""
    ada, ben, cleo = await world.players("Ada", "Ben", "Cleo")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]
    member = f"/v1/connect/servers/{server_id}/members/{ben.id}"
    await ada.do("PUT", member, {"role": "operator"})
    room = await ada.talk_to(ben, cleo, kind="group")
    await ada.say(room, "first words")
    people = f"/v1/social/chat/conversations/{room.id}/participants"

    def story(scene: Scene) -> None:
        page = scene.enter(ben, f"/app/servers/{server_id}/console")
        expect(page.get_by_label("Action")).to_be_enabled()
        scene.let(ada.do, "DELETE", member)
        expect(page.get_by_role("heading", name=server_id)).to_be_visible()
        expect(page.get_by_role("alert").filter(has_text="no longer shown")).to_be_visible()
        scene.let(ada.do, "PUT", member, {"role": "operator"})
        expect(page.get_by_role("heading", name="Survival")).to_be_visible()
        page.get_by_label("Action").fill("count")
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
        page.goto(f"/app/chat/{room.id}")
        expect(page.get_by_role("log").get_by_text("first words")).to_be_visible()
        scene.let(ada.do, "DELETE", f"{people}/{ben.id}")
        again = page.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        scene.let(ada.do, "POST", people, {"userIds": [ben.id]})
        again.click()
        expect(page.get_by_role("log").get_by_text("first words")).to_be_visible()

    await play(world, Look("light", 1280), story)
