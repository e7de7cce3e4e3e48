"""Media that pass through a LiveKit server beside this process, to which this process passes Partyline's orders on.

The server checks the tokens of users by a file of keys that is written here. It must serve nothing else: rooms that
Partyline does not know are closed.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import trio

from scripts.game_server.client import requests_to
from scripts.voice_node.node import Registration, Unusable
from scripts.voice_node.room_service import RoomService

AT_ONCE = 10
"""Most rooms that are asked about at the same time."""

ASKING_SECONDS = 10.0

KEYS_MODE = 0o600
"""The mode of the file of keys; LiveKit takes none that others may read."""


class LiveKit:
    """Carries media through LiveKit.

    Args:
        api_url: the address of the server's HTTP interface.
        url: the address that clients connect to.
        keys: the file of keys that the server is started with (`livekit-server --key-file`).
        say: tells the person at the terminal.
    """

    protocol = "livekit"

    def __init__(self, api_url: str, url: str, keys: Path, say: Callable[[str], None]) -> None:
        self.url = url
        self._api_url = api_url
        self._keys = keys
        self._part = keys.with_name(f"{keys.name}.part")
        self._say = say
        self._service: RoomService | None = None
        self._muted: set[tuple[str, str]] = set()  # (room, identity)

    def known(self) -> Registration | None:
        """The node's registration from the file of keys, None where it has none: LiveKit reads its keys at its start
        only, so a node keeps its id and secret.

        Raises:
            OSError: the file cannot be read, or there is no place for it.
            Unusable: the file holds no key.
        """
        try:
            key, _, secret = self._keys.read_text().partition(":")
        except FileNotFoundError:
            self._keys.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._part, os.O_WRONLY | os.O_CREAT, KEYS_MODE))
            return None
        except UnicodeDecodeError:
            key = secret = ""
        if not key.strip() or not secret.strip():
            raise Unusable(f"{self._keys} holds no key of a node; without the file it registers anew")
        return Registration(key.strip(), secret.strip())

    async def carry(
        self, node: Registration, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Write the file of keys, whole, and be able to ask the server, until cancelled.

        Raises:
            OSError: the file of keys cannot be written.
        """
        if self.known() != node:
            opened = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, KEYS_MODE)
            with os.fdopen(opened, "w") as file:
                file.write(f"{node.node_id}: {node.secret}\n")
                file.flush()
                os.fsync(file.fileno())
            self._part.rename(self._keys)
        self._say(f"start LiveKit with: livekit-server --key-file {self._keys}")
        async with requests_to(self._api_url, ASKING_SECONDS) as http:
            self._service = RoomService(http, node.node_id, node.secret)
            task_status.started()
            await trio.sleep_forever()

    async def report(self) -> list[dict[str, Any]]:
        """Who is connected, as heartbeats say it. Takes the right to publish from muted users who have it again, having
        come with a token from before they were muted."""
        rooms: list[dict[str, Any]] = []
        limit = trio.CapacityLimiter(AT_ONCE)
        failed: list[httpx2.HTTPError] = []

        async def ask(room: str) -> None:
            async with limit:
                try:
                    rooms.append({"channelId": room, "participants": await self._present(room)})
                except httpx2.HTTPError as error:
                    failed.append(error)

        names = [name for name in await self._asked().rooms() if _is_channel(name)]
        async with trio.open_nursery() as nursery:
            for name in names:
                nursery.start_soon(ask, name)
        if failed:
            raise failed[0]
        return rooms

    def muted(self) -> Collection[tuple[str, str]]:
        """(channel id, user id) of the users whom Partyline has muted, connected or not."""
        return self._muted

    async def obey(self, action: dict[str, Any]) -> None:
        """Carry out one of Partyline's orders.

        LiveKit does not say with which token somebody has connected, so `remove` compares the time of that: a user who
        has rightly come back since stays.
        """
        kind, room, identity = action["kind"], action["channelId"], action.get("userId", "")
        self._say(f"{kind} {identity[:8]} in {room[:8]}")
        service = self._asked()
        match kind:
            case "close":
                self._muted = {one for one in self._muted if one[0] != room}
                await service.delete(room)
            case "remove":
                self._muted.discard((room, identity))
                present = await service.participant(room, identity)
                if present is None or present.joined_at_s < action["notBefore"]:
                    await service.remove(room, identity, action["notBefore"])
            case "mute":
                self._muted.add((room, identity))
                await service.let_publish(room, identity, may=False)
            case "unmute":
                self._muted.discard((room, identity))
                await service.let_publish(room, identity, may=True)

    async def _present(self, room: str) -> list[str]:
        present = [one for one in await self._asked().participants(room) if one.is_user and one.is_here]
        for one in present:
            if one.may_publish and (room, one.identity) in self._muted:
                await self._asked().let_publish(room, one.identity, may=False)
        return [one.identity for one in present]

    def _asked(self) -> RoomService:
        if self._service is None:
            raise RuntimeError("it carries nothing yet")
        return self._service


def _is_channel(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
