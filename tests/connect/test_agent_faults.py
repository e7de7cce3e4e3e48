"""The agent where something is in its way: a service that is away, commands that end meanwhile, its end, its file."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from routes.publications.parts import STATUSES
from scripts.game_server import agent as module
from scripts.game_server import client
from scripts.game_server.actions import Failed
from scripts.game_server.agent import Agent, Plan
from scripts.game_server.client import Away, Credentials, open_stream
from tests.connect.play import SERVERS, Lines, order
from tests.contract.sources import ROOT
from tests.support.front import Front, front_of
from tests.support.process import program
from tests.support.waiting import patience, wait_until
from tests.support.world import Player, World

PROGRAM = [sys.executable, "-m", "scripts.game_server"]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAUSE_SECONDS", 0.02)


@asynccontextmanager
async def running(url: str, kept: Path, action_seconds: float = 60.0) -> AsyncIterator[Lines]:
    said = Lines()
    plan = Plan(url, "Lobby", "demo", kept, status_seconds=0.1, action_seconds=action_seconds)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Agent(plan, said.lines.append).run)
        yield said
        nursery.cancel_scope.cancel()


async def claim(owner: Player, said: Lines) -> str:
    key = await said.wait_for("claim key")
    await owner.do("POST", f"{SERVERS}/claim", {"claimKey": key}, status=200)
    return await said.wait_for("server")


async def _was_refused(front: Front, times: int) -> bool:
    return front.refusals >= times


async def _command(owner: Player, server_id: str, action: str, **payload: object) -> str:
    body = {"action": action, "payload": payload}
    made = await owner.do("POST", f"{SERVERS}/{server_id}/commands", body, status=201)
    return str(made["command"]["id"])


async def _read(owner: Player, server_id: str, command_id: str) -> Any:
    items = (await owner.get(f"{SERVERS}/{server_id}/commands"))["items"]
    return next(one for one in items if one["id"] == command_id)


async def _has(owner: Player, server_id: str, command_id: str, status: str) -> bool:
    return bool((await _read(owner, server_id, command_id))["status"] == status)


async def test_a_service_that_is_away_is_waited_for(world: World, tmp_path: Path):
    with patience():
        async with front_of(world.url) as front:
            front.go_away()
            async with running(front.url, tmp_path / "agent.json") as said:
                await wait_until(partial(_was_refused, front, 3))
                front.come_back()
                await said.wait_for("claim key")
                await said.wait_for("listening")
                front.go_away()
                await wait_until(partial(_was_refused, front, front.refusals + 5))
                front.come_back()
                await said.wait_for("listening", 2)


async def test_a_front_that_takes_connections_and_begins_no_tls_is_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.05)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"https://127.0.0.1:{listener.socket.getsockname()[1]}"
    with patience():
        async with listener:
            with pytest.raises(Away):
                async with open_stream(url, "/stream", Credentials("id", "secret")) as frames:
                    await anext(frames)


async def test_a_command_that_ends_before_it_is_begun_is_not_done(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    with patience():
        async with front_of(world.url) as front, running(front.url, tmp_path / "agent.json") as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            front.refused = b"/ack"
            id = await _command(ann, server_id, "say", text="restart")
            await wait_until(partial(_was_refused, front, 2))
            await ann.do("DELETE", f"{SERVERS}/{server_id}/commands/{id}", status=204)
            front.come_back()
            await said.wait_for("command say: it has ended")
            assert not [line for line in said.lines if line.startswith("says:")]


async def test_what_was_done_while_the_service_was_away_is_said_once_it_is_back(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    with patience():
        async with front_of(world.url) as front, running(front.url, tmp_path / "agent.json") as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            front.refused = b'"success"'
            id = await _command(ann, server_id, "say", text="restart")
            await wait_until(partial(_was_refused, front, 12))
            front.come_back()
            await wait_until(partial(_has, ann, server_id, id, "success"))
            assert said.lines.count("says: restart") == 1


async def test_a_command_that_is_cancelled_while_it_is_done_ends_there(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    with patience():
        async with running(world.url, tmp_path / "agent.json") as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            id = await _command(ann, server_id, "count", to=100)
            await wait_until(partial(_has, ann, server_id, id, "running"))
            await ann.do("DELETE", f"{SERVERS}/{server_id}/commands/{id}", status=204)
            await said.wait_for("command count: it has ended")


async def test_what_an_agent_was_at_when_it_ended_is_not_left_running(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    kept = tmp_path / "agent.json"
    with patience():
        async with running(world.url, kept) as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            ids = [await _command(ann, server_id, "count", to=100) for _ in range(2)]
            for id in ids:
                await wait_until(partial(_has, ann, server_id, id, "running"))
        async with running(world.url, kept) as again:
            await again.wait_for("listening")
            for id in ids:
                ended = await _read(ann, server_id, id)
                assert (ended["status"], ended["error"]) == ("failed", module.INTERRUPTED)


async def test_whatever_an_action_comes_to_is_said(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def broken(*_: object) -> Any:
        raise KeyError("a mistake")

    async def endless(*_: object) -> Any:
        return {"text": "x" * 100_000}

    async def strange(*_: object) -> Any:
        return {"machine": object()}

    async def halved(*_: object) -> Any:
        raise Failed("cannot read caf\udce9.yml")

    monkeypatch.setitem(module.ACTIONS, "broken", broken)
    monkeypatch.setitem(module.ACTIONS, "endless", endless)
    monkeypatch.setitem(module.ACTIONS, "strange", strange)
    monkeypatch.setitem(module.ACTIONS, "halved", halved)
    ann = await world.player("Ann")
    with patience():
        async with running(world.url, tmp_path / "agent.json") as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            long = await order(ann, server_id, "fail", error="x" * 5_000)
            assert (long["status"], long["error"]) == ("failed", "x" * module.MAX_ERROR_CHARACTERS)
            for action in ("broken", "endless", "strange", "halved"):
                assert (await order(ann, server_id, action))["status"] == "failed"


async def test_an_action_that_hangs_is_ended(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ended: list[str] = []

    async def hanging(*_: object) -> Any:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("hanging")

    monkeypatch.setitem(module.ACTIONS, "hanging", hanging)
    ann = await world.player("Ann")
    with patience():
        async with running(world.url, tmp_path / "agent.json", action_seconds=0.05) as said:
            server_id = await claim(ann, said)
            await said.wait_for("listening")
            hung = await order(ann, server_id, "hanging")
            assert (hung["status"], ended) == ("failed", ["hanging"])
            assert hung["error"].startswith("not done after 0.05 s")
            assert (await order(ann, server_id, "echo"))["status"] == "success"


async def test_its_status_counts_whatever_its_clock_says(world: World, tmp_path: Path):
    ann = await world.player("Ann")
    world.clock.advance(10 * 60_000)
    with patience():
        async with running(world.url, tmp_path / "agent.json") as said:
            server_id = await claim(ann, said)

            async def is_fresh() -> bool:
                statuses = world.service.of(STATUSES)
                return statuses.fresh_report(server_id, world.clock.now_ms()) is not None

            await wait_until(is_fresh)


def ended(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", '{"server_id": "x"}', "\0\0",
        '{"server_id": "x", "server_secret": "of a file\\n"}', '{"server_id": "x", "server_secret": "ü"}',
    ],
)  # fmt: skip
def test_a_file_that_holds_something_else_is_left_as_it_is(tmp_path: Path, content: str):
    kept = tmp_path / "agent.json"
    kept.write_text(content)
    told = ended("--url", "http://127.0.0.1:1", "--credentials", str(kept))
    assert told == (1, f"cannot run: {kept} holds no credentials of a game server\n")
    assert kept.read_text() == content


async def test_nothing_is_registered_where_there_is_no_place_for_its_secret(world: World, tmp_path: Path):
    (tmp_path / "file").write_text("")
    async with front_of(world.url) as front:
        front.go_away()
        asked = partial(ended, "--url", front.url, "--credentials", str(tmp_path / "file" / "agent.json"))
        status, told = await trio.to_thread.run_sync(asked)
        assert (status, told.startswith("cannot run: ")) == (1, True)
        assert front.refusals == 0


async def test_one_agent_uses_a_file_at_a_time(world: World, tmp_path: Path):
    kept = tmp_path / "agent.json"
    with patience():
        async with running(world.url, kept) as said:
            await said.wait_for("listening")
            asked = partial(ended, "--url", world.url, "--credentials", str(kept))
            status, told = await trio.to_thread.run_sync(asked)
            assert (status, told) == (
                1, f"cannot run: another agent uses {kept}; both would do each command\n"
            )  # fmt: skip
    assert not kept.with_name("agent.json.part").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_well(world: World, tmp_path: Path, number: signal.Signals):
    asked = [*PROGRAM, "--url", world.url, "--credentials", str(tmp_path / "agent.json")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with patience():
        async with program(asked, cwd=ROOT, **pipes) as process:
            assert process.stdout is not None and process.stderr is not None
            said = b""
            while b"listening" not in said:
                more = await process.stdout.receive_some()
                assert more, said
                said += more
            process.send_signal(number)
            assert (await process.wait(), await process.stderr.receive_some()) == (0, b"")


@pytest.mark.parametrize(
    "wrong", [("--status-seconds", "0"), ("--status-seconds", "nan"), ("--url", "localhost:8080")]
)
def test_what_makes_no_sense_is_refused(wrong: tuple[str, str]):
    status, told = ended(*wrong)
    assert status == 2
    assert wrong[0] in told
