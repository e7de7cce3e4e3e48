"""The program of scripts/voice where something is in its way: an absent service, its own end, its files, its double."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import trio

from routes.voice.parts import FLEET
from scripts.game_server import pauses
from scripts.game_server.client import Credentials
from scripts.voice_node import node as module
from scripts.voice_node.livekit import LiveKit
from scripts.voice_node.node import Media, Plan, Registration, Unknown, Unusable, VoiceNode
from scripts.voice_node.relay import open_relay
from scripts.voice_node.sockets import connect
from tests.client.play import http, saying
from tests.connect.play import GameServer
from tests.contract.sources import ROOT
from tests.support.front import front_of
from tests.support.process import program
from tests.support.waiting import patience, wait_until
from tests.support.world import Player, World
from tests.voice.play import NODES, VOICE, credentials_of, join, minding, node, node_server, private

PROGRAM = [sys.executable, "-m", "scripts.voice_node"]

BEATS = 4
CROWD = 2_000
"""Rooms of two."""


class Counted:
    """Media that nobody uses: a LiveKit server's, as who has a file of keys minds it; its reports are counted."""

    protocol = "livekit"
    url = "wss://voice1.example.net"

    def __init__(self, known: Registration) -> None:
        self._known = known
        self.reports = 0

    def known(self) -> Registration | None:
        return self._known

    async def carry(self, node: Registration, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        await trio.sleep_forever()

    async def report(self) -> list[dict[str, Any]]:
        self.reports += 1
        return []

    def muted(self) -> list[tuple[str, str]]:
        return []

    async def obey(self, action: dict[str, Any]) -> None:
        raise AssertionError(action)


def plan_of(url: str, server: GameServer, wait_seconds: int = 1) -> Plan:
    return Plan(
        url.replace("ws", "http", 1), credentials_of(server), "eu-west", 10, wait_seconds=wait_seconds
    )


async def _count(moderator: Player, count: int) -> bool:
    return len((await moderator.get(NODES))["items"]) == count


async def test_it_registers_once_the_service_is_back_and_is_removed_at_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_PAUSE_SECONDS", 0.02)
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    relay = await open_relay("127.0.0.1", 0, lambda _: None)
    with patience():
        async with front_of(world.url) as front, trio.open_nursery() as nursery:
            front.go_away()
            nursery.start_soon(VoiceNode(plan_of(front.url, server), relay, lambda _: None).run)

            async def was_refused() -> bool:
                return front.refusals > 3

            await wait_until(was_refused)
            front.come_back()
            await wait_until(partial(_count, moderator, 1))
            nursery.cancel_scope.cancel()
        await wait_until(partial(_count, moderator, 0))


async def test_one_that_was_removed_is_not_said_to_stay(world: World):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    said: list[str] = []
    relay = await open_relay("127.0.0.1", 0, said.append)
    with patience(), pytest.RaisesGroup(pytest.RaisesGroup(Unknown)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(VoiceNode(plan_of(world.url, server), relay, said.append).run)
            await wait_until(partial(_count, moderator, 1))
            (made,) = (await moderator.get(NODES))["items"]
            await server.do("DELETE", f"{NODES}/{made['nodeId']}")
    assert [line.partition(" ")[0] for line in said] == ["node"], said


async def test_two_that_are_the_same_node_do_not_chase_each_other(world: World):
    """Each heartbeat has the one that waits answered."""
    server = await node_server(world)
    made = await node(world, server)
    media = [Counted(Registration(made.id, made.secret)) for _ in range(2)]
    with patience():
        began_at = trio.current_time()
        async with trio.open_nursery() as nursery:
            for one in media:
                checked: Media = one
                nursery.start_soon(VoiceNode(plan_of(world.url, server, 20), checked, lambda _: None).run)

            async def have_beaten() -> bool:
                return sum(one.reports for one in media) >= 2 * BEATS

            await wait_until(have_beaten)
            nursery.cancel_scope.cancel()
        # One of the two waits for the other each time.
        assert trio.current_time() - began_at >= (BEATS - 2) * module.EVEN_SECONDS


class Crowded(Counted):
    """Media of so many that a report of all is more than the service takes at once."""

    async def report(self) -> list[dict[str, Any]]:
        ids = [str(UUID(int=number)) for number in range(3 * CROWD)]
        return [{"channelId": ids[at], "participants": ids[at + 1 : at + 3]} for at in range(0, len(ids), 3)]


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"<html>"])
async def test_a_node_outlives_answers_that_are_not_the_services(
    body: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.01)
    media = Counted(Registration("node", "secret"))

    async def has_reported() -> bool:
        return media.reports >= BEATS

    with patience():
        async with saying(lambda _: http(200, body)) as url, trio.open_nursery() as nursery:
            plan = Plan(url, Credentials("id", "secret"), "eu-west", 10)
            nursery.start_soon(VoiceNode(plan, media, lambda _: None).run)
            await wait_until(has_reported)
            nursery.cancel_scope.cancel()


async def test_a_node_with_many_rooms_is_heard(world: World):
    """Or it would be silent to the service, and its channels would move to the next one, and so on."""
    made = await node(world, await node_server(world))
    media: Media = Crowded(Registration(made.id, made.secret))
    plan = Plan(world.url.replace("ws", "http", 1), Credentials("-", "-"), "eu-west", 10_000)

    async def is_heard() -> bool:
        known = minding(world).of(FLEET).get(made.id)
        return known is not None and known.participants == 2 * CROWD

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(VoiceNode(plan, media, lambda _: None).run)
            await wait_until(is_heard)
            nursery.cancel_scope.cancel()


async def test_who_was_unmuted_while_orders_were_lost_is_heard_and_who_was_not_is_not(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MOST_PAUSE_SECONDS", 0.02)
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    ann, ben = await world.players("Ann", "Ben")
    relay = await open_relay("127.0.0.1", 0, lambda _: None)
    with patience():
        async with front_of(world.url) as front, trio.open_nursery() as nursery:
            await nursery.start(VoiceNode(plan_of(front.url, server), relay, lambda _: None).run)
            await wait_until(partial(_count, moderator, 1))
            channel_id = await private(ann, ben)
            control = f"{VOICE}/channels/{channel_id}/control"
            first, second = (await join(ann, channel_id)), (await join(ben, channel_id))
            async with (
                connect(relay.url, first["session"]["token"]),
                connect(relay.url, second["session"]["token"]),
            ):

                async def are_muted(*users: Player) -> bool:
                    return set(relay.muted()) == {(channel_id, user.id) for user in users}

                await moderator.do("PUT", control, {"mutedIds": [ann.id, ben.id]}, status=200)
                await wait_until(partial(are_muted, ann, ben))
                front.go_away()
                await moderator.do("PUT", control, {"mutedIds": [ben.id]}, status=200)
                minding(world).of(FLEET).begin()  # as after a restart: the order to unmute is forgotten
                front.come_back()
                await wait_until(partial(are_muted, ben))
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("content", ["", "no key", ": ", "name:"])
def test_a_file_of_keys_that_holds_none_is_told(tmp_path: Path, content: str):
    keys = tmp_path / "keys.yaml"
    keys.write_text(content)
    with pytest.raises(Unusable, match=r"keys\.yaml holds no key of a node"):
        LiveKit("http://127.0.0.1:1", "ws://x", keys, lambda _: None).known()
    assert keys.read_text() == content


async def test_keys_are_written_whole_and_for_their_owner_alone(tmp_path: Path):
    keys = tmp_path / "new" / "keys.yaml"
    media = LiveKit("http://127.0.0.1:1", "ws://x", keys, lambda _: None)
    assert media.known() is None
    assert not keys.exists()
    async with trio.open_nursery() as nursery:
        await nursery.start(media.carry, Registration("name", "secret"))
        nursery.cancel_scope.cancel()
    assert media.known() == Registration("name", "secret")
    assert (list(keys.parent.iterdir()), keys.stat().st_mode & 0o777) == ([keys], 0o600)


async def test_no_node_is_registered_where_there_is_no_place_for_its_keys(world: World, tmp_path: Path):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    (tmp_path / "file").write_text("")
    media = LiveKit("http://127.0.0.1:1", "ws://x", tmp_path / "file" / "keys.yaml", lambda _: None)
    with pytest.raises(OSError, match="file"):
        await VoiceNode(plan_of(world.url, server), media, lambda _: None).run()
    assert await _count(moderator, 0)


def ended(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=100
    )
    return done.returncode, done.stderr


async def test_sigterm_removes_the_node(world: World, tmp_path: Path):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    kept = tmp_path / "agent.json"
    kept.write_bytes(msgspec.json.encode(credentials_of(server)))
    asked = [*PROGRAM, "node", "--url", world.url, "--port", "0", "--credentials", str(kept)]
    with patience():
        async with program(asked, cwd=ROOT, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            await wait_until(partial(_count, moderator, 1))
            process.send_signal(signal.SIGTERM)
            assert (await process.wait(), await process.stderr.receive_some()) == (0, b"")
            assert await _count(moderator, 0)


async def test_who_is_refused_is_told_once(tmp_path: Path):
    kept = tmp_path / "agent.json"
    kept.write_text("{")
    assert ended("node", "--credentials", str(kept)) == (
        1, f"cannot run: {kept} holds no credentials of a game server\n"
    )  # fmt: skip
    relay = await open_relay("127.0.0.1", 0, lambda _: None)
    with patience():
        async with trio.open_nursery() as nursery:
            await nursery.start(relay.carry, Registration("name", "secret"))
            told = await trio.to_thread.run_sync(partial(ended, "talk", relay.url, "no token"))
            assert told == (1, "refused: the node takes no such token\n")
            nursery.cancel_scope.cancel()
    assert ended("node", "--capacity", "0")[0] == 2
    for wrong in ("http://127.0.0.1:7880", "ws://[", "ws://127.0.0.1:99999"):
        assert ended("talk", wrong, "token")[0] == 2
