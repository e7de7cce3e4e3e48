"""Check 11: sixty payloads through every field that others see. Nothing runs, nothing is drawn but text, the policy has
nothing to refuse, and every text stands on its page as it was written. Many and long as they are, axe finds nothing in
what can be opened.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.console.fields import FIELDS, Cast, gathered
from tests.console.payloads import PAYLOADS, TRUSTED_LINK
from tests.console.stage import Look, Scene, needs_browser, play
from tests.console.sweep import go, name_of
from tests.support.world import World, open_world

pytestmark = [needs_browser, pytest.mark.drill]

STRANGE = """(trusted) => {
    const tags = ["SCRIPT", "IFRAME", "OBJECT", "EMBED", "STYLE", "BASE", "META", "LINK", "MATH", "VIDEO", "TEMPLATE"];
    const isStrange = (one) => tags.includes(one.tagName.toUpperCase())
        || (one.tagName === "IMG" && one.src && new URL(one.src).origin !== location.origin)
        || (one.tagName === "FORM" && one.hasAttribute("action"))
        || (typeof one.href === "string" && !one.href.startsWith(location.origin) && !one.href.startsWith(trusted))
        || [...one.attributes].some(({ name }) => name.startsWith("on"));
    return [...document.body.querySelectorAll("*")].filter(isStrange).map((one) => one.outerHTML.slice(0, 200));
}"""
"""Elements that only what somebody has written could have made."""

BARE = """(texts) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const said = walker.currentNode.data.replace(/[ \\t\\r\\n]+/g, " ");
        const isolated = walker.currentNode.parentElement.closest("bdi, [dir=auto], code, pre, option, textarea");
        if (isolated === null && texts.some((text) => said.includes(text))) found.push(said.slice(0, 200));
    }
    return found;
}"""
"""Texts that could turn around what stands beside them."""

MISSING = """(texts) => {
    const fields = [...document.querySelectorAll("input, textarea, option")].map((one) => one.value);
    const shown = [document.body.textContent, ...fields].join("\\n").replace(/[ \\t\\r\\n]+/g, " ");
    return texts.filter((text) => !shown.includes(text));
}"""


OPEN = """() => {
    for (const one of document.querySelectorAll("main details:not([open])")) one.open = true;
    for (const one of document.querySelectorAll("main button[aria-expanded=false]")) one.click();
}"""


def spaced(text: str) -> str:
    """Runs of white space as one space, as pages show them."""
    return " ".join(text.split())


def look_at(scene: Scene, page: Page, path: str, texts: list[str]) -> None:
    if path.startswith("/app"):
        go(page, path)
    else:
        page = watched(scene, scene.page_in(page.context))
        page.goto(path)
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    wanted = [spaced(text) for text in texts]
    try:
        page.wait_for_function(f"(texts) => ({MISSING})(texts).length === 0", arg=wanted)
    except TimeoutError:
        assert page.evaluate(MISSING, wanted) == [], path
    assert page.evaluate(STRANGE, TRUSTED_LINK) == [], path
    assert page.evaluate(BARE, wanted) == [], path
    page.evaluate(OPEN)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    scene.look_closely(page, f"opened-{name_of(path)}")
    assert page.evaluate(STRANGE, TRUSTED_LINK) == [], path


@pytest.fixture
async def world(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        yield world


@pytest.mark.parametrize("group", FIELDS)
async def test_what_anybody_writes_is_shown_as_text(world: World, group: str) -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) == 60
    cast = await gathered(world)
    shown = await FIELDS[group](world, cast)

    def story(scene: Scene) -> None:
        pages = {player.id: watched(scene, scene.enter(player)) for player in (cast.ada, cast.root)}
        for path, texts in shown.items():
            look_at(scene, pages[viewer_of(cast, path)], path, texts)

    await play(world, Look("light", 1280), story)


def viewer_of(cast: Cast, path: str) -> str:
    return cast.root.id if path.startswith("/app/operate") else cast.ada.id


def watched(scene: Scene, page: Page) -> Page:
    page.on("dialog", lambda dialog: scene.faults.append(f"a dialog: {dialog.message}"))
    return page
