"""Where the console is measured: a server of its own with two people who talk, and a real browser."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import httpx2
from playwright.sync_api import Browser, CDPSession, Page, Route, sync_playwright

from actors.ids import new_uuid
from scripts.benchmarks.servers import NICENESS, Server
from scripts.load import server_process
from scripts.load.workers import prefer

CHATS = "/v1/social/chat/conversations"
WAIT_MS = 120_000
ACTORS = 10_000
WATCH = """
globalThis.measured = { longTasks: [], frames: [], inputs: [] };
new PerformanceObserver((list) => list.getEntries().forEach((one) => measured.longTasks.push(one.duration)))
    .observe({ type: "longtask", buffered: true });
new PerformanceObserver((list) => list.getEntries().forEach((one) => measured.inputs.push(one.duration)))
    .observe({ type: "event", buffered: true, durationThreshold: 16 });
let before = 0;
requestAnimationFrame(function frame(at) {
    if (before) measured.frames.push(at - before);
    before = at;
    requestAnimationFrame(frame);
});
new MutationObserver(() => {
    if (!measured.form && document.querySelector("form")) measured.form = performance.now();
    if (!measured.thread && document.querySelector("[role=log] .message")) measured.thread = performance.now();
}).observe(document, { childList: true, subtree: true });
"""
"""The script that counts in a page from its first moment on. The debugger runs it, so that the page's content security
policy does not forbid it."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user with an access token."""

    id: str
    name: str
    token: str


class Place:
    """A server with a browser, and requests to it beside the browser's.

    Args:
        server: the running server.
        browser: the browser in which pages are opened.
    """

    def __init__(self, server: Server, browser: Browser) -> None:
        self.url = f"http://127.0.0.1:{server.port}"
        self.browser = browser
        self.server = server
        self.http = httpx2.Client(base_url=self.url, timeout=60)
        self._sign = server.sign
        self.ada, self.ben = self.person("Ada"), self.person("Ben")
        body = {"kind": "direct", "participantIds": [self.ben.id]}
        self.room = str(self.asked(self.ada, "POST", CHATS, body)["id"])

    def person(self, name: str) -> Person:
        """Make a new user, whom the server knows by a first request."""
        id = new_uuid(secrets.token_bytes)
        person = Person(id, name, self._sign(id, name, int(time.time())))
        self.asked(person, "GET", "/v1/auth/verify")
        return person

    def root(self) -> Person:
        """The person who is super-admin."""
        return Person("", "Root", first_super_admin(self.server))

    def asked(self, person: Person | None, method: str, path: str, body: object = None) -> Any:
        """Make a request for a person, or without credentials where that is None; returns the answer."""
        headers = {} if person is None else {"authorization": f"Bearer {person.token}"}
        answer = self.http.request(method, path, json=body, headers=headers)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def say(self, person: Person, text: str) -> None:
        """Post a message into the room of the two."""
        self.asked(person, "POST", f"{CHATS}/{self.room}/messages", {"content": text})

    def page(self) -> Page:
        """Open a page in a browser with an empty cache, with the counting script from its first moment on."""
        context = self.browser.new_context(base_url=self.url, viewport={"width": 1280, "height": 800})
        context.set_default_timeout(WAIT_MS)
        context.add_init_script(WATCH)
        return context.new_page()

    def entered(self, person: Person, path: str) -> Page:
        """Open a page for a person who has signed in."""
        page = self.page()
        page.goto(path)
        page.get_by_label("Access token").fill(person.token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("Live", exact=True).wait_for()
        return page


def debugger(page: Page) -> CDPSession:
    """A session of the page's debugger."""
    return page.context.new_cdp_session(page)


def ten_thousand_actors(route: Route) -> None:
    """Answer as a service with ten thousand live actors would."""
    one = {
        "kind": "conversation",
        "mailbox": 0,
        "subscribers": 1,
        "restarts": 0,
        "lastError": None,
        "offset": 7,
    }
    items = [{**one, "id": f"{number:024x}", "idleMs": number} for number in range(ACTORS)]
    kinds = [
        {"kind": "conversation", "actors": ACTORS, "mailbox": 0, "subscribers": 1, "restarts": 0, "faulty": 0}
    ]
    body = {"total": ACTORS, "matched": ACTORS, "kinds": kinds, "items": items}
    route.fulfill(body=json.dumps(body), content_type="application/json")


def first_super_admin(server: Server) -> str:
    """The token of a super-admin, made by the command line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
    environment |= {
        "PARTYLINE_DATA_DIR": str(server.data_dir),
        "PARTYLINE_BIND": f"127.0.0.1:{server.port}",
    }
    command = [
        str(Path(sys.executable).parent / "partyline"),
        "token",
        "--name",
        "Root",
        "--role",
        "super-admin",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


@contextmanager
def placed(server: Server) -> Iterator[Place]:
    """Start a browser beside a server, for the block.

    Raises:
        RuntimeError: Chromium is not installed.
    """
    chromium = which("chromium") or which("chromium-browser")
    if chromium is None:
        raise RuntimeError("no Chromium here: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        _before_others()
        try:
            yield Place(server, browser)
        finally:
            browser.close()


def _before_others() -> None:
    """Let the browser run before other work on this machine, where we may; processes that it starts inherit that."""
    for process in server_process.tree(os.getpid()):
        with suppress(FileNotFoundError, ProcessLookupError):  # a process may end while we look
            for thread in (Path("/proc") / str(process) / "task").iterdir():
                prefer(int(thread.name), NICENESS)
