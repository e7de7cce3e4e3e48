"""The program and a service as processes: either is killed, and players notice nothing that lasts."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
import trio

from tests.contract.sources import ROOT
from tests.gateway_node.bytes_of import handshake
from tests.gateway_node.minecraft import MinecraftServer, minecraft, status
from tests.gateway_node.play import player
from tests.gateways.play import TOKEN
from tests.support.process import ServerProcess, free_port, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until

LOBBY, ISLANDS = "lobby.play.partyline.test", "islands.play.partyline.test"
SERVERS = "/v1/connect/servers"


class GatewayProcess:
    """`scripts/gateway`, which is killed at the end.

    Args:
        service: that it registers with.
        folder: where it keeps its routes.
    """

    def __init__(self, service: ServerProcess, folder: Path) -> None:
        self._options = (
            f"--url={service.url}",
            f"--state={folder / 'gateway.json'}",
            "--allow-private",
            "--json",
        )
        self.port = free_port()
        self.process: trio.Process
        self.said = b""
        self.shown = b""

    async def run(self, *options: str, token: str = TOKEN) -> None:
        """Start it, and hear what it says until it ends."""
        environment = {**os.environ, "PARTYLINE_GATEWAY_TOKEN": token}
        command = [
            sys.executable,
            "-m",
            "scripts.gateway_node",
            f"--port={self.port}",
            *self._options,
            *options,
        ]
        self.process = await trio.lowlevel.open_process(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment
        )
        self.said = self.shown = b""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen, self.process.stderr, "said")
                nursery.start_soon(self._listen, self.process.stdout, "shown")
        finally:
            if self.process.returncode is None:
                self.process.kill()
            with trio.CancelScope(shield=True):
                await self.process.wait()

    async def _listen(self, stream: Any, name: str) -> None:
        async for chunk in stream:
            setattr(self, name, getattr(self, name) + chunk)

    async def until(self, line: str) -> None:
        """Until it has said something."""

        async def has_said() -> bool:
            return line.encode() in self.said

        await wait_until(has_said)


@asynccontextmanager
async def owner(service: ServerProcess) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of somebody who owns game servers."""
    settings = {"PARTYLINE_DATA_DIR": str(service.data_dir), "PARTYLINE_BIND": f"127.0.0.1:{service.port}"}
    command = [str(Path(sys.executable).parent / "partyline"), "token", "--name", "Ann"]
    done = await trio.run_process(command, capture_stdout=True, env=settings)
    headers = {"authorization": f"Bearer {done.stdout.decode().strip()}"}
    async with httpx2.AsyncClient(base_url=service.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


async def lead(client: httpx2.AsyncClient, host: str, backend: MinecraftServer) -> None:
    """A new game server of theirs behind a host."""
    made = await client.post(
        f"{SERVERS}/register", json={"serverType": "paper", "serverName": host}, headers={"authorization": ""}
    )
    assert made.status_code == 201, made.text
    server = made.json()
    claimed = await client.post(f"{SERVERS}/claim", json={"claimKey": server["claimKey"]})
    assert claimed.status_code == 200, claimed.text
    headers = {"authorization": f"Bearer {server['serverSecret']}", "x-server-id": server["serverId"]}
    route = {"routeHost": host, "backendHost": "127.0.0.1", "backendPort": backend.port}
    put = await client.put(f"{SERVERS}/{server['serverId']}/gateway-route", json=route, headers=headers)
    assert put.status_code == 200, put.text


async def answers(host: str, port: int, motd: str) -> bool:
    try:
        return await status(host, port) == motd
    except OSError:
        return False


@pytest.mark.drill
async def test_either_side_is_killed_and_both_heal(tmp_path: Path):
    opening = handshake(LOBBY, 2)
    settings = {"gateway_token": TOKEN, "gateway_domain": "play.partyline.test"}
    async with (
        minecraft("Lobby") as lobby,
        minecraft("Islands") as islands,
        server_process(**settings) as service,
        trio.open_nursery() as nursery,
    ):
        gateway = GatewayProcess(service, tmp_path)
        async with owner(service) as ann:
            nursery.start_soon(gateway.run)
            await lead(ann, LOBBY, lobby)
            await wait_until(partial(answers, LOBBY, gateway_port := gateway.port, "Lobby"))
            async with player(gateway_port, opening) as plays:
                await plays.hear(len(opening))
                await service.kill()
                await gateway.until("does not answer")
                await plays.send(b"still here")
                assert await plays.hear(10) == b"still here"
            assert await status(LOBBY, gateway_port) == "Lobby", "it goes on with its last routes"

            gateway.process.send_signal(signal.SIGKILL)
            await gateway.process.wait()
            nursery.start_soon(partial(gateway.run, "--drain-seconds=0.1"))
            await wait_until(partial(answers, LOBBY, gateway_port, "Lobby"))
            await gateway.until("as they were kept")

            await service.start()
            await lead(ann, ISLANDS, islands)
            await wait_until(partial(answers, ISLANDS, gateway_port, "Islands"))
            await gateway.until("registered as ")

        gateway.process.send_signal(signal.SIGTERM)
        with patience():
            assert await gateway.process.wait() == 0

        async def has_shown() -> bool:
            return gateway.shown.endswith(b"\n")

        await wait_until(has_shown)
        last = msgspec.json.decode(gateway.shown.splitlines()[-1])
        assert (last["draining"], last["routes"], last["revision"]) == (True, 2, 3)
        assert last["counters"]["carried"] >= 2
        for text in (gateway.said, gateway.shown, (tmp_path / "gateway.json").read_bytes()):
            assert TOKEN.encode() not in text

        nursery.start_soon(partial(gateway.run, token="another"))
        await gateway.until("refused: the deployment token is another one")
        with patience():
            assert await gateway.process.wait() == 1


@pytest.mark.slow
def test_it_explains_itself():
    command = [sys.executable, "-m", "scripts.gateway_node"]
    shown = subprocess.run([*command, "--help"], cwd=ROOT, capture_output=True, check=True)
    assert b"--mc-router" in shown.stdout
    environment = {name: text for name, text in os.environ.items() if name != "PARTYLINE_GATEWAY_TOKEN"}
    token = {"PARTYLINE_GATEWAY_TOKEN": "x"}
    for options, more in (
        ([], {}),
        (["--host=*"], token),
        (["--trust=x"], token),
        (["--port=65536"], token),
        (["--idle-seconds=0"], token),
    ):
        done = subprocess.run(
            [*command, *options], cwd=ROOT, capture_output=True, check=False, env=environment | more
        )
        assert done.returncode == 2
