"""What operators and moderators do: users, rights, capes, reports, live actors."""

import json
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Route, expect

from tests.console.acts import submit_cape
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_capes_are_judged_by_keys_and_worn(world: World, look: Look) -> None:
    ada = await world.player("Ada")
    mona = await world.ranked("Mona", "moderator")
    await submit_cape(ada, "Dusk")
    await submit_cape(ada, "Dawn")

    def story(scene: Scene) -> None:
        judge = scene.enter(mona, "/app/operate/capes")
        expect(judge.get_by_text("Dusk")).to_be_visible()
        scene.stop_at(judge, "capes-queue")
        judge.keyboard.press("j")
        judge.keyboard.press("1")
        expect(judge.get_by_text("is approved.")).to_be_visible()
        page = scene.enter(ada, "/app/capes")
        page.get_by_role("button", name="Wear").first.click()
        expect(page.get_by_role("button", name="Worn").first).to_be_visible()
        scene.stop_at(page, "capes")

    await play(world, look, story)


async def test_reports_are_settled_and_a_verdict_can_be_undone(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")
    mona = await world.ranked("Mona", "moderator")
    await ada.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": "<b>shouts</b>"})

    def story(scene: Scene) -> None:
        page = scene.enter(mona, "/app/operate/reports")
        expect(page.get_by_text("<b>shouts</b>")).to_be_visible()
        page.keyboard.press("2")
        expect(page.get_by_text("Nothing waits.")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("<b>shouts</b>")).to_be_visible()
        scene.stop_at(page, "reports")

    await play(world, look, story)


async def test_a_right_is_granted_and_a_user_erased(world: World, look: Look) -> None:
    root, ben = await world.super_admin(), await world.player("Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(root, f"/app/operate/users/{ben.id}")
        page.get_by_text("Grant a right").first.click()
        page.get_by_label("Right", exact=True).fill("social:friends.max")
        page.get_by_label("Quantity").fill("500")
        page.get_by_label("Unit").select_option("count")
        tomorrow = datetime.now() + timedelta(days=1)
        page.get_by_label("Ends (empty: never)").fill(tomorrow.strftime("%Y-%m-%dT%H:%M"))
        page.get_by_role("button", name="Grant a right").click()
        expect(page.get_by_role("listitem").filter(has_text="500 count").locator("time")).to_be_visible()
        page.get_by_label("Filter rights").fill("social:friends.max")
        row = page.get_by_role("row").filter(has_text="social:friends.max").first
        expect(row).to_contain_text("500 count")
        expect(row).to_contain_text("Root")
        expect(row.locator("time")).to_be_visible()
        audit = scene.page_in(page.context)
        audit.goto("/app/operate/audit")
        audit.get_by_text("Details").first.click()
        expect(audit.locator("pre").first).to_contain_text("social:friends.max")
        audit.close()
        scene.stop_at(page, "user")
        page.get_by_role("button", name="Erase user").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="Erase user")).to_be_disabled()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.get_by_role("button", name="Erase user").click()
        dialog.get_by_label("Type Ben to go on").fill("Ben")
        dialog.get_by_role("button", name="Erase user").click()
        expect(page.get_by_text("Ben is erased.")).to_be_visible()

    await play(world, look, story)


async def test_one_sick_actor_of_ten_thousand_is_found(world: World, look: Look) -> None:
    root = await world.super_admin()
    one = {
        "kind": "conversation",
        "mailbox": 0,
        "subscribers": 1,
        "restarts": 0,
        "lastError": None,
        "offset": 7,
    }
    items = [{**one, "id": f"{number:024x}", "idleMs": number} for number in range(1_000)]
    sick = {**one, "id": f"{4_321:024x}", "idleMs": 0, "lastError": "KeyError: lost", "restarts": 3}
    kinds = [
        {"kind": "conversation", "actors": 10_000, "mailbox": 0, "subscribers": 1, "restarts": 3, "faulty": 1}
    ]

    def answer(route: Route) -> None:
        found = [sick] if "query=lost" in route.request.url else items
        body = {"total": 10_000, "matched": 1 if found[0] is sick else 10_000, "kinds": kinds, "items": found}
        route.fulfill(body=json.dumps(body), content_type="application/json")

    def story(scene: Scene) -> None:
        page = scene.enter(root)
        page.route("**/v1/admin/actors*", answer)
        page.goto("/app/operate/actors")
        table = page.get_by_role("region", name="Live actors")
        expect(page.get_by_text("10,000 of 10,000")).to_be_visible()
        assert page.get_by_role("row").count() < 60
        table.evaluate("box => { box.scrollTop = box.scrollHeight }")
        expect(page.get_by_text(f"{999:024x}")).to_be_visible()
        page.get_by_label("Filter by kind, id or fault").fill("lost")
        expect(page.get_by_text("KeyError: lost")).to_be_visible()
        scene.stop_at(page, "actors")

    await play(world, look, story)


async def test_health_is_an_hour_of_what_is_counted(world: World, look: Look) -> None:
    root = await world.super_admin()

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate")
        expect(page.get_by_text("All is well.")).to_be_visible()
        expect(page.locator(".panel canvas").first).to_be_visible()
        scene.stop_at(page, "health")

    await play(world, look, story)
