"""Friends and parties, from a request to the launch signal; and the servers that one keeps."""

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, at_the_keyboard, holding, needs_browser, play
from tests.console.sweep import go
from tests.saved_servers.play import SAVED
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

BLOCKS = "/v1/social/friends/blocks"


async def test_from_a_request_to_the_launch_signal(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")

    def story(scene: Scene) -> None:
        one, other = scene.enter(ada, "/app/friends"), scene.enter(ben, "/app/friends")
        one.get_by_label("Name").fill("Ben")
        one.get_by_role("button", name="Send friend request").click()
        other.get_by_role("button", name="Accept").click()
        expect(one.get_by_text("1 friend", exact=True)).to_be_visible()
        scene.stop_at(one, "friends")
        one.get_by_role("button", name="Invite to party").click()
        go(one, "/app/party")
        go(other, "/app/party")
        other.get_by_role("button", name="Join").click()
        one.locator("summary", has_text="Choose what to play").click()
        one.get_by_label("What to play", exact=True).fill("Bed Wars")
        one.get_by_label("Id of the target").fill("bedwars")
        one.get_by_label("Address of the server").fill("play.example.org")
        one.get_by_label("Played in rounds").check()
        one.get_by_role("button", name="Choose what to play").click()
        for page in (one, other):
            page.get_by_role("button", name="I am ready").click()
        for page in (one, other):
            expect(page.get_by_text("Everybody is ready:")).to_be_visible()
            scene.stop_at(page, "party")

    await play(world, look, story)


async def test_a_block_asks_first_and_can_be_undone(world: World, look: Look) -> None:
    ada, ben, cyd = await world.players("Ada", "Ben", "Cyd")
    sent = await ben.do("POST", "/v1/social/friends/requests", {"targetId": ada.id})
    await ada.do("POST", f"/v1/social/friends/requests/{sent['id']}/accept")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/friends")
        page.get_by_label("More about Ben").click()
        held = holding(page, f"**/v1/social/friends/{ben.id}")
        page.get_by_label("Note").fill("shouts")
        page.get_by_role("button", name="Block", exact=True).click()  # by which the note is left, and kept
        expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
        held.pop().continue_()
        expect(page.get_by_role("paragraph").filter(has_text="shouts")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_text("1 friend", exact=True)).to_be_visible()
        page.get_by_role("button", name="Block", exact=True).click()
        scene.stop_at(page, "block")
        page.get_by_role("dialog").get_by_role("button", name="Block", exact=True).click()
        expect(page.get_by_text("0 friends")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Ben is no longer blocked.")).to_be_visible()
        page.get_by_role("button", name="Blocked people").click()
        expect(page.get_by_text("You have blocked nobody.")).to_be_visible()
        for player in (ben, cyd):
            scene.let(ada.do, "POST", BLOCKS, {"targetId": player.id}, status=201)
        page.reload()
        page.route(
            f"**{BLOCKS}*",
            lambda route: route.continue_(
                url=f"{route.request.url}{'&' if '?' in route.request.url else '?'}limit=1"
            ),
        )
        page.get_by_role("button", name="Blocked people").click()
        expect(page.get_by_text(cyd.id)).to_be_visible()
        page.get_by_role("button", name="Show older ones").click()
        expect(page.get_by_text(ben.id)).to_be_visible()

    await play(world, look, story)


async def test_notifications(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/notifications")
        expect(page.get_by_text("Nothing has happened yet.")).to_be_visible()
        scene.let(ben.do, "POST", "/v1/social/friends/requests", {"targetId": ada.id})
        expect(page.get_by_text("Ben would like to be your friend.")).to_be_visible()
        scene.stop_at(page, "notifications")
        page.get_by_role("button", name="Mark all as read").click()
        expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)

    await play(world, look, story)


async def test_saved_servers_are_put_in_order_by_dragging_and_by_buttons(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    for name in "abc":
        await ada.do("POST", SAVED, {"address": f"{name}.example.org"})

    def story(scene: Scene) -> None:
        scene.expected.add("404 (Not Found)")  # what nobody keeps any more is made anew
        page = scene.enter(ada, "/app/saved")
        rows = page.locator("ol.cards > li")
        expect(rows).to_have_count(3)
        at_the_keyboard(page)

        def takes(row: int, to: int) -> None:
            handle, goal = rows.nth(row).locator(".handle").bounding_box(), rows.nth(to).bounding_box()
            assert handle is not None and goal is not None
            page.mouse.move(handle["x"] + 5, handle["y"] + 5)
            page.mouse.down()
            page.mouse.move(handle["x"] + 5, goal["y"] + goal["height"] * (0.9 if to > row else 0.1), steps=3)

        def stand(*names: str) -> None:
            for row, name in enumerate(names):
                expect(rows.nth(row)).to_contain_text(f"{name}.example.org")

        takes(0, 2)
        stand("b", "c", "a")
        page.keyboard.press("Escape")
        stand("a", "b", "c")
        page.mouse.up()
        takes(2, 0)
        scene.stop_at(page, "saved-dragged")
        with page.expect_response("**/saved/order"):
            page.mouse.up()
        stand("c", "a", "b")
        with page.expect_response("**/saved/order"):
            rows.first.get_by_role("button", name="down").press("Enter")
        stand("a", "c", "b")
        expect(rows.nth(1).get_by_role("button", name="down")).to_be_focused()
        rows.nth(1).get_by_label("favourite").click()
        expect(rows.nth(1)).to_contain_text("★")
        rows.nth(1).get_by_role("button", name="Remove").click()
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Undo").click()
        stand("a", "c", "b")
        expect(rows.nth(1)).to_contain_text("★")
        kept = scene.let(ada.get, SAVED)["items"]
        assert [(one["address"][0], one["favorite"]) for one in kept] == [
            ("a", False),
            ("c", True),
            ("b", False),
        ]

    await play(world, look, story)
