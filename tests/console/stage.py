"""A real browser beside a world. Stories run in one thread of their own, as the browser's driver wants it, and ask the
world to do things meanwhile. The browser stays from story to story, since starting it costs more than most stories do;
cookies, storage and pages are a story's own.

Every fault on a page fails its story: an exception, a line on the console, a breach of the policy, a request to
another server, and whatever axe finds.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import pytest
import trio
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    Request,
    Route,
    expect,
    sync_playwright,
)

from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import Player

T = TypeVar("T")

AXE = Path(__file__).parent / "vendor/axe.min.js"
WHAT_AXE_FINDS = """async (options) => {
  if (!window.axe) return null;
  const seen = OF;
  if (seen.length === 0) return [];
  const { violations } = await axe.run(seen, options);
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
}"""
"""Without what it would fetch for the rules about orientation, which is off, and about sound, which no page has."""

PICTURES = os.environ.get("PICTURES")
"""A folder that gets a picture of each page that a story stops at; a person looks at them."""

expect.set_options(timeout=PATIENCE_SECONDS * 1000)

NOT_SIGNED_IN = "401 (Unauthorized)"
"""What Chromium writes on the console where the page asks for a session and this browser has none."""


class Look(NamedTuple):
    """How a browser is set up."""

    scheme: Literal["light", "dark"]
    width: int


class Reached(Protocol):
    """A service that a browser reaches: a world, or a process of its own."""

    @property
    def url(self) -> str:
        """The base address."""
        ...


LOOKS = (Look("light", 1280), Look("dark", 390))


@dataclass
class Scene:
    """What a story works with.

    Args:
        service: what is looked at; only to be touched through `let`.
        browser: its contexts are persons, each with cookies of their own.
        look: of every person's browser.
        token: of the trio that the service runs in.
    """

    service: Reached
    browser: Browser
    look: Look
    token: trio.lowlevel.TrioToken
    faults: list[str] = field(default_factory=list)
    expected: set[str] = field(default_factory=lambda: {NOT_SIGNED_IN})
    """Parts of lines on the console that belong to the story."""

    def let(self, act: Callable[..., Awaitable[T]], *args: Any, **more: Any) -> T:
        """Have something done in the thread of the tests, and wait for it."""

        async def run() -> T:
            return await act(*args, **more)

        return trio.from_thread.run(run, trio_token=self.token)

    def stranger(self, **more: Any) -> Page:
        """A page of a browser in which nobody is signed in; `more` is how else it is set up."""
        return self._opened(self.browser.new_context(**self._looks(), **more))

    def started_again(self, profile: Path) -> Page:
        """A page of a browser of its own that keeps things in a folder; whoever closes its context closes it."""
        driver = self.browser.browser_type
        return self._opened(driver.launch_persistent_context(profile, **_launching(), **self._looks()))

    def _looks(self) -> dict[str, Any]:
        return {
            "color_scheme": self.look.scheme,
            "viewport": {"width": self.look.width, "height": 800},
            "base_url": self.service.url,
        }

    def _opened(self, context: BrowserContext) -> Page:
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        return self.page_in(context)

    def page_in(self, context: BrowserContext) -> Page:
        """Another tab of a browser."""
        page = context.new_page()
        page.on("request", self._watch)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda line: (
                self.faults.append(f"{page.url}: {line.text}")
                if line.type in {"error", "warning"} and not any(part in line.text for part in self.expected)
                else None
            ),
        )
        return page

    def _watch(self, request: Request) -> None:
        if not request.url.startswith((f"{self.service.url}/", "blob:", "data:")):
            self.faults.append(f"{request.frame.url} asks another server: {request.url}")

    def enter(self, player: Player, path: str = "/app") -> Page:
        """A page of a person who signs in with their token."""
        return self.enter_with(player.token or "", path)

    def enter_with(self, token: str, path: str = "/app") -> Page:
        """A page of whoever a token is of, in a browser that is signed in: how that is done has stories of its own."""
        page = self.arrive(token)
        page.goto(path, wait_until="commit")
        page.get_by_text("Live", exact=True).wait_for()
        return page

    def arrive(self, token: str) -> Page:
        """A page of whoever a token is of, signed in and empty: for what a story prepares before it loads."""
        page = self.stranger()
        headers = {"authorization": f"Bearer {token}", "origin": self.service.url}
        made = page.request.post("/v1/sessions", data={}, headers=headers)
        assert made.status == 201, made.text()
        return page

    def stop_at(self, page: Page, name: str) -> None:
        """Have axe look at the page as it is now, and leave a picture of it."""
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        self.look_closely(page, f"{name}-{self.look.scheme}-{self.look.width}")
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
            self.faults.append(f"{name}: the page scrolls sideways")

    def look_closely(self, page: Page, name: str, rules: Sequence[str] = (), of: str = "document") -> None:
        """Have axe look at the page, and leave a picture of it.

        Args:
            name: of the picture.
            rules: of axe; none = all that are on by default.
            of: the elements that axe looks at, as an expression in the page.
        """
        options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False, "selectors": False}
        if rules:
            options["runOnly"] = {"type": "rule", "values": list(rules)}
        look = WHAT_AXE_FINDS.replace("OF", of)
        found = page.evaluate(look, options)
        if found is None:
            page.evaluate(AXE.read_text())
            found = page.evaluate(look, options)
        self.faults += [f"{name}: {one}" for one in found]
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/{name}.png")


def holding(page: Page, pattern: str) -> list[Route]:
    """The requests that are held back from now on; a test lets them go on, or answers them."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(pattern, hold)
    return held


def at_the_keyboard(page: Page) -> None:
    """Press a key that does nothing, and wait for what is loaded for those who use keys: it keeps the focus."""
    with page.expect_response("**/ui-lost-focus.js") as loaded:
        page.keyboard.press("Shift")
    page.evaluate("(address) => import(address)", loaded.value.url)


def in_memory(page: Page) -> dict[str, int]:
    """How many nodes and listeners there are, also those that no page shows any more, after what can go is gone."""
    debugger = page.context.new_cdp_session(page)
    debugger.send("HeapProfiler.collectGarbage")
    counted = debugger.send("Memory.getDOMCounters")
    debugger.detach()
    return {"nodes": counted["nodes"], "listeners": counted["jsEventListeners"]}


CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")


def chromium() -> str | None:
    """The browser that is there: `CHROMIUM`, or Debian's; the one without a window takes half the time."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(which, CHROMIUMS)), None)


needs_browser = pytest.mark.skipif(
    chromium() is None, reason="no Chromium here: apt-get install chromium-headless-shell"
)
"""Marks what cannot be seen without a browser."""


async def play(service: Reached, look: Look, story: Callable[[Scene], None]) -> None:
    """Run a story to its end."""
    token = trio.lowlevel.current_trio_token()

    def run() -> None:
        browser = _THEATRE.browser()
        scene = Scene(service, browser, look, token)
        try:
            story(scene)
        finally:
            for context in browser.contexts:
                context.close()
        if scene.faults:
            pytest.fail("\n".join(scene.faults))

    await trio.to_thread.run_sync(_THEATRE.thread.submit(run).result)


def _launching() -> dict[str, Any]:
    # Only root needs to leave the sandbox out.
    return {"executable_path": chromium(), "args": ["--no-sandbox"] if os.geteuid() == 0 else []}


def close_browser() -> None:
    """End the browser that the stories of this process have used, if there was any."""
    _THEATRE.thread.submit(_THEATRE.close).result()
    _THEATRE.thread.shutdown()


class _Theatre:
    """The one browser of a process, and the one thread that may touch it."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "stories")
        self._driver: Playwright | None = None
        self._browser: Browser | None = None

    def browser(self) -> Browser:
        """The browser; a new one where it has not been started, or a story has brought it down."""
        self._driver = self._driver or sync_playwright().start()
        if self._browser is None or not self._browser.is_connected():
            self._browser = self._driver.chromium.launch(**_launching())
        return self._browser

    def close(self) -> None:
        """End browser and driver."""
        if self._browser is not None:
            self._browser.close()
        if self._driver is not None:
            self._driver.stop()


_THEATRE = _Theatre()
