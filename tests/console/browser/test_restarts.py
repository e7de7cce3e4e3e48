"""What outlives a start, a server, and a token: the setup link, `kill -9` in mid-conversation, tokens of seconds."""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.process import ServerProcess, server_process
from tests.support.world import World, open_world

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)
TOKEN_SECONDS = 5
CHATS = "/v1/social/chat/conversations"
RENEWALS = int(os.environ.get("RENEWALS", "1"))
"""How often a token of five seconds is renewed in time while somebody looks; 150 are ten minutes."""

TOO_LATE = 2
"""How often a token ends before it is renewed, as behind a lid that was closed."""


@pytest.fixture
async def server() -> AsyncIterator[ServerProcess]:
    async with server_process() as server:
        yield server


@pytest.fixture
async def hasty(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose tokens end after five seconds."""
    async with open_world(database_url, tmp_path, session_token_seconds=str(TOKEN_SECONDS)) as world:
        yield world


async def conversation(server: ServerProcess, one: str, other: str) -> str:
    """The id of the direct conversation of two users, by their tokens."""
    async with httpx2.AsyncClient(base_url=server.url) as http:
        headers = [{"authorization": f"Bearer {token}"} for token in (one, other)]
        met = (await http.get("/v1/auth/verify", headers=headers[1])).json()["userId"]
        body = {"kind": "direct", "participantIds": [met]}
        return str((await http.post(CHATS, json=body, headers=headers[0])).json()["id"])


def write(page: Page, text: str) -> None:
    page.get_by_label(re.compile("^Message ")).fill(text)
    page.keyboard.press("Enter")


def said(page: Page) -> list[str]:
    return page.get_by_role("log").locator(".message:not(.waiting) .text").all_inner_texts()


async def test_from_the_setup_link_to_what_outlives_a_kill(server: ServerProcess) -> None:
    """Checks 1, 3, 9 and 22, in one life of a server and the next."""
    found = re.search(r"http\S+(/setup#code=\S+)", server.log)
    assert found is not None
    link = found[1]

    def story(scene: Scene) -> None:
        scene.expected |= {"404 (Not Found)", "409 (Conflict)"}
        page = becomes_super_admin(scene, link)
        is_refused(scene, link)
        scene.expected |= {"ERR_CONNECTION", "WebSocket connection", "503 (Service Unavailable)"}
        page.goto("/app/operate")
        health = page.locator(".banner [role=status]")
        expect(health).to_have_text("All is well.")
        expect(page.get_by_text(re.compile("^The service started at .*: a dashed line in"))).to_be_visible()
        one, other = talking(scene, server, page)
        both_write(one, other, range(4))
        scene.let(server.kill)
        expect(health).to_have_text("This is not up to date: the service says nothing.")
        both_write(one, other, range(4, 6))
        expect(one.get_by_text("Reconnecting…")).to_be_visible()
        scene.let(server.start)
        each_message_is_there_once_and_in_order(one, other)
        expect(health).to_have_text("All is well.")
        expect(
            page.get_by_text(re.compile("^The service started at .* and .*: dashed lines in"))
        ).to_be_visible()

    await play(server, DESK, story)


def becomes_super_admin(scene: Scene, link: str) -> Page:
    page = scene.stranger()
    page.goto(link)
    page.get_by_label("Your name").fill("Rosa")
    assert "code" not in page.url
    page.get_by_role("button", name="Become the super-admin").click()
    page.get_by_text("Token for the command line").click()
    assert page.get_by_label("Access token").input_value()
    scene.stop_at(page, "setup")
    page.get_by_role("link", name="Go to the console").click()
    expect(page.get_by_role("heading", name="Hello, Rosa")).to_be_visible()
    expect(page.get_by_role("link", name="Live actors")).to_be_attached()
    return page


def is_refused(scene: Scene, link: str) -> None:
    again = scene.stranger()
    again.goto(link)
    again.get_by_label("Your name").fill("Eve")
    again.get_by_role("button", name="Become the super-admin").click()
    expect(again.get_by_role("alert")).not_to_be_empty()


def talking(scene: Scene, server: ServerProcess, page: Page) -> tuple[Page, Page]:
    """A thread of whoever is signed in on a page and of somebody else, as both see it."""
    renewed = page.request.post("/v1/sessions/renew", data={}, headers={"origin": server.url})
    ben = scene.let(server.token, "Ben")
    room = scene.let(conversation, server, renewed.json()["token"], ben)
    one = scene.page_in(page.context)
    one.goto(f"/app/chat/{room}")
    return one, scene.enter_with(ben, f"/app/chat/{room}")


def both_write(one: Page, other: Page, numbers: range) -> None:
    for number in numbers:
        write(one, f"one {number}")
        write(other, f"other {number}")


def each_message_is_there_once_and_in_order(one: Page, other: Page) -> None:
    for page in (one, other):
        expect(page.locator(".message:not(.waiting) .text")).to_have_count(12)
    for page in (one, other):
        for name in ("one", "other"):
            texts = [text for text in said(page) if text.startswith(name)]
            assert texts == [f"{name} {number}" for number in range(6)]
    assert said(one) == said(other)


async def test_tokens_that_end_are_renewed_beneath_an_open_thread(hasty: World) -> None:
    ada, ben = await hasty.players("Ada", "Ben")
    room = await ada.talk_to(ben)

    async def let_it_end() -> None:
        hasty.advance(TOKEN_SECONDS * 1000)

    def story(scene: Scene) -> None:
        scene.expected.add("WebSocket connection")  # of one that came with a token that had just ended
        page = scene.enter(ada, f"/app/chat/{room.id}")
        page.get_by_label("Message Ben").wait_for()
        for number in range(RENEWALS + TOO_LATE):
            with page.expect_response("**/v1/sessions/renew"):
                if number >= RENEWALS:
                    scene.let(let_it_end)
                scene.let(ben.say, room, f"message {number}")
        scene.let(ben.say, room, "the last")
        expect(page.get_by_role("log").get_by_text("the last")).to_be_visible()
        assert said(page) == [*(f"message {number}" for number in range(RENEWALS + TOO_LATE)), "the last"]
        expect(page.get_by_role("heading", name="Sign in to Partyline")).to_have_count(0)

    await play(hasty, DESK, story)
