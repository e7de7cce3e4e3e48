"""Reading a thread: what has been in sight is read, and what somebody reads stays where it is."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import Player, Room, World
from tests.users.play import erase

pytestmark = [needs_browser, pytest.mark.slow]
DESK = Look("light", 1280)

WINDOW = 200
"""The most messages that a thread shows (`thread-state.js`)."""

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


async def talked(world: World, lines: int) -> tuple[Player, Player, Room]:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    for n in range(lines):
        if n % 25 == 0:
            world.advance(11_000)  # past what one may say in a while
        await ben.say(room, f"line {n:03}")
    return ada, ben, room


def unread(page: Page, count: int) -> None:
    badge = page.locator(".inbox .badge")
    if count:
        expect(badge).to_have_text(f"{count} unread")
    else:
        expect(badge).to_have_count(0)


def shown(page: Page) -> list[int]:
    """The numbers of the lines in the thread."""
    texts = page.get_by_role("log").locator(".text").all_inner_texts()
    return [int(text.removeprefix("line ")) for text in texts]


def scroll(page: Page, to: str) -> None:
    page.get_by_role("log").evaluate(f"box => {{ box.scrollTop = {to}; }}")
    page.evaluate("() => new Promise(requestAnimationFrame)")


def go_back(page: Page, lines: int) -> tuple[Locator, Locator]:
    """Show older pages of a thread of so many lines, up to its twentieth; returns its log and the messages there."""
    log = page.get_by_role("log")
    messages = log.locator(".message")
    expect(messages).to_have_count(100)
    for first in range(lines - 200, 0, -100):
        scroll(page, "0")
        page.get_by_role("button", name="Show older messages").click()
        expect(messages.first).to_contain_text(f"line {first:03}")
        expect(log.get_by_text(f"line {first + 100:03}")).to_be_in_viewport()
    return log, messages


async def test_what_one_comes_to_later_is_read(world: World) -> None:
    ada, ben, room = await talked(world, 50)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        expect(page.get_by_role("log").get_by_text("line 049")).to_be_in_viewport()
        unread(page, 0)
        scroll(page, "0")
        for n in (50, 51):
            scene.let(ben.say, room, f"line {n:03}")
        unread(page, 2)
        page.get_by_role("button", name="2 new messages").click()
        expect(page.get_by_role("log").get_by_text("line 051")).to_be_in_viewport()
        unread(page, 0)

    await play(world, DESK, story)


async def test_what_comes_to_a_hidden_tab_is_read_when_it_is_seen(world: World) -> None:
    ada, ben, room = await talked(world, 1)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        expect(page.get_by_role("log").get_by_text("line 000")).to_be_visible()
        unread(page, 0)
        page.evaluate(HIDE, True)
        scene.let(ben.say, room, "line 001")
        unread(page, 1)
        page.evaluate(HIDE, False)
        unread(page, 0)

    await play(world, DESK, story)


async def test_older_messages_stay_while_one_reads_them(world: World) -> None:
    ada, ben, room = await talked(world, 420)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        log, _ = go_back(page, 420)
        assert shown(page) == list(range(20, 20 + WINDOW))
        scroll(page, "0")
        scene.let(ben.do, "POST", f"{room.path}/typing")
        expect(page.get_by_text("Ben is writing…")).to_be_visible()
        scene.let(ben.say, room, "line 420")
        expect(page.get_by_role("button", name="1 new message")).to_be_visible()
        assert shown(page) == list(range(20, 20 + WINDOW))
        expect(log.get_by_text("line 020")).to_be_in_viewport()
        scene.stop_at(page, "reading")

    await play(world, DESK, story)


@pytest.mark.parametrize("lines", [320, 420], ids=["beside-the-newest", "far-from-the-newest"])
async def test_one_stays_where_one_reads_when_somebody_is_erased(world: World, lines: int) -> None:
    """All is shown anew then, and every message, however old, without their name."""
    ada, ben, cid = await world.players("Ada", "Ben", "Cid")
    room = await ada.talk_to(ben, cid)
    for n in range(lines):
        if n % 25 == 0:
            world.advance(11_000)
        await (ben, cid)[n % 2].say(room, f"line {n:03}")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        log, messages = go_back(page, lines)
        scroll(page, "0")
        expect(log.get_by_text("Cid", exact=True).first).to_be_visible()
        page.clock.install()
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        scene.let(erase, world, cid)
        page.clock.resume()  # nothing was read again before all of it was rewritten
        expect(log.get_by_text("Cid", exact=True)).to_have_count(0)
        assert shown(page) == list(range(20, 20 + WINDOW))
        expect(log.get_by_text("line 020")).to_be_in_viewport()
        for last in range(319, lines - 100, 100):
            page.get_by_role("button", name="Show newer messages").click()
            expect(messages.last).to_contain_text(f"line {last:03}")
        scroll(page, "box.scrollHeight")
        expect(messages.last).to_contain_text(f"line {lines - 1:03}")
        assert shown(page) == list(range(lines - WINDOW, lines))
        expect(log.get_by_text("Cid", exact=True)).to_have_count(0)

    await play(world, DESK, story)


async def test_what_was_left_out_is_there_on_the_way_back(world: World) -> None:
    ada, ben, room = await talked(world, 420)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        log, messages = go_back(page, 420)
        for n in range(420, 425):
            scene.let(ben.say, room, f"line {n:03}")
        expect(page.get_by_role("button", name="5 new messages")).to_be_visible()
        for last in (319, 324):  # a page, and what has come since of the next
            page.get_by_role("button", name="Show newer messages").click()
            expect(messages.last).to_contain_text(f"line {last:03}")
            expect(messages).to_have_count(WINDOW)
        expect(page.get_by_role("button", name="Show newer messages")).to_have_count(0)
        scroll(page, "box.scrollHeight")
        expect(messages.last).to_contain_text("line 424")
        assert shown(page) == list(range(225, 425))
        expect(log.get_by_text("line 324")).to_be_in_viewport()
        unread(page, 5)
        scroll(page, "box.scrollHeight")
        unread(page, 0)
        scene.let(ben.say, room, "line 425")
        expect(log.get_by_text("line 425")).to_be_in_viewport()
        assert shown(page) == list(range(226, 426))

    await play(world, DESK, story)


async def test_what_one_writes_among_older_messages_stands_behind_the_newest(world: World) -> None:
    ada, _, room = await talked(world, 320)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/chat/{room.id}")
        _, messages = go_back(page, 320)
        expect(page.get_by_role("button", name="To the newest")).to_be_visible()
        page.get_by_label("Message Ben").fill("line 320")
        page.keyboard.press("Enter")
        expect(messages.last).to_contain_text("line 320")
        expect(messages.last).to_be_in_viewport()
        assert shown(page) == list(range(220, 321))
        expect(page.get_by_role("button", name="To the newest")).to_have_count(0)

    await play(world, DESK, story)
