"""The views of the console of which there are pictures."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Page

from scripts.console_budget.place import WAIT_MS, Person, Place
from scripts.console_pictures.furniture import Furniture

SAMPLED_SECONDS = 75
"""How long to wait for samples of health: fifteen of them."""


class View(NamedTuple):
    """A picture.

    Args:
        name: the name of the file.
        who: returns the person who looks.
        path: returns the path of the page.
        ready: does what the picture is to show, and waits until the page shows it.
        size: width and height of the window, in CSS pixels.
        scheme: the theme.
    """

    name: str
    who: Callable[[Place, Furniture], Person]
    path: Callable[[Place, Furniture], str]
    ready: Callable[[Page, Place], None]
    size: tuple[int, int] = (1100, 640)
    scheme: Literal["light", "dark"] = "light"


def take(place: Place, furniture: Furniture, view: View, file: Path) -> None:
    """Take a picture; a file that is there is replaced."""
    width, height = view.size
    context = place.browser.new_context(
        base_url=place.url, viewport={"width": width, "height": height}, color_scheme=view.scheme
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    token = view.who(place, furniture).token
    headers = {"authorization": f"Bearer {token}", "origin": place.url}
    page.request.post("/v1/sessions", data={}, headers=headers)
    page.goto(view.path(place, furniture))
    page.get_by_text("Live", exact=True).wait_for(state="attached")
    view.ready(page, place)
    page.screenshot(path=file, animations="disabled")
    context.close()


def _thread(page: Page, _: Place) -> None:
    page.get_by_role("log").get_by_text("Tonight it is.").wait_for()
    page.locator(".inbox [aria-current=page] .badge").wait_for(state="detached")  # it is read by now


def _commands(page: Page, _: Place) -> None:
    result = page.locator("li", has_text="count").locator("summary", has_text="Result")
    result.first.click()
    page.get_by_text("counted").wait_for()
    page.locator("main").evaluate("(main) => main.scrollTo(0, 0)")


def _health(page: Page, place: Place) -> None:
    page.locator(".panels").wait_for()
    for second in range(SAMPLED_SECONDS):  # more and less is said as time goes by
        for number in range(4 + 3 * (second // 7 % 4)):
            place.say(place.ben, f"{second}.{number}")
        page.wait_for_timeout(1_000)


def _rights(page: Page, _: Place) -> None:
    page.get_by_label("Filter rights").fill("social")
    page.get_by_text("social:friends.max").first.wait_for()
    page.get_by_role("heading", name="What they may do").evaluate("(one) => one.scrollIntoView()")


def _capes(page: Page, _: Place) -> None:
    drawn = page.locator(".judged img[src^='blob:']")
    drawn.nth(3).wait_for()
    drawn.evaluate_all("(all) => Promise.all(all.map((one) => one.decode()))")


def _reports(page: Page, _: Place) -> None:
    page.get_by_text("Reported of Cleo").first.click()
    page.get_by_text("Warned, and apologised since").wait_for()
    for key in 2 * ("x", "j"):
        page.keyboard.press(key)
    page.get_by_role("region", name="What is chosen").wait_for()


def _person(page: Page, _: Place) -> None:
    page.get_by_role("heading", name="Ben", level=1).wait_for()
    page.get_by_text("islands.example.org").first.wait_for()


def _ada(place: Place, _: Furniture) -> Person:
    return place.ada


def _root(_: Place, furniture: Furniture) -> Person:
    return furniture.root


# Health comes last, since the other pictures would show what is posted while its samples are taken.
VIEWS = (
    View("thread", _ada, lambda place, _: f"/app/chat/{place.room}", _thread),
    View("phone", _ada, lambda place, _: f"/app/chat/{place.room}", _thread, (390, 760), "dark"),
    View("console", _ada, lambda _, it: f"/app/servers/{it.server}/console", _commands),
    View("rights", _root, lambda _, it: f"/app/operate/users/{it.cleo.id}", _rights),
    View("capes", _root, lambda *_: "/app/operate/capes", _capes),
    View("reports", _root, lambda *_: "/app/operate/reports", _reports),
    View("person", _ada, lambda place, _: f"/app/people/{place.ben.id}", _person, (390, 760), "dark"),
    View("health", _root, lambda *_: "/app/operate", _health, scheme="dark"),
)
