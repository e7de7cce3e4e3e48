"""What a tab that stays open holds on to: its heap, nodes and listeners, before and after."""

import json
from typing import Any

from playwright.sync_api import CDPSession, WebSocketRoute

from scripts.console_budget.place import Place, debugger, ten_thousand_actors
from scripts.console_budget.rows import Row

MESSAGES_PER_HOUR = 200

FRAMES = 300
"""Frames of the channel `actors` that a tab is shown; they come every two seconds, so these are ten minutes."""

FRAME_EVERY_MS = 100


def open_tab(place: Place, hours: float) -> list[Row]:
    """A tab that stays open: the page's clock runs ahead hour by hour, while messages come."""
    page = place.page()
    page.clock.install()
    page.goto(f"/app/chat/{place.room}")
    page.get_by_label("Access token").fill(place.ada.token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Message Ben").wait_for()
    session = debugger(page)
    session.send("Performance.enable")
    found = []
    for hour in range(int(hours)):
        for number in range(MESSAGES_PER_HOUR):
            place.say(place.ben, f"hour {hour}, {number}")
        page.get_by_text(f"hour {hour}, {MESSAGES_PER_HOUR - 1}").last.wait_for()
        for _ in range(60):
            page.clock.fast_forward(60_000)
        found.append(_held(session))
    page.context.close()
    return _rows(f"{len(found)} hours in a thread", found[1], found[-1])


def watching_tab(place: Place, seconds: float) -> list[Row]:
    """A tab that shows live actors, and gets the frames of ten minutes within one."""
    del seconds
    page = place.page()
    near: list[WebSocketRoute] = []

    def relay(one: WebSocketRoute) -> None:
        one.connect_to_server()
        near.append(one)

    page.route_web_socket("**/v1/social/live*", relay)
    page.route("**/v1/admin/actors*", ten_thousand_actors)
    page.goto("/app/operate/actors")
    page.get_by_label("Access token").fill(place.root().token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("10,000 of 10,000").wait_for()
    session = debugger(page)
    session.send("Performance.enable")
    found = []
    for half in range(2):  # the first half is what a page of its age has anyway, such as compiled code
        for number in range(FRAMES):
            near[-1].send(json.dumps(_frame(half * FRAMES + number)))
            page.wait_for_timeout(FRAME_EVERY_MS)
        found.append(_held(session))
    page.context.close()
    return _rows(f"{FRAMES} more frames of live actors", *found)


def _frame(number: int) -> dict[str, Any]:
    data = {"type": "actors_snapshot", "atMs": 0, "total": 0, "kinds": [], "items": []}
    return {"type": "snapshot", "channel": "actors", "epoch": "measured", "offset": number, "data": data}


def _held(session: CDPSession) -> dict[str, float]:
    session.send("HeapProfiler.collectGarbage")
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def _rows(after: str, first: dict[str, float], last: dict[str, float]) -> list[Row]:
    heap = last["JSHeapUsedSize"] / first["JSHeapUsedSize"]
    said = f"{heap:.2f} ×, {last['JSHeapUsedSize'] / 1e6:.1f} MB"
    return [
        Row(f"heap after {after}", said, "≤ 1.5 ×", heap <= 1.5),
        *(_counted(f"{words} after {after}", first[name], last[name]) for name, words in COUNTED.items()),
    ]


COUNTED = {"Nodes": "nodes", "JSEventListeners": "listeners"}
"""{name of a metric of the debugger: what it counts}."""


def _counted(what: str, first: float, last: float) -> Row:
    return Row(what, f"{first:,.0f} / {last:,.0f}", "≤ 1.5 ×", last <= 1.5 * first)
