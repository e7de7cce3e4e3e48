"""The node of scripts/voice, with two clients: joining, talking, muting, being removed, and coming back."""

from functools import partial

import pytest
import trio
from wsproto.events import BytesMessage

from scripts.voice_node.node import Plan, VoiceNode
from scripts.voice_node.relay import open_relay
from scripts.voice_node.rooms import Refused
from scripts.voice_node.sockets import Peer, connect
from tests.support.waiting import patience, wait_until
from tests.support.world import World
from tests.voice.play import VOICE, credentials_of, ended, join, node_server, private


async def heard(peer: Peer) -> bytes | None:
    """The next frame; None when the node has ended the connection."""
    with patience():
        event = await peer.next()
    return bytes(event.data) if isinstance(event, BytesMessage) else None


async def test_two_clients_join_talk_are_muted_and_removed(world: World):
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    ann, ben = await world.players("Ann", "Ben")
    said: list[str] = []
    plan = Plan(world.url.replace("ws", "http", 1), credentials_of(server), "eu-west", 10, wait_seconds=1)
    node = VoiceNode(plan, await open_relay("127.0.0.1", 0, said.append), said.append)
    async with trio.open_nursery() as nursery:
        await nursery.start(node.run)
        channel_id = await private(ann, ben)
        control = f"{VOICE}/channels/{channel_id}/control"
        first, second = (await join(ann, channel_id)), (await join(ben, channel_id))
        url = first["session"]["url"]
        async with (
            connect(url, first["session"]["token"]) as one,
            connect(url, second["session"]["token"]) as two,
        ):
            await one.send(BytesMessage(b"hello"))
            assert await heard(two) == b"hello"
            await moderator.do("PUT", control, {"mutedIds": [ann.id]}, status=200)
            await wait_until(partial(_told, said, "mute"))
            await one.send(BytesMessage(b"nobody hears this"))
            await moderator.do("PUT", control, {"mutedIds": []}, status=200)
            await wait_until(partial(_told, said, "unmute"))
            await one.send(BytesMessage(b"again"))
            assert await heard(two) == b"again"
            await moderator.do("PUT", control, {"removeIds": [ben.id]}, status=200)
            assert await heard(two) is None
            assert await ended(ben, second) == "REMOVED"
            with pytest.raises(Refused):
                async with connect(url, second["session"]["token"]):
                    pass
        nursery.cancel_scope.cancel()


async def _told(said: list[str], kind: str) -> bool:
    return any(line.startswith(f"{kind} ") for line in said)
