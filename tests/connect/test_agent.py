"""The agent beside a real service: it registers, is claimed, does what it is told, and comes back as itself."""

import subprocess
import sys
from pathlib import Path

import trio

from scripts.game_server.agent import Agent, Plan
from tests.connect.play import Lines, order
from tests.contract.sources import ROOT
from tests.support.waiting import patience
from tests.support.world import World


async def test_it_does_what_it_is_told(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    plan = Plan(world.url, "Lobby", "demo", tmp_path / "kept" / "agent.json", status_seconds=60)
    said, again = Lines(), Lines()
    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Agent(plan, said.lines.append).run)
            key = await said.wait_for("claim key")
            await said.wait_for("listening")
            await ann.do("POST", "/v1/connect/servers/claim", {"claimKey": key}, status=200)
            server_id = await said.wait_for("server")
            done = await order(ann, server_id, "echo", a=[1])
            assert (done["status"], done["result"], done["attempts"]) == ("success", {"a": [1]}, 1)
            counted = await order(ann, server_id, "count", to=2)
            assert (counted["result"], counted["progress"]) == ({"counted": 2}, 100)
            failed = await order(ann, server_id, "fail", error="no")
            assert (failed["status"], failed["error"]) == ("failed", "no")
            assert (await order(ann, server_id, "dance"))["status"] == "rejected"
            path = f"/v1/connect/servers/{server_id}/settings"
            await ann.do("PUT", path, {"source": "shop", "data": {"a": 1}}, status=200)
            assert await said.wait_for("settings of shop: version") == "1"
            nursery.cancel_scope.cancel()
    assert plan.credentials.stat().st_mode & 0o777 == 0o600
    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Agent(plan, again.lines.append).run)
            assert await again.wait_for("server") == server_id
            await again.wait_for("claimed")
            assert (await order(ann, server_id, "say", text="hello"))["result"] == {"said": True}
            assert "says: hello" in again.lines
            nursery.cancel_scope.cancel()


def test_it_explains_itself():
    asked = [sys.executable, "-m", "scripts.game_server", "--help"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    for word in ("--credentials", "claim key", "echo"):
        assert word in shown.stdout


async def test_credentials_that_count_no_longer_end_it(world: World, tmp_path: Path):
    kept = tmp_path / "agent.json"
    kept.write_text('{"server_id":"00000000-0000-4000-8000-000000000000","server_secret":"x"}')
    asked = [sys.executable, "-m", "scripts.game_server", "--url", world.url, "--credentials", str(kept)]
    with patience():
        ended = await trio.run_process(asked, cwd=ROOT, capture_stderr=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == b"refused: 401 BAD_SERVER_CREDENTIALS, the server credentials are not valid\n"
