"""Every page: for whom it is, without a mouse, at 320 pixels, and what it says where there is nothing to see."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from routes.console.static_files import read_static_files
from tests.connect.play import claimed
from tests.console.stage import Look, Scene, needs_browser, play
from tests.networks.play import network
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

PLAY = (
    "",
    "/chat",
    "/friends",
    "/party",
    "/discover",
    "/saved",
    "/quests",
    "/capes",
    "/totem",
    "/news",
    "/shop",
    "/notifications",
    "/profile",
)
RUN = ("/servers", "/servers/claim", "/networks", "/extensions")
OPERATE = (
    "/operate",
    "/operate/listing",
    "/operate/users",
    "/operate/reports",
    "/operate/capes",
    "/operate/actors",
    "/operate/audit",
    "/operate/gateways",
    "/operate/voice",
    "/operate/versions",
    "/operate/launcher",
    "/operate/news",
    "/operate/shop",
)


async def test_every_page_passes_axe_and_does_not_scroll_sideways(world: World, look: Look) -> None:
    root = await world.super_admin()

    def story(scene: Scene) -> None:
        page = scene.enter(root)
        for path in (*PLAY, *RUN, *OPERATE):
            page.goto(f"/app{path}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            scene.stop_at(page, path.strip("/").replace("/", "-") or "home")

    await play(world, look, story)


async def test_every_page_fits_the_narrowest_phone(world: World) -> None:
    root = await world.super_admin()

    def story(scene: Scene) -> None:
        page = scene.enter(root)
        for path in (*PLAY, *RUN, *OPERATE):
            page.goto(f"/app{path}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            scene.stop_at(page, f"narrow{path.replace('/', '-')}")

    await play(world, Look("light", 320), story)


TABS_OF_SERVERS = ("overview", "console", "settings", "members", "publication", "extensions", "danger")
TABS_OF_NETWORKS = ("servers", "domains", "profile", "publication", "dns", "discord")


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


async def test_a_language_of_long_words_fits_the_narrowest_phone(world: World) -> None:
    """No page cuts it off or scrolls sideways; it stands in for German's words here."""
    root = await world.super_admin()
    server = await claimed(world, root, "Survival")
    net = await network(root, "Islands")
    await net.claim("islands.example.org")
    tabs = [f"/servers/{server.id}/{tab}" for tab in TABS_OF_SERVERS]
    tabs += [f"/networks/{net.id}/{tab}" for tab in TABS_OF_NETWORKS]

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2].replace("de.", "en.", 1)
        words = json.loads(read_static_files().contents[f"text/{name}"])
        route.fulfill(json={key: longer(entry) for key, entry in words.items()})

    def story(scene: Scene) -> None:
        page = scene.stranger()
        page.add_init_script("localStorage.setItem('partyline-language', 'de')")
        page.route("**/text/de*.json", answer)
        page.goto("/app")
        page.get_by_label(longer("Access token")).fill(root.token or "")
        page.get_by_role("button", name=longer("Sign in")).click()
        page.get_by_text(longer("Live"), exact=True).wait_for()
        for path in (*PLAY, *RUN, *OPERATE, *tabs):
            page.goto(f"/app{path}")
            expect(page.get_by_role("heading", level=1).first).to_be_visible()
            expect(page.locator("[aria-busy=true]")).to_have_count(0)
            scene.fits(page, f"long{path}")

    await play(world, Look("light", 320), story)


async def test_without_a_mouse(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)

    def story(scene: Scene) -> None:
        page = scene.enter(ada)
        page.reload()
        page.get_by_role("heading", name="Hello, Ada").wait_for()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # skips to the content
        assert page.evaluate("document.activeElement.id") == "main"
        page.goto(f"/app/chat/{room.id}")
        page.get_by_label("Message Ben").focus()
        page.keyboard.type("typed")
        page.keyboard.press("Enter")
        expect(page.get_by_role("log").get_by_text("typed")).to_be_visible()
        page.goto("/app/friends")
        page.get_by_role("heading", name="Friends", exact=True).wait_for()
        # On a change of page its title gets the focus, so that it is read out.
        page.get_by_role("link", name="Profile").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Profile", level=1)).to_be_focused()

    await play(world, Look("light", 1280), story)


async def test_what_one_may_not_see_is_not_offered_and_says_why(world: World, look: Look) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected.add("403 (Forbidden)")
        page = scene.enter(ada)
        expect(page.get_by_role("link", name="Live actors")).to_have_count(0)
        page.goto("/app/operate/actors")
        expect(page.get_by_role("alert")).to_contain_text("You may not do this.")
        page.goto("/app/nowhere")
        expect(page.get_by_role("heading", name="No such page")).to_be_visible()
        scene.stop_at(page, "no-page")

    await play(world, look, story)


async def test_the_landing_page_needs_neither_session_nor_scripts(world: World, look: Look) -> None:
    """Check 30: what this is, the public servers, and the ways in."""
    ada = await world.player("Ada")
    server = await claimed(world, ada, "Islands")
    await ada.do(
        "PUT",
        f"/v1/connect/publications/server/{server.id}",
        {"displayName": "Survival Islands", "address": "play.example.org"},
    )

    def story(scene: Scene) -> None:
        page = scene.stranger(java_script_enabled=False)
        page.goto("/")
        expect(page.get_by_role("heading", name="Partyline")).to_be_visible()
        expect(page.get_by_text("Survival Islands")).to_be_visible()
        expect(page.get_by_role("link", name="Interface for programs")).to_have_attribute("href", "/docs")
        page.get_by_role("link", name=re.compile("Sign in")).click()
        assert page.url == f"{world.url}/app"
        page.close()  # a browser complains some seconds later about what only scripts would fetch
        with_scripts = scene.stranger()
        with_scripts.goto("/")
        scene.stop_at(with_scripts, "landing")
        with_scripts.get_by_role("link", name=re.compile("Sign in")).click()
        with_scripts.get_by_label("Access token").wait_for()

    await play(world, look, story)
