"""From the key that the real agent prints to a published server, its commands, and its end: `scripts/agent` in a
process of its own, and the tests' DNS server on loopback.
"""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.contract.sources import ROOT
from tests.networks.conftest import dns_server
from tests.networks.dns_server import DnsServer
from tests.support.waiting import wait_until
from tests.support.world import World, open_world

__all__ = ["dns_server"]

pytestmark = [needs_browser, pytest.mark.slow]

DOMAIN = "islands.example.org"
FRESH_SECONDS = 90
COMMAND_SECONDS = 300


class RunningAgent:
    """`scripts/agent`, as its owner starts it.

    Args:
        world: where it registers.
        folder: for its credentials, and what it prints.
    """

    def __init__(self, world: World, folder: Path) -> None:
        self._command = [sys.executable, "-m", "scripts.game_server", "--url", world.url]
        self._command += ["--name", "Islands", "--credentials", str(folder / "agent.json")]
        self._command += ["--status-seconds", "0.2"]
        self._output = folder / "said"
        self._process: trio.Process | None = None

    async def start(self) -> None:
        with self._output.open("wb") as said:
            self._process = await trio.lowlevel.open_process(
                self._command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
            )

    async def said(self, beginning: str) -> str:
        """The rest of the first line that begins so, once it is printed."""
        found: list[str] = []

        async def look() -> bool:
            found[:] = [line for line in self._output.read_text().splitlines() if line.startswith(beginning)]
            return bool(found)

        await wait_until(look)
        return found[0].removeprefix(beginning).strip()

    async def kill(self) -> None:
        """As a power cut does it."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            await self._process.wait()


@pytest.fixture
async def agent(world: World, tmp_path: Path) -> AsyncIterator[RunningAgent]:
    running = RunningAgent(world, tmp_path)
    yield running
    with trio.CancelScope(shield=True):
        await running.kill()


@pytest.fixture
async def world(database_url: str, tmp_path: Path, dns_server: DnsServer) -> AsyncIterator[World]:
    settings = {"dns_server": f"127.0.0.1:{dns_server.port}", "freshness_seconds": str(FRESH_SECONDS)}
    async with open_world(database_url, tmp_path, **settings) as world:
        yield world


def send(page: Page, action: str, payload: str) -> None:
    page.get_by_label("Action").fill(action)
    page.get_by_role("textbox", name="Payload (JSON)").fill(payload)
    page.get_by_role("button", name="Send", exact=True).click()


async def test_from_the_agent_s_key_to_its_last_command(
    world: World, agent: RunningAgent, dns_server: DnsServer
) -> None:
    """Check 13: claimed, in a network, domain verified, published, on `/`. Check 14: a command from pending over its
    progress to its result; with the agent killed it waits, and expires. Check 17: the server is shown as offline, with
    when it was last heard of.
    """
    ada = await world.player("Ada")

    async def pass_seconds(seconds: int) -> None:
        world.advance(seconds * 1_000)

    async def enter_record(name: str, value: str) -> None:
        dns_server.txt[name] = [value]

    def story(scene: Scene) -> None:
        scene.expected |= {"409 (Conflict)"}
        scene.let(agent.start)
        page = scene.enter(ada, "/app/servers/claim")
        page.get_by_label("Claim key").fill(scene.let(agent.said, "claim key"))
        page.get_by_role("button", name="Claim", exact=True).click()
        page.get_by_label("Name of the new network").fill("Archipelago")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("textbox", name="Domain").fill(DOMAIN)
        page.get_by_role("button", name="Next").click()
        name = page.locator("code", has_text=f".{DOMAIN}").inner_text()
        value = page.locator("code", has_text="=").inner_text()
        with page.expect_response("**/verify") as refused:
            page.get_by_role("button", name="Check").click()
        assert refused.value.status == 409
        scene.let(enter_record, name, value)
        page.get_by_role("button", name="Check").click()
        page.get_by_label("Display name").fill("Survival Islands")
        page.get_by_label("Address for players").fill(f"play.{DOMAIN}")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Published.")).to_be_visible()
        landing = scene.stranger()
        landing.goto("/")
        expect(landing.get_by_text("Survival Islands")).to_be_visible()

        page.get_by_role("link", name="Go to the server").click()
        page.get_by_role("link", name="Console", exact=True).click()
        send(page, "count", '{"to": 5}')
        expect(page.get_by_label("Progress")).to_be_visible()
        expect(page.get_by_text("Done", exact=True)).to_be_visible()
        servers = scene.page_in(page.context)
        servers.goto("/app/servers")
        expect(servers.get_by_text("0 of 20 players")).to_be_visible()
        scene.let(agent.kill)
        send(page, "count", '{"to": 7}')
        expect(page.get_by_text("Waits", exact=True)).to_be_visible()
        scene.let(pass_seconds, COMMAND_SECONDS + 1)
        expect(page.get_by_text("Expired", exact=True)).to_be_visible()
        page.get_by_label("Action").fill("")
        page.get_by_label("Action").press("ArrowUp")
        expect(page.get_by_label("Action")).to_have_value("count")
        expect(page.get_by_role("textbox", name="Payload (JSON)")).to_have_value('{"to":7}')
        expect(servers.get_by_text("Offline")).to_be_visible()
        expect(servers.get_by_text("last heard")).to_be_visible()

    await play(world, Look("light", 1280), story)
