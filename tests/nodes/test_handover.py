"""Shards move under load: nobody sees an error, nothing is lost or doubled, and what each said stays in order, for
those who read it as for those who watch.
"""

from functools import partial

import pytest
import trio

from actors.kernel.nodes.parting import part_with
from routes.joining import bow_out
from tests.support.cluster import Cluster
from tests.support.world import Player, Room

pytestmark = pytest.mark.slow

SPEAKERS = 6


class Load:
    """Speakers who say one thing after the other, each in a group of their own, on one node after the other."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rooms: list[tuple[Player, Room]] = []
        self._said: dict[str, list[str]] = {}
        self.answers = 0
        self.refused: list[str] = []
        self.stopped = False

    async def open(self) -> None:
        """Bring the speakers."""
        world = self._cluster.worlds["a"]
        for number in range(SPEAKERS):
            ann, bob = await world.players(f"Ann{number}", f"Bob{number}")
            self._rooms.append((ann, await ann.talk_to(bob)))
            self._said[self._rooms[-1][1].id] = []

    async def run(self, number: int) -> None:
        """One speaker, until stopped."""
        ann, room = self._rooms[number]
        said = self._said[room.id]
        turn = number
        while not self.stopped:
            names = [name for name in self._cluster.worlds if name in ("a", "b")]
            turn += 1
            speaker = self._cluster.at(ann, names[turn % len(names)])
            answer = await speaker.ask("POST", room.messages, {"content": f"{turn}"})
            self.answers += 1
            if answer.status_code == 201:
                said.append(answer.json()["id"])
            else:
                self.refused.append(answer.text)

    async def listen(self, number: int, name: str, task_status: trio.TaskStatus[None]) -> None:
        """Watch what one speaker says, on a node, until everything was heard that was said."""
        ann, room = self._rooms[number]
        async with self._cluster.at(ann, name).live("/v1/social/live?channels=") as socket:
            ask = {"op": "subscribe", "channel": room.channel, "params": {"mode": "delta"}}
            await socket.send_json({"id": 1, **ask})
            reply = await socket.receive_until(type="reply", id=1)
            task_status.started()
            offset, heard = reply["offset"], []
            while not self.stopped or heard != self._said[room.id]:
                with trio.move_on_after(0.5):
                    frame = await socket.receive_until(type="event", event="message_created")
                    offset += 1
                    assert frame["offset"] == offset, "neither a gap nor a repeat"
                    heard.append(frame["data"]["id"])

    async def check(self) -> None:
        """What was acknowledged is there, once, in order, and nothing else."""
        for ann, room in self._rooms:
            there: list[str] = []
            page = await ann.get(room.messages, limit=100)
            while True:
                there = [one["id"] for one in page["items"]] + there
                if not page["hasMore"]:
                    break
                page = await ann.get(room.messages, limit=100, beforeMs=page["nextBeforeMs"])
            assert there == self._said[room.id]


async def test_nobody_notices_that_shards_move(cluster: Cluster) -> None:
    load = Load(cluster)
    await load.open()
    async with trio.open_nursery() as nursery:
        for number in range(SPEAKERS):
            for name in ("a", "b"):
                await nursery.start(load.listen, number, name)
        for number in range(SPEAKERS):
            nursery.start_soon(load.run, number)
        await cluster.add("c")
        await cluster.settle()
        service = cluster.worlds["c"].service
        assert service.node is not None
        await bow_out(service.node, partial(part_with, service.system), 30)
        assert not service.placement.held()
        await cluster.remove("c")
        await cluster.settle()
        load.stopped = True
    assert load.answers > 100
    assert not load.refused
    await load.check()
