"""How soon a page shows that something has ended: a right, a session, or a service that does not answer any more."""

import os
import signal
import time
from collections.abc import Callable
from statistics import median

from playwright.sync_api import Page

from scripts.console_budget.place import Place
from scripts.console_budget.rows import Row

ROUNDS = 5
SERVERS = "/v1/connect/servers"

SEEN = """(() => {
    globalThis.endedMs = 0;
    const look = () => { if (!endedMs && (CONDITION)) endedMs = Date.now(); };
    const all = { childList: true, subtree: true, attributes: true, characterData: true };
    new MutationObserver(look).observe(document, all);
    look();
})()"""
NO_SENDING = "document.querySelector('.console form button.primary')?.disabled"
SIGN_IN = "document.getElementById('signin-title')"
OLD = "document.querySelector('.panels.old')"


def endings(place: Place, seconds: float) -> list[Row]:
    """How long pages show what has ended elsewhere, measured from before the request that ends it."""
    del seconds
    return [
        _row("a right is taken away: the button is disabled", _rights(place), 2_000),
        _row("signed out in one tab: the other says so", _tabs(place), 2_000),
        _row("a session is ended from another browser", _sessions(place), 2_000),
        _row("the service stands still: the page is marked", _silence(place), 5_000),
    ]


def _row(what: str, took_ms: list[float], most_ms: float) -> Row:
    """The row of a case, in which the slowest time decides: what has ended must never stay longer."""
    said = f"{median(took_ms):,.0f} ms, the slowest {max(took_ms):,.0f} ms"
    return Row(what, said, f"≤ {most_ms:,.0f} ms", max(took_ms) <= most_ms)


def _until(page: Page, condition: str, end: Callable[[], object]) -> float:
    """Milliseconds from before `end` until a condition holds in a page."""
    watch = SEEN.replace("CONDITION", condition)
    page.add_init_script(watch)  # also for the page that may be loaded in its place
    page.evaluate(watch)
    began_ms = time.time() * 1000
    end()
    return float(page.wait_for_function("() => globalThis.endedMs").json_value()) - began_ms


def _rights(place: Place) -> list[float]:
    body = {"serverType": "paper", "serverName": "Survival"}
    made = place.asked(None, "POST", f"{SERVERS}/register", body)
    place.asked(place.ada, "POST", f"{SERVERS}/claim", {"claimKey": made["claimKey"]})
    member = f"{SERVERS}/{made['serverId']}/members/{place.ben.id}"
    place.asked(place.ada, "PUT", member, {"role": "operator"})
    page = place.entered(place.ben, f"/app/servers/{made['serverId']}/console")
    page.get_by_label("Action").fill("say")
    took = []
    for _ in range(ROUNDS):
        page.locator(".console form button.primary:enabled").wait_for()
        took.append(
            _until(page, NO_SENDING, lambda: place.asked(place.ada, "PUT", member, {"role": "viewer"}))
        )
        place.asked(place.ada, "PUT", member, {"role": "operator"})
    page.context.close()
    return took


def _tabs(place: Place) -> list[float]:
    took = []
    for _ in range(ROUNDS):
        page = place.entered(place.ada, "/app")
        other = page.context.new_page()
        other.goto("/app/friends")
        other.get_by_text("Live", exact=True).wait_for()
        page.bring_to_front()
        took.append(_until(other, SIGN_IN, page.get_by_role("button", name="Sign out").click))
        page.context.close()
    return took


def _sessions(place: Place) -> list[float]:
    took = []
    for _ in range(ROUNDS):
        page = place.entered(place.ada, "/app")
        took.append(_until(page, SIGN_IN, lambda: place.asked(place.ada, "DELETE", "/v1/sessions")))
        page.context.close()
    return took


def _silence(place: Place) -> list[float]:
    page = place.entered(place.root(), "/app/operate")
    page.locator(".panels").wait_for()
    try:
        return [_until(page, OLD, lambda: os.kill(place.server.pid, signal.SIGSTOP))]
    finally:
        os.kill(place.server.pid, signal.SIGCONT)
        page.context.close()
