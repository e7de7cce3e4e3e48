"""Walking every page of the console in one tab: which pages there are stands in `pages.js`, so that a new one is seen
without a test of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from playwright.sync_api import Page

from tests.support.waiting import PATIENCE_SECONDS

STATIC = Path(__file__).parents[2] / "routes/console/static"
SCRIPT = Path(__file__).with_suffix(".js")

EXTRA_STOPS = 24
"""Places that scroll, and parts of native controls such as dates, are stops that no selector names."""


def patterns() -> list[str]:
    """The addresses of all pages, as `pages.js` has them."""
    return re.findall(r'path: "(/app[^"]*)"', (STATIC / "pages.js").read_text())


def addresses(parts: Mapping[str, Sequence[str]]) -> list[str]:
    """An address for every page.

    Args:
        parts: {pattern: its addresses}, where it has parts that cannot be left out, or shows more with them.
    """
    return [address for one in patterns() for address in parts.get(one, [re.sub(r"/:\w+\?", "", one)])]


def name_of(path: str) -> str:
    """A name for a page by its address, without ids."""
    parts = path.split("/")[2:]
    return "-".join("one" if re.fullmatch(r"[0-9a-f-]{24,36}", part) else part for part in parts) or "home"


def go(page: Page, path: str) -> list[str]:
    """Go to a page of the console in place, which costs less than loading the console anew; the addresses of its tabs,
    when it is there. What is not saved is not asked about."""
    if page.evaluate("!window.sweep"):
        page.evaluate(SCRIPT.read_text())
    return cast(
        list[str], page.evaluate("([path, ms]) => sweep.go(path, ms)", [path, PATIENCE_SECONDS * 1000])
    )


def visit(page: Page, paths: Sequence[str]) -> Iterator[str]:
    """Go to each page in place, and to each tab that one has; yields the address when the page is there."""
    waiting = list(paths)
    seen: set[str] = set()
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        tabs = go(page, path)
        yield path
        waiting[:0] = tabs if not seen & set(tabs) else []


def found_by(page: Page, question: str) -> list[str]:
    """What a question of `sweep.js` finds on the page: `alike`, `cutOff`, `unseen` or `moving`."""
    return cast(list[str], page.evaluate(f"sweep.{question}()"))


def paint(page: Page, scheme: str) -> None:
    """Show the page `light` or `dark`."""
    page.evaluate("(scheme) => sweep.paint(scheme)", scheme)


def walk(page: Page, within: str = "main") -> list[str]:
    """Press Tab from the beginning of the page to its end; what was wrong on the way.

    Args:
        within: `main`, or `.side` for the frame around it.
    """
    controls: int = page.evaluate("(within) => sweep.begin(within)", within)
    for _ in range(controls):
        page.keyboard.press("Tab")
    for _ in range(EXTRA_STOPS):
        page.keyboard.press("Tab")
        if page.evaluate("(within) => !document.activeElement.closest(within)", within):
            break
    return found_by(page, "end")
