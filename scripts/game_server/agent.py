"""The agent: registered once, on its stream for as long as it runs, and quick to say how a command has ended.

Commands are delivered at least once. So the agent goes by their ids: one that it is at is left alone, one that it has
ended is acknowledged again, in the same words.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import trio

from scripts.game_server.actions import ACTIONS, Failed
from scripts.game_server.client import Credentials, Lost, Rejected, ask, open_stream

REMEMBERED = 1_000
"""Commands whose end is known; the oldest is forgotten."""

CLAIM_KEY_SECONDS = 240.0
"""A claim key is valid for five minutes."""

MOST_PAUSE_SECONDS = 30.0
"""Between two attempts to open the stream."""

ACK_ATTEMPTS = 5


@dataclass(frozen=True)
class Plan:
    """What the agent is to be.

    Args:
        url: of Partyline, without a slash at its end.
        name, server_type: of the server.
        credentials: the file that they are kept in.
        status_seconds: between two status pushes.
    """

    url: str
    name: str
    server_type: str
    credentials: Path
    status_seconds: float = 30.0


class Agent:
    """A game server.

    Args:
        plan: what it is to be.
        say: is told what happens, a line at a time.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._say = say
        self._ends: dict[
            str, dict[str, Any] | None
        ] = {}  # {command id: its last acknowledgement; None = at it}

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            Rejected: the credentials count for nothing, or nobody may register.
        """
        async with httpx2.AsyncClient(base_url=self._plan.url, timeout=20) as http:
            credentials = await self._credentials(http)
            http.headers.update(credentials.headers)
            self._say(f"server {credentials.server_id}")
            path = f"/v1/connect/servers/{credentials.server_id}"
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._show_claim_keys, http, path)
                nursery.start_soon(self._push_status, http, path)
                await self._listen(http, path, credentials, nursery)

    async def _credentials(self, http: httpx2.AsyncClient) -> Credentials:
        kept = self._plan.credentials
        if kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=Credentials)
        body = {"serverType": self._plan.server_type, "serverName": self._plan.name}
        made = await ask(http, "POST", "/v1/connect/servers/register", body)
        credentials = Credentials(made["serverId"], made["serverSecret"])
        kept.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(credentials))
        return credentials

    async def _show_claim_keys(self, http: httpx2.AsyncClient, path: str) -> None:
        while True:
            try:
                shown = await ask(http, "GET", f"{path}/claim-key")
            except httpx2.HTTPError:
                pass
            else:
                if shown["claimed"]:
                    self._say("claimed")
                    return
                self._say(f"claim key {shown['claimKey']}")
            await trio.sleep(CLAIM_KEY_SECONDS)

    async def _push_status(self, http: httpx2.AsyncClient, path: str) -> None:
        while True:
            body = {
                "online": True,
                "motd": self._plan.name,
                "playerCount": 0,
                "playerCapacity": 20,
                "updatedAt": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
            try:
                await ask(http, "PUT", f"{path}/publication/status", body)
            except Rejected as rejected:
                if rejected.status not in {404, 429}:  # 404: it is not published, and need not be
                    self._say(f"status not taken: {rejected}")
            except httpx2.HTTPError:
                pass
            await trio.sleep(self._plan.status_seconds)

    async def _listen(
        self, http: httpx2.AsyncClient, path: str, credentials: Credentials, nursery: trio.Nursery
    ) -> None:
        def start(command: dict[str, Any]) -> None:
            nursery.start_soon(self._do, http, path, command)

        pause = 0.5
        while True:
            try:
                async with open_stream(self._plan.url, f"{path}/stream", credentials) as frames:
                    async for frame in frames:
                        pause = 0.5
                        self._hear(frame, start)
            except Lost as lost:
                self._say(f"stream lost ({lost}), again in {pause:.1f} s")
            await trio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, MOST_PAUSE_SECONDS)

    def _hear(self, frame: dict[str, Any], start: Callable[[dict[str, Any]], None]) -> None:
        match frame["type"]:
            case "settings_snapshot":
                self._say("listening")
                for settings in frame["settings"]:
                    self._say(f"settings of {settings['source']}: version {settings['version']}")
            case "settings_updated":
                settings = frame["settings"]
                self._say(f"settings of {settings['source']}: version {settings['version']}")
            case "command" if frame["command"]["status"] == "delivered":
                start(frame["command"])
            case "command":
                self._say(f"command {frame['command']['action']} {frame['command']['status']}")

    async def _do(self, http: httpx2.AsyncClient, path: str, command: dict[str, Any]) -> None:
        id, action = command["id"], command["action"]
        tell = partial(self._ack, http, f"{path}/commands/{id}/ack")
        if id in self._ends:
            end = self._ends[id]
            if end is not None:
                await tell(end)
            return
        self._ends[id] = None
        known = ACTIONS.get(action)
        if known is None:
            end = {"status": "rejected", "error": f"no such action: {action}"}
        else:
            await tell({"status": "running"})

            async def progress(percent: float) -> None:
                await tell({"status": "running", "progress": percent})

            try:
                end = {"status": "success", "result": await known(command["payload"], progress, self._say)}
            except Failed as failed:
                end = {"status": "failed", "error": str(failed)}
        self._ends[id] = end
        while len(self._ends) > REMEMBERED:
            del self._ends[next(iter(self._ends))]
        await tell(end)
        self._say(f"command {action}: {end['status']}")

    async def _ack(self, http: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> None:
        for attempt in range(ACK_ATTEMPTS):
            try:
                await ask(http, "POST", path, body)
            except Rejected as rejected:
                if rejected.status != 429 and rejected.status < 500:
                    # Cancelled or expired meanwhile: what is done is done.
                    self._say(f"not acknowledged: {rejected}")
                    return
            except httpx2.HTTPError:
                pass
            else:
                return
            # Should all of them fail, the command comes again, and so does its acknowledgement.
            await trio.sleep(0.2 * 2**attempt)
