"""Wire: who speaks is told beside the offsets, four times a second at most, and never of who is muted."""

from typing import Any

from actors.voice.own_view import INTERVAL_MS
from routes.voice.parts import ATTENDANCE
from tests.support.websocket import Client
from tests.support.world import World
from tests.voice.play import VOICE, join, node, node_server, private, sync


async def spoken(socket: Client) -> Any:
    """The next event, which tells who speaks."""
    event = await socket.receive_json()
    assert (event["type"], event["event"], event["offset"]) == ("event", "speaking", None)
    return event["data"]["userIds"]


async def _speak(world: World, *joined: Any) -> None:
    """Wait until all nodes have heard that these sessions speak, and no others."""
    sessions = {one["session"]["id"] for one in joined}
    await world.everywhere(lambda service: service.of(ATTENDANCE).speaking == sessions)


async def test_who_speaks_is_told_four_times_a_second(world: World) -> None:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    moderator = await world.ranked("Mod", "moderator")
    channel_id = await private(ann, ben)
    first, second = await join(ann, channel_id), await join(ben, channel_id)
    world.clock.stop()
    async with ben.live("/v1/social/live?channels=") as socket:
        command = {"id": 1, "op": "subscribe", "channel": "voice", "params": {"mode": "delta"}}
        await socket.send_json(command)
        await socket.receive_until(type="snapshot")
        await sync(ann, first, speaking=True)
        assert await spoken(socket) == [ann.id]
        # What happens within a quarter of a second is one frame, after it.
        for speaking in (False, True, False):
            await sync(ann, first, speaking=speaking)
        await sync(ben, second, speaking=True)
        await _speak(world, second)
        world.advance(INTERVAL_MS)
        assert await spoken(socket) == [ben.id]
        await sync(ann, first, speaking=True)
        await _speak(world, first, second)
        world.advance(INTERVAL_MS)
        assert sorted(await spoken(socket)) == sorted([ann.id, ben.id])
        await moderator.do(
            "PUT", f"{VOICE}/channels/{channel_id}/control", {"mutedIds": [ann.id]}, status=200
        )
        world.advance(INTERVAL_MS)
        event = await socket.receive_json()
        assert (event["event"], event["offset"] is not None) == ("voice_updated", True)
        shown = {one["userId"]: one for one in event["data"]["channel"]["participants"]}
        assert {id: (one["speaking"], one["serverMute"]) for id, one in shown.items()} == {
            ann.id: (False, True), ben.id: (True, False),
        }  # fmt: skip
