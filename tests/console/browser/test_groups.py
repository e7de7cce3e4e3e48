"""Who is in a group: its owner adds friends and takes people out, and whoever that concerns sees it."""

import pytest
from playwright.sync_api import expect

from tests.console.furnished import befriend
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_the_owner_adds_friends_and_takes_people_out(world: World, look: Look) -> None:
    ada, ben, cyd, dan = await world.players("Ada", "Ben", "Cyd", "Dan")
    for friend in (ben, cyd):
        await befriend(ada, friend)
    room = await ada.talk_to(ben, dan)

    def story(scene: Scene) -> None:
        owner, member, friend = (scene.enter(one, f"/app/chat/{room.id}") for one in (ada, ben, cyd))
        owner.get_by_role("button", name="3 members").click()
        owner.get_by_role("button", name="Add people").click()
        choice = owner.get_by_role("group", name="With whom?")
        expect(choice.get_by_role("checkbox")).to_have_count(1)
        choice.get_by_label("Cyd").check()
        scene.stop_at(owner, "group-adding")
        owner.get_by_role("button", name="Add", exact=True).click()
        expect(owner.get_by_role("button", name="4 members")).to_be_visible()
        expect(choice).to_have_count(0)
        friend.reload()
        friend.get_by_role("button", name="4 members").click()
        expect(friend.locator(".people li")).to_have_count(4)
        expect(friend.get_by_role("button", name="Leave conversation")).to_be_visible()
        for words in ("Add people", "Remove: Ben"):
            expect(friend.get_by_role("button", name=words)).to_have_count(0)
        owner.get_by_role("button", name="Add people").click()
        expect(owner.get_by_text("All of your friends are in it already.")).to_be_visible()
        owner.get_by_role("button", name="Remove: Ben").click()
        owner.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(owner.get_by_role("button", name="3 members")).to_be_visible()
        expect(owner.locator(".people li")).to_have_count(3)
        expect(friend.locator(".people li")).to_have_count(3)
        expect(member.get_by_role("log")).to_have_count(0)
        scene.stop_at(owner, "group")

    await play(world, look, story)
