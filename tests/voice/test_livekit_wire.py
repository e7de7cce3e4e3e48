"""The node of scripts/voice beside LiveKit: what Partyline says is done in its rooms, and who is there is reported."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
import trio

from actors.ids import new_uuid
from scripts.voice_node.livekit import LiveKit
from scripts.voice_node.node import Plan, Registration, VoiceNode
from tests.connect.play import GameServer
from tests.support.process import free_port
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until
from tests.support.world import World
from tests.voice.play import NODES, VOICE, credentials_of, join, node_server, private, sync

SPEAKS = {"can_subscribe": True, "can_publish": True, "can_publish_sources": ["MICROPHONE"]}
LISTENS = {"can_subscribe": True}

GRANTS = {
    "roomJoin": True, "canPublish": True, "canPublishSources": ["microphone"], "canSubscribe": True,
    "canPublishData": False,
}  # fmt: skip
MUTED = {"roomJoin": True, "canPublish": False, "canSubscribe": True, "canPublishData": False}


class Rooms:
    """The rooms of a LiveKit server.

    Args:
        http: asks the server.
    """

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def enter(self, token: str) -> Any:
        """Somebody connects with this token; returns what LiveKit reads in it."""
        answer = await self._http.post("/join", json={"token": token})
        answer.raise_for_status()
        return answer.json()

    async def now(self) -> dict[str, dict[str, Any]]:
        """{room: {identity: permission}}."""
        shown: dict[str, dict[str, Any]] = (await self._http.get("/joined")).json()["rooms"]
        return shown

    async def revoked(self) -> dict[str, int]:
        """{identity: epoch seconds before which their tokens are void}."""
        shown: dict[str, int] = (await self._http.get("/joined")).json()["revoked"]
        return shown

    async def become(self, holds: Callable[[dict[str, dict[str, Any]]], bool]) -> None:
        """Wait until the rooms are so."""

        async def become_so() -> bool:
            return holds(await self.now())

        await wait_until(become_so)


@asynccontextmanager
async def livekit_server(keys: Path) -> AsyncIterator[tuple[str, Rooms]]:
    """The address of a server with this file of keys, and its rooms."""
    port = free_port()
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "tests.voice.livekit_server", str(port), str(keys)], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        with patience():
            assert (await process.stdout.receive_some()).startswith(b"serves")
        url = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=url, timeout=PATIENCE_SECONDS) as http:
            yield url, Rooms(http)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def plan_of(world: World, server: GameServer) -> Plan:
    return Plan(world.url.replace("ws", "http", 1), credentials_of(server), "eu-west", 10, wait_seconds=1)


@pytest.mark.slow
async def test_what_partyline_says_is_done_in_livekit(world: World, tmp_path: Path) -> None:
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    ann, ben, eve = await world.players("Ann", "Ben", "Eve")
    keys = tmp_path / "keys.yaml"
    async with livekit_server(keys) as (url, rooms), trio.open_nursery() as nursery:
        media = LiveKit(url, url.replace("http", "ws", 1), keys, lambda _: None)
        await nursery.start(VoiceNode(plan_of(world, server), media, lambda _: None).run)
        assert keys.stat().st_mode & 0o777 == 0o600
        node = media.known()
        assert node is not None
        channel_id = await private(ann, ben)
        control = f"{VOICE}/channels/{channel_id}/control"
        first, second = (await join(ann, channel_id)), (await join(ben, channel_id))
        assert first["session"]["url"] == media.url
        read = await rooms.enter(first["session"]["token"])
        assert (read["identity"], read["name"], read["video"]) == (
            ann.id,
            "Ann",
            GRANTS | {"room": channel_id},
        )
        await rooms.enter(second["session"]["token"])
        assert (await rooms.now())[channel_id] == {ann.id: SPEAKS, ben.id: SPEAKS}

        async def reported() -> bool:
            (shown,) = (await moderator.get(NODES))["items"]
            return bool(shown["reportedParticipants"] == 2)

        await wait_until(reported)
        await moderator.do("PUT", control, {"mutedIds": [ann.id]}, status=200)
        await rooms.become(lambda now: now[channel_id] == {ann.id: LISTENS, ben.id: SPEAKS})
        muted = (await sync(ann, first))["session"]["token"]
        assert (await rooms.enter(muted))["video"] == MUTED | {"room": channel_id}
        await rooms.enter(first["session"]["token"])  # of before, which lets her publish
        await rooms.become(lambda now: now[channel_id][ann.id] == LISTENS)
        await moderator.do("PUT", control, {"mutedIds": []}, status=200)
        await rooms.become(lambda now: now[channel_id][ann.id] == SPEAKS)

        await moderator.do("PUT", control, {"removeIds": [ben.id]}, status=200)
        await rooms.become(lambda now: set(now[channel_id]) == {ann.id})
        nbf = jwt.decode(second["session"]["token"], options={"verify_signature": False})["nbf"]
        assert (await rooms.revoked())[ben.id] > nbf
        await rooms.enter(second["session"]["token"])
        await rooms.become(lambda now: set(now[channel_id]) == {ann.id})
        # An order of before somebody came is not about them.
        await media.obey({"kind": "remove", "channelId": channel_id, "userId": ann.id, "notBefore": nbf - 60})
        assert set((await rooms.now())[channel_id]) == {ann.id}

        unknown = new_uuid(lambda count: bytes(range(count)))
        for room, identity in ((channel_id, eve.id), (unknown, eve.id), ("lobby", eve.id)):
            await rooms.enter(_forged(world, node, room, identity))
        await rooms.become(lambda now: set(now.get(channel_id, ())) == {ann.id} and unknown not in now)
        assert set((await rooms.now())["lobby"]) == {eve.id}, "no room of Partyline's"
        nursery.cancel_scope.cancel()

    # Another start with the same keys is the same node.
    async with livekit_server(keys) as (url, _), trio.open_nursery() as nursery:
        media = LiveKit(url, url.replace("http", "ws", 1), keys, lambda _: None)
        await nursery.start(VoiceNode(plan_of(world, server), media, lambda _: None).run)
        assert media.known() == node
        assert len((await moderator.get(NODES))["items"]) == 1
        nursery.cancel_scope.cancel()


def _forged(world: World, node: Registration, room: str, identity: str) -> str:
    """A token that Partyline has not made."""
    now_s = world.clock.now_ms() // 1000
    claims = {"iss": node.node_id, "sub": identity, "nbf": now_s, "exp": now_s + 60}
    return jwt.encode({**claims, "video": {"room": room, "roomJoin": True}}, node.secret, algorithm="HS256")
