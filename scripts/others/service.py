"""Users and game servers of the service that programs of other projects read."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import trio

from scripts.others.node import expect
from tests.support.process import ServerProcess

SECONDS = 60


async def user(server: ServerProcess, name: str, role: str = "") -> httpx2.AsyncClient:
    """The HTTP client of a new user, to be opened by `async with`.

    Args:
        name: the user's name.
        role: a role that they hold beside `player`; empty for none.
    """
    token = await trio.to_thread.run_sync(_token, server, name, role)
    return httpx2.AsyncClient(
        base_url=server.url, headers={"authorization": f"Bearer {token}"}, timeout=SECONDS
    )


def _token(server: ServerProcess, name: str, role: str) -> str:
    command = [str(Path(sys.executable).parent / "partyline"), "token", "--name", name]
    command += ["--role", role] if role else []
    settings = {"PARTYLINE_DATA_DIR": str(server.data_dir), "PARTYLINE_BIND": f"127.0.0.1:{server.port}"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True, env=settings)
    return done.stdout.strip()


async def answered(response: Any) -> Any:
    """The JSON of an answer, which has to be a success.

    Raises:
        Differs: the request was refused.
    """
    answer = await response
    expect(f"{answer.request.method} {answer.request.url} {answer.text}", answer.is_success, expected=True)
    return answer.json() if answer.content else None


class GameServer:
    """A game server that a user owns.

    Args:
        made: the answer to registering the game server.
    """

    def __init__(self, made: dict[str, Any]) -> None:
        self.path = f"/v1/connect/servers/{made['serverId']}"
        self.headers = {"authorization": f"Bearer {made['serverSecret']}", "x-server-id": made["serverId"]}


async def game_server(owner: httpx2.AsyncClient, name: str) -> GameServer:
    """Register a game server, and claim it for a user.

    Args:
        owner: the HTTP client of the user.
        name: the game server's name.
    """
    body = {"serverType": "paper", "serverName": name}
    made = await answered(
        owner.post("/v1/connect/servers/register", json=body, headers={"authorization": ""})
    )
    await answered(owner.post("/v1/connect/servers/claim", json={"claimKey": made["claimKey"]}))
    return GameServer(made)
