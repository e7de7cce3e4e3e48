"""What somebody shows to others, what a leader does with a party, and what was written before."""

import pytest
from playwright.sync_api import expect

from tests.console.furnished import befriend
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_a_person_shows_what_they_want_to_show(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    await befriend(ada, ben)

    def story(scene: Scene) -> None:
        scene.expected.add("403 (Forbidden)")
        own = scene.enter(ben, "/app/saved")
        own.get_by_label("Address for players").fill("play.example.org")
        own.get_by_role("button", name="Add by address").click()
        expect(own.locator("code", has_text="play.example.org")).to_be_visible()
        page = scene.enter(ada, "/app/friends")
        page.get_by_label("More about Ben").click()
        page.get_by_label("Note", exact=True).fill("plays at night")
        page.get_by_label("Note", exact=True).blur()
        expect(page.locator(".grow", has_text="plays at night")).to_be_visible()
        page.get_by_text("Report", exact=True).first.click()
        page.get_by_label("What has happened?").fill("shouts")
        page.get_by_role("button", name="Report").click()
        expect(page.get_by_text("Ben is not told.")).to_be_visible()
        page.get_by_role("link", name="Ben").click()
        expect(page.get_by_role("heading", name="Ben", level=1)).to_be_visible()
        expect(page.locator("code", has_text="play.example.org")).to_be_visible()
        scene.stop_at(page, "person")
        scene.let(ben.do, "PATCH", "/v1/profile/settings", {"privacy": {"serverListVisibility": "PRIVATE"}})
        page.reload()
        expect(page.get_by_text("They do not show this to you.")).to_be_visible()

    await play(world, Look("dark", 390), story)


async def test_a_leader_passes_the_party_on(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    party = await ada.do("POST", "/v1/social/party")
    await ada.do("POST", "/v1/social/party/invites", {"targetId": ben.id})
    await ben.do("POST", f"/v1/social/party/invites/{party['party']['id']}/accept")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/party")
        page.get_by_label("More about Ben").click()
        page.get_by_role("button", name="May choose what to play").click()
        expect(page.locator("p", has_text="May choose what to play")).to_be_visible()
        page.get_by_role("button", name="Make leader").click()
        page.get_by_role("dialog").get_by_role("button", name="Make leader").click()
        expect(page.get_by_label("More about Ben")).to_have_count(0)
        scene.stop_at(page, "party-passed-on")

    await play(world, Look("light", 1280), story)


async def test_an_edited_message_tells_what_it_said(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    said = await ada.say(room, "at eight")
    await ada.do("PATCH", room.message(said["id"]), {"content": "at nine"})

    def story(scene: Scene) -> None:
        page = scene.enter(ben, f"/app/chat/{room.id}")
        page.get_by_text("What it said before").click()
        expect(page.get_by_text("at eight")).to_be_visible()
        scene.stop_at(page, "revisions")

    await play(world, Look("light", 1280), story)


async def test_quests_of_the_day(world: World) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/quests")
        page.get_by_role("button", name="Draw another").first.click()
        expect(page.get_by_text("You may draw 0 more today.")).to_be_visible()
        scene.stop_at(page, "quests")

    await play(world, Look("light", 1280), story)
