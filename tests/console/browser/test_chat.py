"""Talking: live, across breaks, and with what people write shown as they wrote it."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, Route, WebSocketRoute, expect

from tests.console.stage import Look, Scene, holding, in_memory, needs_browser, play
from tests.support.world import Player, Room, World

pytestmark = [needs_browser, pytest.mark.slow]

PAYLOADS = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    '"><iframe src=javascript:alert(1)>',
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "**<b onmouseover=alert(1)>x</b>**",
    "`</code><img src=x onerror=alert(1)>`",
    'https://example.org/"onmouseover=alert(1)//',
    "https://example.org/<script>",
    "data:text/html,<script>alert(1)</script>",
    "${alert(1)} {{constructor.constructor('alert(1)')()}}",
    "<style>*{display:none}</style>",
    "<a href=//evil.example>x</a>",
    "<math><mi xlink:href=javascript:alert(1)>x",
    "\u202egnirts desrever",
    "&lt;b&gt; &#60;b&#62;",
    "<!--<script>-->",
    "<form action=//evil.example><button>go",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<template><img src=x onerror=alert(1)></template>",
    "\\u003cimg src=x onerror=alert(1)\\u003e",
    "<@user:00000000-0000-0000-0000-000000000000>",
    "a" * 3_000,
    "__proto__ constructor toString",
)


async def talking(world: World) -> tuple[Player, Player, Room]:
    ada, ben = await world.players("Ada", "Ben")
    return ada, ben, await ada.talk_to(ben)


def log_of(page: Page) -> list[str]:
    return [text.splitlines()[0] for text in page.get_by_role("log").locator(".text").all_inner_texts()]


async def test_two_talk_and_vote(world: World, look: Look) -> None:
    ada, ben, room = await talking(world)

    def story(scene: Scene) -> None:
        one, other = (scene.enter(player, f"/app/chat/{room.id}") for player in (ada, ben))
        expect(other.get_by_label("Message Ada")).to_be_visible()
        expect(other.locator("[aria-busy=true]")).to_have_count(0)
        asked: list[str] = []
        other.on("request", lambda request: asked.append(request.url))
        one.get_by_label("Message Ben").fill("hello")
        one.keyboard.press("Enter")
        expect(other.get_by_role("log").get_by_text("hello")).to_be_visible()
        assert asked == []  # what is told is what is shown
        other.get_by_label("Message Ada").press_sequentially("h")
        expect(one.get_by_text("Ben is writing…")).to_be_visible()
        other.get_by_label("Message Ada").fill("hi **there**")
        other.get_by_role("button", name="Send", exact=True).click()
        expect(one.get_by_role("log").locator("strong", has_text="there")).to_be_visible()
        one.get_by_role("button", name="Edit").first.click()
        one.get_by_label("Edit message").fill("hello again")
        one.get_by_role("button", name="Save", exact=True).click()
        expect(other.get_by_text("hello again")).to_be_visible()
        one.get_by_role("button", name="Delete").first.click()
        one.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(other.get_by_text("This message was deleted.")).to_be_visible()
        scene.stop_at(other, "thread")
        one.get_by_role("button", name="Poll").click()
        one.get_by_label("Question").fill("Tonight?")
        one.get_by_label("Option 1").fill("yes")
        one.get_by_label("Option 2").fill("no")
        one.get_by_role("button", name="Send poll").click()
        other.get_by_role("radio", name="yes").click()
        expect(one.get_by_text("1 vote", exact=True)).to_be_visible()
        expect(other.get_by_role("radio", name="yes")).to_be_checked()
        scene.stop_at(one, "poll")
        # A device whose clock is wrong dates nothing by it.
        other.add_init_script("{ const now = Date.now; Date.now = () => now() + 3_600_000; }")
        other.goto("/app/chat")
        expect(other.locator(".at time").first).to_have_text(re.compile(r"^(now|\d+(s|min) ago)$"))

    await play(world, look, story)


async def test_what_people_write_is_shown_as_they_wrote_it(world: World, look: Look) -> None:
    ada, ben, room = await talking(world)
    for payload in PAYLOADS:
        await ben.say(room, payload)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        expect(page.get_by_role("log").locator(".text")).to_have_count(len(PAYLOADS))
        shown = (
            page.get_by_role("log").locator(".text").evaluate_all("all => all.map(one => one.textContent)")
        )
        plain = [payload.replace("**", "").replace("`", "") for payload in PAYLOADS]
        assert [text.replace("`", "").replace("**", "") for text in shown] == plain
        assert (
            page.locator(
                "main img, main script, main iframe, main object, main style, main form[action]"
            ).count()
            == 0
        )
        addresses = page.get_by_role("log").locator("a").evaluate_all("all => all.map(one => one.href)")
        assert all(address.startswith("https://example.org/") for address in addresses)
        scene.stop_at(page, "payloads")

    await play(world, look, story)


A_FILE: FilePayload = {"name": "map.txt", "mimeType": "text/plain", "buffer": b"x"}


async def test_what_is_written_while_a_file_goes_up_stays(world: World, look: Look) -> None:
    # The writer is called like a part of what a mention becomes.
    user, ben = await world.players("user", "Benedict")
    room = await user.talk_to(ben)

    def story(scene: Scene) -> None:
        scene.expected.add("503 (Service Unavailable)")
        page = scene.enter(user, f"/app/chat/{room.id}")
        field, choose = page.get_by_label("Message Benedict"), page.locator(".composer input[type=file]")
        held = holding(page, "**/attachments")

        def attach() -> Route:
            with page.expect_request("**/attachments"):
                choose.set_input_files(A_FILE)
            expect(field).to_have_value("")
            return held.pop()

        field.fill("@Benedict the map:")
        going_up = attach()
        scene.stop_at(page, "attaching")
        field.fill("and mind the bridge")
        going_up.continue_()
        expect(page.locator(".message:not(.waiting)").get_by_text("the map:")).to_be_visible()
        expect(field).to_have_value("and mind the bridge")
        said = scene.let(ben.get, room.messages)["items"][0]
        assert [one["id"] for one in said["mentions"]] == [ben.id]
        assert len(said["attachments"]) == 1
        going_up = attach()
        field.fill("it is broken")
        problem = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}
        going_up.fulfill(status=503, json=problem)
        expect(page.get_by_role("alert").filter(has_text="too much at once")).to_be_visible()
        expect(field).to_have_value("and mind the bridge\nit is broken")

    await play(world, look, story)


async def test_a_thread_resumes_without_loss(world: World, look: Look) -> None:
    ada, ben, room = await talking(world)

    def story(scene: Scene) -> None:
        page = scene.stranger()
        sockets: list[WebSocketRoute] = []

        def connected(near: WebSocketRoute) -> None:
            sockets.append(near)
            near.connect_to_server()

        page.route_web_socket("**/v1/social/live*", connected)
        page.goto(f"/app/chat/{room.id}")
        page.get_by_label("Access token").fill(ada.token or "")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Message Ben").wait_for()
        for number in range(9):
            if number in {3, 6}:
                sockets[-1].close(code=1012)
            scene.let(ben.say, room, f"message {number}")
        expect(page.get_by_role("log").get_by_text("message 8")).to_be_visible()
        assert log_of(page) == [f"message {number}" for number in range(9)]
        sockets[-1].close(code=1012)
        page.get_by_label("Message Ben").fill("written while nothing was connected")
        page.keyboard.press("Enter")
        expect(page.locator(".message:not(.waiting)").get_by_text("written while")).to_be_visible()
        kept = scene.let(ben.get, room.messages)
        assert [item["content"] for item in kept["items"]].count("written while nothing was connected") == 1

    await play(world, look, story)


A_FRAME_MS = 200
"""What is shown has been taken note of by then: that follows the frame in which it is drawn."""


async def test_messages_are_read_out_until_there_are_too_many(world: World) -> None:
    ada, ben, room = await talking(world)

    async def says(what: str, count: int) -> None:
        for number in range(count):
            await ben.say(room, f"{what} {number}")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        page.clock.install()
        log = page.get_by_role("log")
        page.get_by_label("Message Ben").wait_for()
        began_at = page.evaluate("Date.now()")
        for number in range(3):
            # The time of day stands still: the machine may be too slow for two messages in a second.
            page.clock.set_fixed_time(began_at + 2_000 * number)
            scene.let(ben.say, room, f"slow {number}")
            expect(log.get_by_text(f"slow {number}")).to_be_visible()
            page.clock.run_for(A_FRAME_MS)
            assert log.get_attribute("aria-live") == "polite"
        scene.let(says, "quick", 12)
        expect(log.get_by_text("quick 11")).to_be_visible()
        expect(log).to_have_attribute("aria-live", "off")
        page.clock.run_for(A_FRAME_MS)
        page.clock.run_for(10_000)
        expect(page.get_by_role("status").get_by_text("12 new messages", exact=True)).to_have_count(1)
        page.clock.run_for(10_000)
        expect(log).to_have_attribute("aria-live", "polite")

    await play(world, Look("light", 1280), story)


WINDOW = 200
"""The most messages that a thread holds (`thread-state.js`)."""


async def test_messages_that_have_left_a_thread_leave_the_memory_of_the_tab(world: World) -> None:
    ada, ben, room = await talking(world)

    def story(scene: Scene) -> None:
        page = scene.arrive(ada.token or "")
        sockets: list[WebSocketRoute] = []
        told: list[dict[str, Any]] = []

        def connected(near: WebSocketRoute) -> None:
            sockets.append(near)
            far = near.connect_to_server()

            def pass_on(frame: str | bytes) -> None:
                near.send(frame)
                if (it := json.loads(frame)).get("event") == "message_created":
                    told.append(it)

            far.on_message(pass_on)

        page.route_web_socket("**/v1/social/live*", connected)
        page.goto(f"/app/chat/{room.id}")
        page.get_by_label("Message Ben").wait_for()
        scene.let(ben.say, room, "as the service says it")
        page.get_by_role("log").get_by_text("as the service says it").wait_for()
        held = []
        for count in (WINDOW, 2 * WINDOW):
            for number in range(count - WINDOW, count, 10):
                for n in range(number, number + 10):
                    message = told[0]["data"] | {"id": f"{n:024x}", "content": f"number {n}."}
                    sockets[-1].send(json.dumps(told[0] | {"offset": None, "data": message}))
                page.get_by_role("log").get_by_text(f"number {number + 9}.").wait_for()
            held.append(in_memory(page))
        assert page.get_by_role("log").locator(".message").count() == WINDOW
        for what, before in held[0].items():
            assert held[1][what] <= before * 1.1, held

    await play(world, Look("light", 1280), story)
