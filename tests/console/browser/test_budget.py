"""How much a browser asks for: counts and bytes. How long it takes is measured by `scripts/console-budget`."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

MOST_REQUESTS = 25
MOST_BYTES = 60 * 1024
"""Of bodies, compressed, from signing in to a thread, with nothing in the browser's cache."""

ASSETS = "/app/assets/"


@dataclass
class Traffic:
    """What a page has asked the network for, by the browser's own account."""

    asked: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    origins: set[str] = field(default_factory=set)
    bytes: int = 0

    def paths(self) -> list[str]:
        """Of all answers that came over the network, and not from a cache."""
        return [self.asked[number] for number in self.statuses]


def watched(page: Page, base: str) -> Traffic:
    """Count from now on."""
    traffic = Traffic()
    session = page.context.new_cdp_session(page)

    def asked(event: dict[str, Any]) -> None:
        url = event.get("url") or event["request"]["url"]
        if url.startswith(("blob:", "data:")):
            return
        traffic.asked[event["requestId"]] = url.removeprefix(base)
        traffic.origins.add(url.partition("://")[2].partition("/")[0])

    def answered(event: dict[str, Any]) -> None:
        traffic.statuses[event["requestId"]] = event["statusCode"]

    def begun(event: dict[str, Any]) -> None:
        traffic.bytes -= int(event["response"]["encodedDataLength"])  # its head, which the end counts as well

    def finished(event: dict[str, Any]) -> None:
        traffic.bytes += int(event["encodedDataLength"])

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.webSocketCreated", asked)
    session.on("Network.responseReceivedExtraInfo", answered)
    session.on(
        "Network.webSocketHandshakeResponseReceived", lambda event: answered({**event, "statusCode": 101})
    )
    session.on("Network.responseReceived", begun)
    session.on("Network.loadingFinished", finished)
    session.send("Network.enable")
    return traffic


async def test_from_signing_in_to_a_thread_is_light_and_again_is_next_to_nothing(world: World) -> None:
    """Checks 27 and 28: counts and bytes of a cold load; a second load asks for the page and for data, and for no
    asset; and everything comes from the one server.
    """
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)
    await ben.say(room, "first words")

    def story(scene: Scene) -> None:
        page = scene.stranger()
        traffic = watched(page, world.url)
        page.goto(f"/app/chat/{room.id}")
        page.get_by_label("Access token").fill(ada.token or "")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("log").get_by_text("first words")).to_be_visible()
        page.get_by_text("Live", exact=True).wait_for()
        assert len(traffic.paths()) <= MOST_REQUESTS, traffic.paths()
        assert traffic.bytes <= MOST_BYTES
        assert traffic.origins == {world.url.partition("://")[2]}
        again = watched(page, world.url)
        page.reload()
        expect(page.get_by_role("log").get_by_text("first words")).to_be_visible()
        page.get_by_text("Live", exact=True).wait_for()
        document = next(number for number, path in again.asked.items() if path == f"/app/chat/{room.id}")
        assert again.statuses[document] == 304
        assert [path for path in again.paths() if ASSETS in path] == []
        assert len(again.paths()) <= 5, again.paths()

    await play(world, Look("light", 1280), story)
