"""Users who talk to processes of the service, and remember what was acknowledged, to compare it with what is stored."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from actors.ids import new_uuid
from actors.kernel.clock import SystemClock
from routes.edge.identity.keys import Keys
from tests.support.websocket import Client, connect

GROUPS = 12
"""How many groups a speaker has, so that each of two or three nodes owns some."""


class Speaker:
    """A user who posts into each of their groups, and remembers what was acknowledged.

    Args:
        http: makes the requests.
        keys: the service's keys, which sign tokens.
        groups: how many groups.
    """

    def __init__(self, http: httpx2.AsyncClient, keys: Keys, groups: int = GROUPS) -> None:
        self._count = groups
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

    @property
    def token(self) -> str:
        """The speaker's access token."""
        return self._headers["authorization"].removeprefix("Bearer ")

    def use(self, http: httpx2.AsyncClient) -> None:
        """Make requests by another client, over its connections, from now on."""
        self._http = http

    async def found(self, url: str) -> None:
        """Make the groups, each with another user in it."""
        for _ in range(self._count):
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
        """Post a text once into each group; returns the status codes."""
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
        async with connect(f"{url}/v1/social/live?channels=", token=self.token) as socket:
            watcher = Watcher(socket)
            for group in self.groups:
                await watcher.watch(group)
            yield watcher

    async def read(self, url: str) -> dict[str, list[str]]:
        """The texts in each group, oldest first, {group: texts}."""
        found = {}
        for group in self.groups:
            path = f"{url}/v1/social/chat/conversations/{group}/messages?limit=100"
            answer = await self._http.get(path, headers=self._headers)
            found[group] = [one["id"] for one in answer.json()["items"]]
        return found


class Watcher:
    """A socket that watches groups, and remembers what it has heard of each; fails at a gap or a repeat."""

    def __init__(self, socket: Client) -> None:
        self.heard: dict[str, list[str]] = {}
        self._socket = socket
        self._offsets: dict[str, int] = {}

    async def watch(self, group: str) -> None:
        """Watch one more group."""
        channel = f"conversation:{group}"
        ask = {"op": "subscribe", "channel": channel, "params": {"mode": "delta"}}
        await self._socket.send_json({"id": channel, **ask})
        reply = await self._socket.receive_until(type="reply", id=channel)
        assert reply["ok"], reply
        self._offsets[channel] = reply["offset"]

    async def hear(self, said: dict[str, list[str]]) -> None:
        """Read until all texts were heard that were posted since it has begun to watch."""
        while self.heard != said:
            frame = await self._socket.receive_json()
            if frame["type"] == "event" and frame.get("offset") is not None:
                channel = frame["channel"]
                self._offsets[channel] += 1
                assert frame["offset"] == self._offsets[channel]
                if frame["event"] == "message_created":
                    group = channel.removeprefix("conversation:")
                    self.heard.setdefault(group, []).append(frame["data"]["id"])
