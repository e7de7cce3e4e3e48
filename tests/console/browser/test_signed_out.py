"""What is left on a page, and behind it, when its session has ended: nothing of what it showed."""

import base64
import io

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import Player, Room, World

pytestmark = [needs_browser, pytest.mark.slow]

SECRET = "nobody else may read this"
DAYS_31_MS = 31 * 24 * 3_600_000

COUNT_BLOBS = """() => {
    const [create, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
    globalThis.blobs = new Set();
    URL.createObjectURL = (blob) => { const made = create.call(URL, blob); blobs.add(made); return made; };
    URL.revokeObjectURL = (address) => { blobs.delete(address); revoke.call(URL, address); };
}"""


async def with_a_picture(ada: Player, room: Room) -> None:
    held = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(held, "png")
    file = {
        "fileName": "private.png",
        "contentType": "image/png",
        "dataBase64": base64.b64encode(held.getvalue()).decode(),
    }
    made = await ada.do("POST", f"{room.path}/attachments", file)
    await ada.say(room, SECRET, attachmentIds=[made["id"]])


def enter(scene: Scene, ada: Player, room: Room) -> Page:
    """A page that shows the secret, and a picture from memory."""
    page = scene.stranger()
    page.add_init_script(f"({COUNT_BLOBS})()")
    page.goto(f"/app/chat/{room.id}")
    page.get_by_label("Access token").fill(ada.token or "")
    page.get_by_role("button", name="Sign in").click()
    shows(page)
    page.get_by_label("Message Ben").fill("a draft")
    return page


def shows(page: Page) -> None:
    expect(page.get_by_role("log").get_by_text(SECRET)).to_be_visible()
    expect(page.get_by_role("log").locator("img")).to_be_visible()


def shows_nothing(page: Page) -> None:
    """As somebody would see it, and as the page's tree and memory have it."""
    expect(page.get_by_role("heading", name="Sign in to Partyline")).to_be_visible()
    expect(page.locator("nav, dialog, .toast, textarea, img")).to_have_count(0)
    text = page.evaluate("document.documentElement.outerHTML")
    assert [word for word in (SECRET, "private.png", "a draft", "Ben") if word in text] == []
    page.wait_for_function("blobs.size === 0")


async def test_nothing_is_left_of_a_session_that_has_ended(world: World) -> None:
    """Signed out here, in another tab, by another session, by an operator, and by time; and on the way back."""
    ada, ben = await world.players("Ada", "Ben")
    root = await world.super_admin()
    room = await ada.talk_to(ben)
    await with_a_picture(ada, room)

    def story(scene: Scene) -> None:
        page = enter(scene, ada, room)
        beside = scene.page_in(page.context)
        beside.add_init_script(f"({COUNT_BLOBS})()")
        beside.goto(f"/app/chat/{room.id}")
        shows(beside)
        page.goto("/app/friends")
        page.get_by_role("button", name="Sign out").click()
        shows_nothing(page)
        shows_nothing(beside)
        for move in (page.go_back, page.go_forward):
            move()
            shows_nothing(page)
        ended, revoked, late = (enter(scene, ada, room) for _ in range(3))
        sessions = scene.let(ada.get, "/v1/sessions")["items"]
        oldest = min(sessions, key=lambda one: one["createdAt"])
        scene.let(ada.do, "DELETE", f"/v1/sessions/{oldest['id']}")
        shows_nothing(ended)
        shows(revoked)
        scene.let(root.do, "POST", f"/v1/admin/users/{ada.id}/revoke-tokens")
        shows_nothing(revoked)
        shows_nothing(late)

    await play(world, Look("light", 1280), story)


async def test_a_page_that_the_browser_keeps_aside_keeps_nothing(world: World) -> None:
    """As the back-forward cache does it; and a session that has ended of age says so, and is gone."""
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    await with_a_picture(ada, room)

    async def let_days_pass() -> None:
        world.advance(DAYS_31_MS)

    def story(scene: Scene) -> None:
        page = enter(scene, ada, room)
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        expect(page.get_by_role("log")).to_have_count(0)
        assert SECRET not in page.evaluate("document.documentElement.outerHTML")
        assert page.evaluate("blobs.size") == 0
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        shows(page)
        expect(page.get_by_label("Message Ben")).to_have_value("a draft")
        scene.let(let_days_pass)
        shows_nothing(page)
        expect(page.get_by_text("Your session has ended.")).to_be_visible()

    await play(world, Look("light", 1280), story)


async def test_a_tab_of_one_user_becomes_another_s_with_nothing_of_the_first(world: World) -> None:
    """The session has ended, and somebody else signs in to the browser from another tab."""
    ada, cat = await world.players("Ada", "Cat")
    ben = await world.player("Ben")
    room = await ada.talk_to(ben)
    await with_a_picture(ada, room)

    def story(scene: Scene) -> None:
        page = enter(scene, ada, room)
        session = scene.let(ada.get, "/v1/sessions")["items"][0]
        scene.let(ada.do, "DELETE", f"/v1/sessions/{session['id']}")
        shows_nothing(page)
        page.evaluate("globalThis.isOfAda = true")
        beside = scene.page_in(page.context)
        beside.goto("/app/sign-in")
        beside.get_by_label("Access token").fill(cat.token or "")
        beside.get_by_role("button", name="Sign in").click()
        for one in (beside, page):
            expect(one.get_by_role("heading", name="Hello, Cat")).to_be_visible()
        assert page.evaluate("globalThis.isOfAda ?? null") is None
        assert SECRET not in page.evaluate("document.documentElement.outerHTML")

    await play(world, Look("light", 1280), story)
