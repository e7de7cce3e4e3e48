"""What operators and moderators do: users, rights, capes, reports, live actors."""

import csv
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from actors.operations.history import EVERY_MS
from tests.console.furnished import submit_cape
from tests.console.stage import Look, Scene, needs_browser, play
from tests.console.sweep import go
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
    before = await mona.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": "spams"})
    await mona.do("PATCH", f"/v1/admin/reports/{before['id']}", {"status": "dismissed"})
    await ada.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": "<b>shouts</b>"})

    def story(scene: Scene) -> None:
        page = scene.enter(mona, "/app/operate/reports")
        expect(page.get_by_text("<b>shouts</b>")).to_be_visible()
        page.get_by_text("Reported of Ben").click()
        expect(page.get_by_role("listitem").filter(has_text="spams").get_by_text("Dismissed")).to_be_visible()
        page.get_by_text("Reported by Ada", exact=True).click()
        expect(page.get_by_text("Nothing else.")).to_be_visible()
        page.keyboard.press("r")
        page.keyboard.type("warned <i>twice</i>")
        page.keyboard.press("Enter")
        page.keyboard.press("2")
        expect(page.get_by_text("Nothing waits.")).to_be_visible()
        page.get_by_label("Status").select_option("actioned")
        expect(page.get_by_text("warned <i>twice</i>")).to_be_visible()
        expect(page.get_by_text("judged by Mona")).to_be_visible()
        scene.stop_at(page, "reports-settled")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Nothing here.")).to_be_visible()
        page.get_by_label("Status").select_option("open")
        expect(page.get_by_text("<b>shouts</b>")).to_be_visible()
        # What comes meanwhile is there by itself, and several are judged at once.
        scene.let(mona.do, "POST", "/v1/social/friends/reports", {"targetId": ada.id, "reason": "lies"})
        expect(page.get_by_text("lies")).to_be_visible()
        page.keyboard.press("x")
        expect(page.get_by_role("region", name="What is chosen")).to_contain_text("1 chosen")
        page.get_by_label("Choose all 2 that are shown").check()
        assert "chosen=" in page.url
        scene.stop_at(page, "reports")
        gone = scene.let(mona.get, "/v1/admin/reports", status="open")["items"]
        page.route(f"**/reports/{gone[0]['id']}", lambda route: route.fulfill(status=404, json=NOT_THERE))
        scene.expected.add("404 (Not Found)")
        chosen = page.get_by_role("region", name="What is chosen")
        chosen.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("Dismiss: done for 1.")).to_be_visible()
        expect(chosen.get_by_role("listitem")).to_contain_text("no such report")
        page.unroute_all()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("<b>shouts</b>")).to_be_visible()
        assert len(scene.let(mona.get, "/v1/admin/reports", status="open")["items"]) == 2

    await play(world, look, story)


async def test_a_moderator_sees_nothing_of_what_is_said_about_themselves(world: World, look: Look) -> None:
    adam, ben, root = (
        await world.ranked("Adam", "admin"),
        await world.player("Ben"),
        await world.super_admin(),
    )
    for player in (adam, ben):
        await root.do("POST", f"/v1/admin/users/{player.id}/notes", {"text": f"Watch {player.name}."})

    def story(scene: Scene) -> None:
        page = scene.enter(adam, f"/app/operate/users/{ben.id}")
        expect(page.get_by_text("Watch Ben.")).to_be_visible()
        expect(page.get_by_text("Reported of Ben")).to_be_visible()
        go(page, f"/app/operate/users/{adam.id}")
        expect(page.get_by_text("Reported by Adam")).to_be_visible()
        expect(page.locator("#user-notes")).to_have_count(0)
        expect(page.get_by_text("Reported of Adam")).to_have_count(0)
        own = scene.enter(root, f"/app/operate/users/{adam.id}")
        expect(own.get_by_text("Watch Adam.")).to_be_visible()
        expect(own.get_by_text("Reported of Adam")).to_be_visible()

    await play(world, look, story)


NOT_THERE = {"code": "NOT_FOUND", "message": "no such report", "status": 404}


async def test_a_right_is_granted_and_a_user_erased(world: World, look: Look) -> None:
    root = await world.super_admin()
    await world.player("Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/users")
        expect(page.get_by_label("Choose Root")).to_have_count(0)  # oneself is never one of many
        page.get_by_label("Choose Ben").check()
        page.get_by_role("button", name="Make moderator").click()
        page.get_by_role("dialog").get_by_role("button", name="Make moderator").click()
        expect(page.get_by_role("listitem").filter(has_text="Ben").get_by_text("Moderator")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("listitem").filter(has_text="Ben").get_by_text("Moderator")).to_have_count(0)
        page.get_by_role("link", name="Ben").click()
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
        audit.get_by_label("From", exact=True).fill(tomorrow.strftime("%Y-%m-%dT%H:%M"))
        expect(audit.get_by_text("Nothing like this has been recorded.")).to_be_visible()
        audit.get_by_label("From", exact=True).fill("")
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
        """As the service does it: of all, the thousand that come first in the order that was asked for."""
        isolated, by_restarts = "query=lost" in route.request.url, "sort=restarts" in route.request.url
        found = [sick] if isolated else [sick, *items[:999]] if by_restarts else items
        body = {"total": 10_000, "matched": 1 if isolated else 10_000, "kinds": kinds, "items": found}
        route.fulfill(body=json.dumps(body), content_type="application/json")

    def story(scene: Scene) -> None:
        page = scene.arrive(root.token or "")
        page.route("**/v1/admin/actors*", answer)
        page.goto("/app/operate/actors")
        table = page.get_by_role("region", name="Live actors")
        expect(page.get_by_text("10,000 of 10,000")).to_be_visible()
        assert page.get_by_role("row").count() < 60
        table.evaluate("box => { box.scrollTop = box.scrollHeight }")
        expect(page.get_by_text(f"{999:024x}")).to_be_visible()
        table.evaluate("box => { box.scrollTop = 0 }")
        restarts = page.get_by_role("columnheader", name="Restarts")
        restarts.get_by_role("button").click()
        expect(restarts).to_have_attribute("aria-sort", "descending")
        expect(table.locator(".row").first).to_contain_text("KeyError: lost")
        expect(table.locator(".row").first).to_have_class(re.compile("hurt"))
        expect(page).to_have_url(re.compile("by=restarts"))
        restarts.get_by_role("button").click()
        expect(restarts).to_have_attribute("aria-sort", "ascending")
        expect(page.get_by_text("sorted are the 1,000 that are shown")).to_be_visible()
        expect(table.locator(".row").first).to_contain_text(f"{0:024x}")
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


async def test_a_gap_and_a_restart_are_seen_in_all_charts(world: World, look: Look) -> None:
    root = await world.super_admin()
    # Later than whatever this service tells of itself meanwhile.
    last_ms = 4_000_000_000_000
    at_ms = [last_ms - number * EVERY_MS for number in reversed(range(720)) if not 200 < number < 300]
    values = [float(number % 7) for number in range(len(at_ms))]
    body = {
        "startedAtMs": at_ms[300],
        "everyMs": EVERY_MS,
        "atMs": at_ms,
        "series": [
            {"name": name, "unit": "per second", "says": name, "values": values}
            for name in ("requestsOk", "requestsFailed", "somethingNew")
        ],
    }

    def story(scene: Scene) -> None:
        page = scene.arrive(root.token or "")
        page.route(
            "**/v1/admin/metrics/history",
            lambda route: route.fulfill(body=json.dumps(body), content_type="application/json"),
        )
        page.goto("/app/operate")
        for _ in range(2):
            expect(page.locator(".panel canvas")).to_have_count(2)
            expect(
                page.get_by_text(re.compile("^The service started at .*: a dashed line in each chart"))
            ).to_be_visible()
            expect(
                page.get_by_text(re.compile("^No samples from .* to .*: a band in each chart"))
            ).to_be_visible()
            page.reload()
        expect(page.get_by_text("ok: 4 now, 0 to 6.")).to_be_visible()
        page.get_by_text("Values Requests a second").click()
        rows = page.get_by_role("region", name="Values: Requests a second").get_by_role("row")
        expect(rows.nth(1)).to_contain_text("4")
        assert 45 < rows.count() < 61
        scene.stop_at(page, "health-gap")

    await play(world, look, story)


async def test_a_service_that_says_nothing_is_old_within_five_seconds(world: World) -> None:
    """Check 22: it stands still, and its sockets stay open."""
    root = await world.super_admin()
    stopped: list[bool] = []

    def relay(near: WebSocketRoute) -> None:
        far = near.connect_to_server()
        near.on_message(lambda said: None if stopped else far.send(said))
        far.on_message(lambda said: None if stopped else near.send(said))

    def story(scene: Scene) -> None:
        page = scene.arrive(root.token or "")
        page.route_web_socket("**/v1/social/live*", relay)
        page.goto("/app/operate")
        health = page.locator(".banner [role=status]")
        expect(health).to_have_text("All is well.")
        page.clock.install()
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        stopped.append(True)
        page.clock.run_for(5_000)
        expect(health).to_have_text("This is not up to date: the service says nothing.")

    await play(world, Look("light", 1280), story)


async def test_what_a_role_sees_is_drawn(world: World, look: Look) -> None:
    root, ada = await world.super_admin(), await world.player("Ada")

    def story(scene: Scene) -> None:
        page = scene.enter(root, f"/app/operate/users/{ada.id}")
        expect(page.get_by_role("table", name="Rights with their reasons")).to_be_visible()
        page.get_by_text("Show pages and buttons").click()
        drawn = page.locator(".drawing > li")
        audit = drawn.filter(has_text="/app/operate/audit")
        reports = drawn.filter(has_text="/app/operate/reports")
        expect(audit).to_contain_text("no super-admin")
        page.get_by_label("As", exact=True).select_option("Moderator")
        expect(reports.get_by_text("yes").first).to_be_visible()
        expect(audit).to_contain_text("no super-admin")
        scene.stop_at(page, "seen-as")
        page.get_by_label("As", exact=True).select_option("Super-admin")
        expect(audit).to_contain_text("yes")
        expect(drawn.filter(has_text="Erase user")).to_be_visible()
        assert page.locator(".drawing").get_by_role("button").count() == 0

    await play(world, look, story)


async def test_the_audit_trail_is_saved_as_it_is_filtered(world: World, tmp_path: Path) -> None:
    root, ben = await world.super_admin(), await world.player("=HYPERLINK(1)")
    for number in range(3):
        await root.do("POST", f"/v1/admin/users/{ben.id}/permissions", {"node": f"a:{number}"})
    await root.do("DELETE", f"/v1/admin/users/{ben.id}/permissions/a:0")

    def saved(page: Page) -> list[list[str]]:
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        path = tmp_path / "audit.csv"
        download.value.save_as(path)
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.reader(file))

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/audit?action=permission.granted")
        head, *rows = saved(page)
        assert head == [
            "at",
            "action",
            "actorId",
            "actorName",
            "targetId",
            "targetName",
            "requestId",
            "detail",
        ]
        assert [(row[1], row[3], row[5], json.loads(row[7])["node"]) for row in rows] == [
            ("permission.granted", "Root", "'=HYPERLINK(1)", f"a:{number}") for number in (2, 1, 0)
        ]
        expect(page.get_by_text("3 entries saved.")).to_be_visible()
        page.get_by_label("From", exact=True).focus()
        page.keyboard.type("010120261200PM")  # a year of four digits is whole
        expect(page).to_have_url(re.compile("since=2026-01-01"))
        # A trail without an end: the file has as many entries as it may, and says so.
        page.route(
            "**/v1/admin/audit*",
            lambda route: route.fulfill(body=endless(route), content_type="application/json"),
        )
        assert len(saved(page)) == 10_001
        expect(page.get_by_text("The file has the newest 10,000 entries")).to_be_visible()

    def endless(route: Route) -> str:
        entry = {"id": "0" * 24, "at": "2026-01-01T00:00:00.000Z", "action": "role.added", "detail": {}}
        return json.dumps({"items": [entry] * 200, "nextCursor": "more", "hasMore": True})

    await play(world, Look("light", 1280), story)
