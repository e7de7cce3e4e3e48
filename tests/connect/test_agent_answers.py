"""The agent where something between it and Partyline answers: nothing, half of it, for ever; and its disk is full."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import trio

from scripts.game_server import pauses
from scripts.game_server.agent import Agent, Plan
from scripts.game_server.client import Away, ask, requests_to
from tests.client.play import dripping, http, saying
from tests.connect.play import Lines
from tests.contract.sources import ROOT
from tests.support.waiting import patience

REGISTERED = {"serverId": "00000000-0000-4000-8000-000000000001", "serverSecret": "secret"}
NOT_FOUND = http(404, {"code": "NOT_FOUND"})
UNDER_A_LIMIT = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
runpy.run_module("scripts.game_server", run_name="__main__")
"""


@pytest.mark.parametrize(
    "body", [b"", b"<html>welcome</html>", b"{}", b"[]", b"null", b'"caf\xe9"', b"[" * 100_000]
)
async def test_what_is_no_answer_of_partyline_is_asked_again(
    body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.01)
    right = {
        "POST /v1/connect/servers/register": REGISTERED,
        "GET /v1/connect/servers/00000000-0000-4000-8000-000000000001/commands": {
            "items": [], "nextCursor": None,
        },
        "GET /v1/connect/servers/00000000-0000-4000-8000-000000000001/claim-key": {
            "claimed": False, "claimKey": "KEY",
        },
    }  # fmt: skip
    asked: set[str] = set()

    def answer(head: str) -> bytes:
        what = head.partition(" HTTP/")[0].partition("?")[0]
        if what not in right:
            return NOT_FOUND if what.startswith("PUT ") else http(503, b"")
        if what in asked:
            return http(200, right[what])
        asked.add(what)
        return http(200, body)

    said = Lines()
    async with saying(answer) as url, trio.open_nursery() as nursery:
        plan = Plan(url, "Lobby", "demo", tmp_path / "agent.json")
        nursery.start_soon(Agent(plan, said.lines.append).run)
        assert await said.wait_for("claim key") == "KEY"
        nursery.cancel_scope.cancel()
    assert asked == set(right)


async def test_an_answer_without_an_end_is_given_up(autojump_clock: object):
    async with dripping(1_000) as url, requests_to(url) as to:
        began_at = trio.current_time()
        with pytest.raises(Away):
            await ask(to, "GET", "/v1/things")
        assert trio.current_time() - began_at < 30


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "socks5://127.0.0.1:1", "socks://127.0.0.1:1"])
async def test_it_goes_directly_as_its_stream_does(proxy: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with patience():
        async with saying(lambda _: http(200, {"here": True})) as url, requests_to(url) as to:
            assert await ask(to, "GET", "/v1/things") == b'{"here":true}'


async def test_nothing_is_registered_where_the_disk_is_full(tmp_path: Path):
    heads: list[str] = []

    def answer(head: str) -> bytes:
        heads.append(head)
        return http(201, REGISTERED)

    with patience():
        async with saying(answer) as url:
            asked = [
                sys.executable,
                "-c",
                UNDER_A_LIMIT,
                "--url",
                url,
                "--credentials",
                str(tmp_path / "a.json"),
            ]
            run = partial(
                subprocess.run, asked, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
            )
            done = await trio.to_thread.run_sync(run)
    assert (done.returncode, done.stderr.startswith("cannot run: ")) == (1, True), done.stderr
    assert not heads
