"""Nodes in processes of their own, on one PostgreSQL and one NATS server: what happens when one of them is killed."""

import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trio

from actors.ids import new_uuid
from actors.kernel.clock import SystemClock
from persistence.bridge.database import Database
from persistence.nodes import members
from persistence.nodes.members import State
from routes.edge.identity.keys import Keys, open_keys
from tests.support.nats import NatsServer
from tests.support.process import ServerProcess, started
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until
from tests.support.websocket import Client, connect

pytestmark = pytest.mark.slow

HEALED_SECONDS = 10.0

GROUPS = 12
"""Enough that both of two nodes own some."""


@asynccontextmanager
async def _node(folder: Path, database_url: str, nats: NatsServer, name: str) -> AsyncIterator[ServerProcess]:
    own = folder / name
    own.mkdir()
    settings = {
        "database_url": database_url,
        "shared_dir": str(folder / "shared"),
        "nats_url": nats.url,
        "request_seconds": "5",
    }
    async with started(ServerProcess(own, settings=settings)) as server:
        yield server


class Speaker:
    """Somebody in a dozen groups, who says something in each of them and remembers what was acknowledged."""

    def __init__(self, http: httpx2.AsyncClient, keys: Keys) -> None:
        self._http = http
        self._keys = keys
        self._id, self._headers = self._somebody()
        self.groups: list[str] = []
        self.said: dict[str, list[str]] = {}

    def _somebody(self) -> tuple[str, dict[str, str]]:
        id, now_ms = new_uuid(secrets.token_bytes), SystemClock().now_ms()
        minted = self._keys.mint_user_token(
            id, "Ann", now_ms=now_ms, ttl_seconds=3600, random_bytes=secrets.token_bytes
        )
        return id, {"authorization": f"Bearer {minted.token}"}

    async def found(self, url: str) -> None:
        """Make the groups, each with somebody else in it."""
        for _ in range(GROUPS):
            id, headers = self._somebody()
            assert (await self._http.get(f"{url}/v1/auth/verify", headers=headers)).status_code == 200
            answer = await self._http.post(
                f"{url}/v1/social/chat/conversations",
                json={"kind": "group", "participantIds": [id]},
                headers=self._headers,
            )
            assert answer.status_code == 201, answer.text
            self.groups.append(answer.json()["id"])

    async def say(self, url: str, text: str) -> list[int]:
        """Say it once in each group; returns the statuses."""
        statuses = []
        for group in self.groups:
            path = f"{url}/v1/social/chat/conversations/{group}/messages"
            answer = await self._http.post(path, json={"content": text}, headers=self._headers)
            statuses.append(answer.status_code)
            if answer.status_code == 201:
                self.said.setdefault(group, []).append(answer.json()["id"])
        return statuses

    @asynccontextmanager
    async def watching(self, url: str) -> AsyncIterator["Watcher"]:
        """Watch all groups, on one socket."""
        token = self._headers["authorization"].removeprefix("Bearer ")
        async with connect(f"{url}/v1/social/live?channels=", token=token) as socket:
            watcher = Watcher(socket)
            for group in self.groups:
                await watcher.watch(group)
            yield watcher

    async def read(self, url: str) -> dict[str, list[str]]:
        """What each group has, oldest first."""
        found = {}
        for group in self.groups:
            path = f"{url}/v1/social/chat/conversations/{group}/messages?limit=100"
            answer = await self._http.get(path, headers=self._headers)
            found[group] = [one["id"] for one in answer.json()["items"]]
        return found


class Watcher:
    """A socket that watches groups, and what it has heard of each: there is neither a gap nor a repeat."""

    def __init__(self, socket: Client) -> None:
        self.heard: dict[str, list[str]] = {}
        self._socket = socket
        self._offsets: dict[str, int] = {}

    async def watch(self, group: str) -> None:
        """Watch one more."""
        channel = f"conversation:{group}"
        ask = {"op": "subscribe", "channel": channel, "params": {"mode": "delta"}}
        await self._socket.send_json({"id": channel, **ask})
        reply = await self._socket.receive_until(type="reply", id=channel)
        assert reply["ok"], reply
        self._offsets[channel] = reply["offset"]

    async def hear(self, said: dict[str, list[str]]) -> None:
        """Read until all that was said since it began to watch was heard."""
        while self.heard != said:
            frame = await self._socket.receive_json()
            if frame["type"] == "event" and frame.get("offset") is not None:
                channel = frame["channel"]
                self._offsets[channel] += 1
                assert frame["offset"] == self._offsets[channel]
                if frame["event"] == "message_created":
                    group = channel.removeprefix("conversation:")
                    self.heard.setdefault(group, []).append(frame["data"]["id"])


async def _spread(database: Database, nodes: int) -> bool:
    view = await database.read(members.read)
    up = [one for one in view.members.values() if one.state is State.UP]
    owned = {lease.node for lease in view.leases.values()}
    return len(up) == nodes and owned == {one.node for one in up}


async def test_what_a_killed_node_owned_is_served_by_the_other(
    database: Database, database_url: str, nats: NatsServer, tmp_path: Path
) -> None:
    async with (
        _node(tmp_path, database_url, nats, "a") as a,
        _node(tmp_path, database_url, nats, "b") as b,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
        AsyncExitStack() as stack,
    ):

        async def both_own() -> bool:
            return await _spread(database, 2)

        await wait_until(both_own)
        lines = (await a.command("nodes")).splitlines()
        assert [line.split()[2] for line in lines] == ["state", "up", "up"]
        speaker = Speaker(http, open_keys(tmp_path / "shared"))
        await speaker.found(a.url)
        watcher = await stack.enter_async_context(speaker.watching(a.url))
        for url in (a.url, b.url):
            assert set(await speaker.say(url, "before")) == {201}

        await b.kill()
        killed_at = trio.current_time()
        while set(await speaker.say(a.url, "meanwhile")) != {201}:
            assert trio.current_time() < killed_at + PATIENCE_SECONDS
        healed = trio.current_time() - killed_at
        assert await speaker.read(a.url) == speaker.said
        await watcher.hear(speaker.said)

        # The killed one comes back, and has a share again.
        await b.start()
        await wait_until(both_own)
        assert set(await speaker.say(b.url, "after")) == {201}
        assert await speaker.read(b.url) == speaker.said

        # One that is asked to stop leaves nothing behind that would have to be waited for.
        assert await b.stop() == 0
        assert set(await speaker.say(a.url, "last")) == {201}
        assert await speaker.read(a.url) == speaker.said
        await watcher.hear(speaker.said)
        assert healed < HEALED_SECONDS


async def test_a_node_that_was_frozen_ends_when_it_wakes_up(
    database: Database, database_url: str, nats: NatsServer, tmp_path: Path
) -> None:
    """Others own its shards by then; nothing that it still answers or writes is taken for true.

    It is the older of the two: the other does not yield to it.
    """
    async with (
        _node(tmp_path, database_url, nats, "a") as a,
        _node(tmp_path, database_url, nats, "b") as b,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
    ):

        async def both_own() -> bool:
            return await _spread(database, 2)

        async def one_owns() -> bool:
            return await _spread(database, 1)

        await wait_until(both_own)
        speaker = Speaker(http, open_keys(tmp_path / "shared"))
        await speaker.found(a.url)
        assert set(await speaker.say(a.url, "before")) == {201}
        assert a.process is not None
        a.process.send_signal(signal.SIGSTOP)
        await wait_until(one_owns)
        assert set(await speaker.say(b.url, "meanwhile")) == {201}
        a.process.send_signal(signal.SIGCONT)
        with patience():
            assert await a.process.wait() == 1
        assert "was silent for too long" in a.log.splitlines()[-1]
        assert await speaker.read(b.url) == speaker.said
