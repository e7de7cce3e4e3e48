"""The cases that are measured in a browser: a function for each, which returns rows of the table."""

import threading
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Page

from scripts.console_budget.endings import endings
from scripts.console_budget.open_tab import open_tab, watching_tab
from scripts.console_budget.place import Place, debugger, ten_thousand_actors
from scripts.console_budget.rows import Row, timed

ROUNDS = 5
RATE_PER_SECOND = 50
LONG_TASK_MS = 50
STEPS = 200
PRESSED = """() => {
    const press = () => { globalThis.pressed = Date.now(); };
    addEventListener("keydown", press, { once: true, capture: true });
}"""


def first_load(place: Place, seconds: float) -> list[Row]:
    """Times of a browser with an empty cache: until the sign-in form, until a thread (with a session), and until
    `/docs`."""
    del seconds
    place.say(place.ben, "first words")
    paint, form, cold, warm, docs = [], [], [], [], []
    for _ in range(ROUNDS):
        page = place.entered(place.ada, f"/app/chat/{place.room}")
        paint.append(_first_paint(page))
        form.append(page.evaluate("measured.form"))
        page.get_by_role("log").get_by_text("first words").wait_for()
        debugger(page).send("Network.clearBrowserCache")
        cold.append(_reloaded(page))
        warm.append(_reloaded(page))
        page.goto("/docs")
        page.locator(".opblock-tag").first.click()
        page.locator(".opblock").first.wait_for()
        docs.append(page.evaluate("performance.now()"))
        page.context.close()
    return [
        timed("first paint, cold", paint, 1_000),
        timed("form to sign in with, cold", form, 1_500),
        timed("thread with its messages, cold, signed in", cold, 1_500),
        timed("the same again, from the cache", warm, 1_000),
        timed("first operation of /docs", docs, 2_000),
    ]


def _reloaded(page: Page) -> float:
    page.reload()
    page.wait_for_function("() => measured.thread")
    return float(page.evaluate("measured.thread"))


def _first_paint(page: Page) -> float:
    return float(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


def latency(place: Place, seconds: float) -> list[Row]:
    """Times from Enter in one browser to the message in the page of another."""
    del seconds
    one, other = (place.entered(person, f"/app/chat/{place.room}") for person in (place.ada, place.ben))
    took = []
    for number in range(20):
        text = f"quick {number}"
        one.get_by_label("Message Ben").fill(text)
        seen = f"""() => new Promise((seen) => new MutationObserver(function () {{
            if (document.querySelector("[role=log]").textContent.includes("{text}")) seen(Date.now());
        }}).observe(document, {{ childList: true, subtree: true, characterData: true }}))"""
        other.evaluate(f"() => {{ globalThis.seen = ({seen})(); }}")
        one.evaluate(PRESSED)
        one.keyboard.press("Enter")
        took.append(other.evaluate("globalThis.seen") - one.evaluate("globalThis.pressed"))
    _close(one, other)
    return [timed("from Enter to the page of another, p95", [_p95(took)], 100)]


def thread(place: Place, seconds: float) -> list[Row]:
    """An open thread at fifty messages a second, while somebody types."""
    page = place.entered(place.ada, f"/app/chat/{place.room}")
    page.get_by_label("Message Ben").wait_for()
    page.evaluate(
        "() => { measured.longTasks.length = measured.frames.length = measured.inputs.length = 0; }"
    )
    worked = _work(page)
    stop = threading.Event()
    sent: list[int] = []
    writer = threading.Thread(target=_write, args=(place, stop, sent))
    began = time.monotonic()
    writer.start()
    most = 0
    while time.monotonic() - began < seconds:
        page.keyboard.press("a")
        page.wait_for_timeout(500)
        most = max(most, page.locator("[role=log] .message").count())
    stop.set()
    writer.join()
    ran = time.monotonic() - began
    measured: dict[str, Any] = page.evaluate("measured")
    work = worked() / ran
    _close(page)
    per_second = len(measured["frames"]) / (sum(measured["frames"]) / 1000)
    return [
        Row("messages a second", f"{len(sent) / ran:.1f}", "", True),
        Row("frames a second", f"{per_second:.1f}", "≥ 55", per_second >= 55),
        timed("frame, p95", [_p95(measured["frames"])], 33),
        _long_tasks(measured["longTasks"]),
        timed("a key to the next frame, p95", [_p95(measured["inputs"] or [16.0])], 100),
        Row("CPU of the page's thread", f"{work * 100:.0f} % of a core", "", True),
        Row("messages in the page", f"{most}", "≤ 200", most <= 200),
    ]


def _work(page: Page) -> Callable[[], float]:
    """CPU seconds that the page's thread uses from now on; what else the machine does is not in it."""
    session = debugger(page)
    session.send("Performance.setTimeDomain", {"timeDomain": "threadTicks"})
    session.send("Performance.enable")

    def used() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return float({one["name"]: one["value"] for one in found}["TaskDuration"])

    before = used()
    return lambda: used() - before


def _write(place: Place, stop: threading.Event, sent: list[int]) -> None:
    due = time.monotonic()
    while not stop.is_set():
        place.say(place.ben, f"message {len(sent)}")
        sent.append(len(sent))
        due += 1 / RATE_PER_SECOND
        time.sleep(max(0.0, due - time.monotonic()))


def actors(place: Place, seconds: float) -> list[Row]:
    """A table of ten thousand rows, scrolled from its beginning to its end."""
    del seconds
    page = place.entered(place.ada, "/app")
    page.route("**/v1/admin/actors*", ten_thousand_actors)
    page.goto("/app/operate/actors")
    page.get_by_text("10,000 of 10,000").wait_for()
    table = page.get_by_role("region", name="Live actors")
    table.wait_for()
    worked = _work(page)
    page.evaluate("() => { measured.longTasks.length = 0; }")
    steps: list[float] = table.evaluate(
        """async (box, steps) => {
            const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
            const took = [];
            for (let at = 1; at <= steps; at++) {
                const began = await frame();
                box.scrollTop = (box.scrollHeight - box.clientHeight) * at / steps;
                await frame();
                took.push(await frame() - began - 1000 / 60);
            }
            return took;
        }""",
        STEPS,
    )
    work_ms = worked() * 1000 / STEPS
    rows = page.get_by_role("row").count()
    measured: dict[str, Any] = page.evaluate("measured")
    _close(page)
    return [
        Row("rows in the page", f"{rows}", "< 60", rows < 60),
        Row("CPU of the page's thread, a step", f"{work_ms:.1f} ms", "≤ 16 ms", work_ms <= 16),
        timed("a step of scrolling, p50", [median(steps)], 33),
        timed("a step of scrolling, p95", [_p95(steps)], 33),
        _long_tasks(measured["longTasks"]),
    ]


def _close(*pages: Page) -> None:
    for page in pages:
        page.context.close()


def _long_tasks(took_ms: list[float]) -> Row:
    longest = f"{len(took_ms)}, the longest {max(took_ms):.0f} ms" if took_ms else "0"
    return Row(f"tasks above {LONG_TASK_MS} ms", longest, "0", not took_ms)


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


CASES = {
    "load": (first_load, 0.0),
    "latency": (latency, 0.0),
    "thread": (thread, 60.0),
    "actors": (actors, 0.0),
    "endings": (endings, 0.0),
    "tab": (open_tab, 24.0),
    "watching": (watching_tab, 0.0),
}
"""{name: (function of the case, its duration by default: seconds, for `open_tab` hours)}."""
