"""Every page, whichever there are: axe in both themes and widths, the narrowest phone, 200 % zoom, the keyboard alone,
forced colours, and no motion for whoever asked for none.
"""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from routes.console.static_files import shipped_static_files
from tests.console.furnished import Furnished, furnish
from tests.console.stage import Look, Scene, in_memory, needs_browser, play
from tests.console.sweep import SCRIPT, addresses, found_by, name_of, paint, visit, walk
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)
NARROWEST, PHONE, ZOOMED, DESKTOP = 320, 390, 640, 1280
"""Widths in CSS pixels; at 200 % zoom a window of 1280 has 640."""

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that a theme can break: it changes colours alone."""


@pytest.fixture
async def furnished(world: World) -> Furnished:
    return await furnish(world)


async def test_every_page_is_for_everybody(world: World, furnished: Furnished) -> None:
    """One browser and one tab go through all pages."""

    def story(scene: Scene) -> None:
        page = scene.enter(furnished.root)
        for path in visit(page, addresses(furnished.parts)):
            name = name_of(path)
            with_all_eyes(scene, page, name)
            scene.faults += [f"{name}: {one}" for width in (NARROWEST, ZOOMED) for one in fits(page, width)]
            page.set_viewport_size({"width": DESKTOP, "height": 800})
            scene.faults += [f"{name}: {one}" for one in found_by(page, "alike") + walk(page)]
            page.emulate_media(forced_colors="active", reduced_motion="reduce")
            scene.faults += [f"{name}: {one}" for one in found_by(page, "unseen") + found_by(page, "moving")]
            page.emulate_media(forced_colors="none", reduced_motion="no-preference")

    await play(world, DESK, story)


async def test_every_page_without_anything_to_show(world: World) -> None:
    rosa = await world.ranked("Rosa", "super-admin")

    def story(scene: Scene) -> None:
        page = scene.enter(rosa)
        page.set_viewport_size({"width": PHONE, "height": 800})
        for path in visit(page, addresses({"/app/servers/:id/:tab?": [], "/app/people/:id": []})):
            name = f"empty-{name_of(path)}"
            scene.look_closely(page, name)
            scene.faults += [f"{name}: {one}" for one in fits(page, NARROWEST)]
            page.set_viewport_size({"width": PHONE, "height": 800})

    await play(world, DESK, story)


def longer(entry: Any) -> Any:
    """Words as a language might have them that is a third longer and accents every letter."""
    if isinstance(entry, dict):
        return {form: longer(text) for form, text in entry.items()}
    pieces = re.split(r"(\{\w+\})", entry)
    told = ["".join(sign + ACCENT if sign.isalpha() else sign for sign in piece) for piece in pieces[::2]]
    pieces[::2] = [
        text + " " + "".join(text.split())[: len(text) // 3] if text.strip() else text for text in told
    ]
    return "".join(pieces)


ACCENT = "\N{COMBINING ACUTE ACCENT}"


CHARTS = "/app/operate"
SMALL = "/app/quests"
"""A page with few nodes, to count what others have left behind."""
LEFT = 10
"""So many nodes, and so many listeners, may be there for good once all pages were; any page has more."""


async def test_a_language_of_long_words_fits_the_narrowest_phone(furnished: Furnished) -> None:
    """No page cuts it off; it stands in for German's words here."""

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2].replace("de.", "en.", 1)
        words = json.loads(shipped_static_files().contents[f"text/{name}"])
        route.fulfill(json={key: longer(entry) for key, entry in words.items()})

    def story(scene: Scene) -> None:
        page = scene.stranger()
        page.set_viewport_size({"width": NARROWEST, "height": 800})
        page.add_init_script("localStorage.setItem('partyline-language', 'de')")
        page.route("**/text/de*.json", answer)
        page.goto("/app")
        page.get_by_label(longer("Access token")).fill(furnished.root.token or "")
        page.get_by_role("button", name=longer("Sign in")).click()
        page.get_by_text(longer("Live"), exact=True).wait_for()
        page.locator("nav [href='/app/operate/audit']").wait_for(state="attached")
        # The last page with charts stays in memory once these were drawn, and none before it: what grows is counted.
        for _ in visit(page, [CHARTS]):
            page.locator(".u-over").first.wait_for()
        (before,) = (in_memory(page) for _ in visit(page, [SMALL]))
        for path in visit(page, addresses(furnished.parts)):
            scene.faults += [f"long-{name_of(path)}: {one}" for one in found_by(page, "cutOff")]
        (after,) = (in_memory(page) for _ in visit(page, [SMALL]))
        assert all(after[what] <= before[what] + LEFT for what in before), (before, after)

    await play(furnished.root.world, DESK, story)


async def test_the_frame_is_walked_by_tab(world: World) -> None:
    rosa = await world.ranked("Rosa", "super-admin")

    def story(scene: Scene) -> None:
        page = scene.enter(rosa)
        page.evaluate(SCRIPT.read_text())
        scene.faults += walk(page, ".side")
        for width in (PHONE, NARROWEST):
            page.set_viewport_size({"width": width, "height": 800})
            page.get_by_role("button", name="Menu").click()
            scene.faults += walk(page, ".side") + fits(page, width)
            scene.look_closely(page, f"menu-{width}")
            page.get_by_role("button", name="Menu").click()

    await play(world, DESK, story)


def with_all_eyes(scene: Scene, page: Page, name: str) -> None:
    """Have axe look at the page, which is as wide as a desk, in both themes and then on a phone; what was seen before
    in both themes is not looked at in both again, since colours do not depend on how wide the page is."""
    scene.look_closely(page, f"{name}-light-{DESKTOP}")
    paint(page, "dark")
    scene.look_closely(page, f"{name}-dark-{DESKTOP}", COLOURS)
    page.evaluate("sweep.remember()")
    page.set_viewport_size({"width": PHONE, "height": 800})
    scene.look_closely(page, f"{name}-dark-{PHONE}")
    paint(page, "light")
    scene.look_closely(page, f"{name}-light-{PHONE}", COLOURS, of="sweep.news()")


def fits(page: Page, width: int) -> list[str]:
    page.set_viewport_size({"width": width, "height": 800})
    return [f"{width} px: {one}" for one in found_by(page, "cutOff")]


async def test_a_page_that_comes_gets_the_focus_and_is_announced(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)

    def story(scene: Scene) -> None:
        page = scene.enter(ada)
        for link, heading in (("Friends", "Friends"), ("Chat", "Chat"), ("Home", "Hello, Ada")):
            page.get_by_role("link", name=link, exact=True).click()
            expect(page.get_by_role("heading", name=heading, level=1, exact=True)).to_be_focused()
            expect(page).to_have_title(f"{link} · Partyline")
            expect(page.get_by_role("status").get_by_text(link, exact=True)).to_have_count(1)
        # What had the focus is gone with the list that it stood in.
        page.set_viewport_size({"width": PHONE, "height": 800})
        page.goto("/app/chat")
        page.get_by_role("link", name="Ben").press("Enter")
        expect(page.get_by_role("heading", name="Ben", level=1)).to_be_focused()
        assert room.id in page.url

    await play(world, DESK, story)
