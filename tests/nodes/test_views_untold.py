"""What a node has committed and told nobody before it ended is on open sockets of other nodes soon after its end."""

from itertools import count
from pathlib import Path

import pytest
import trio

from persistence.connection import Connection
from persistence.nodes.shards import shard_of
from persistence.notifications.notifications import NewNotification, add
from tests.support.cluster import Cluster, open_cluster
from tests.support.nats import NatsServer
from tests.support.websocket import Client
from tests.support.world import Player, Room

pytestmark = pytest.mark.slow


async def room_on(cluster: Cluster, name: str, player: Player, other: Player) -> Room:
    """A group of two and somebody new, whose actor lives on a node."""
    held = cluster.worlds[name].service.placement.held()
    for number in count():
        room = await player.talk_to(other, await cluster.worlds["a"].player(f"Eve{number}"), kind="group")
        if shard_of("conversation", room.id) in held:
            return room
    raise AssertionError


async def _until_all(socket: Client, wanted: dict[str, str]) -> None:
    """Wait until each channel has had a frame with its text, in whatever order they come."""
    missing = dict(wanted)
    while missing:
        frame = await socket.receive_json()
        if missing.get(frame.get("channel"), str(frame)) in str(frame):
            missing.pop(frame.get("channel"), None)


@pytest.mark.parametrize("mode", ["snapshot", "delta"])
async def test_open_views_show_what_rows_say_after_the_end_of_a_node(
    database_url: str, tmp_path: Path, nats: NatsServer, mode: str
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
        room = await room_on(cluster, "b", ben, ann)
        await ben.say(room, "hello")
        now_ms = cluster.worlds["b"].clock.now_ms()
        noticed = NewNotification("a" * 24, ann.id, "friend_accepted", None, b'{"n":7}', now_ms)

        async def change(conn: Connection) -> None:
            await add(conn, [noticed])
            await conn.execute("UPDATE conversations SET title = 'Untold' WHERE id = $1", room.id)

        async with ann.live("/v1/social/live?channels=") as socket:
            for channel in ("inbox", "notifications"):
                ask = {"id": channel, "op": "subscribe", "channel": channel, "params": {"mode": mode}}
                await socket.send_json(ask)
                await socket.receive_until(type="reply", id=channel)
            await cluster.worlds["b"].service.database.transact(change)
            await cluster.remove("b")
            with trio.fail_after(30):
                await _until_all(socket, {"inbox": "Untold", "notifications": noticed.id})
