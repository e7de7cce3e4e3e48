"""What happens on one node is seen on the other: between users, in views, and who is online."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from persistence.nodes.shards import shard_of
from tests.friends.play import ask, make_friends
from tests.support.cluster import Cluster
from tests.support.waiting import wait_until
from tests.support.websocket import Client
from tests.support.world import Player

pytestmark = pytest.mark.slow


async def _until(socket: Client, says: Callable[[Any], Any]) -> Any:
    while not says(frame := await socket.receive_json()):
        pass
    return frame


async def test_friends_on_two_nodes(cluster: Cluster) -> None:
    ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
    ben_at_b = cluster.at(ben, "b")
    async with (
        ann.live("/v1/social/friends/live") as live,
        ben_at_b.live("/v1/social/live?channels=notifications,inbox") as own,
    ):
        made = await ask(ann, ben, note="hi")
        await _until(own, lambda frame: frame.get("type") == "snapshot" and frame["data"].get("items"))
        await ben_at_b.do("POST", f"/v1/social/friends/requests/{made['id']}/accept")
        frame = await _until(live, lambda frame: frame["friends"])
        assert frame["friends"][0]["online"] is True  # by a socket on the other node
        await ben_at_b.do("PATCH", f"/v1/social/friends/{ann.id}", {"visibility": "HIDDEN"})
        await _until(live, lambda frame: not frame["friends"][0]["online"])
        await ben_at_b.do("POST", "/v1/social/friends/blocks", {"targetId": ann.id})
        await _until(live, lambda frame: not frame["friends"])


async def test_an_inbox_follows_conversations_of_both_nodes(cluster: Cluster) -> None:
    ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
    at = cluster.worlds
    async with cluster.at(ben, "b").live("/v1/social/live?channels=inbox") as own:
        owners: set[str] = set()
        for number in count():
            room = await ann.talk_to(ben, await at["a"].player(f"Eve{number}"), kind="group")
            shard = shard_of("conversation", room.id)
            owners |= {name for name, world in at.items() if shard in world.service.placement.held()}
            await ann.say(room, f"news {number}")
            await _until(own, lambda frame, text=f"news {number}": text in str(frame))
            if number >= 7 and owners == {"a", "b"}:  # ids are drawn by chance
                break


async def test_a_block_reaches_the_conversation_wherever_it_lives(cluster: Cluster) -> None:
    """The owner has it in memory: it is told, and the next message is refused."""
    for blocker_at in ("a", "b"):
        ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
        room = await ann.talk_to(ben)
        await ann.say(room)
        await cluster.at(ben, blocker_at).do("POST", "/v1/social/friends/blocks", {"targetId": ann.id})

        async def refused(player: Player = ann, path: str = room.messages) -> bool:
            return (await player.ask("POST", path, {"content": "?"})).status_code == 403

        await wait_until(refused)


async def test_a_streak_is_shown_on_all_nodes(cluster: Cluster) -> None:
    """One node writes the day, which is that of the conversation."""
    ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
    await make_friends(ann, ben)
    room = await ann.talk_to(ben)
    path = "/v1/social/friends/live"
    async with ann.live(path) as anns, cluster.at(ann, "b").live(path) as anns_at_b:
        for player in (ann, ben):
            await player.say(room, "hi")
        for live in (anns, anns_at_b):
            await _until(live, lambda frame: frame["friends"][0]["flameStreak"] is not None)


async def test_a_right_is_closed_and_opened_on_both_nodes_at_once(cluster: Cluster) -> None:
    here = cluster.worlds["a"]
    ann, ben = await here.players("Ann", "Ben")
    ben_at_b, root, chat = cluster.at(ben, "b"), await here.super_admin(), "/v1/social/chat/conversations"
    for _ in range(3):
        await here.grant(ann, "social:chat.read")
        assert await ben_at_b.refused("GET", chat) == (403, "FORBIDDEN")
        await root.do("DELETE", "/v1/admin/permissions/social:chat.read", status=200)
        assert (await ben_at_b.get(chat))["items"] == []
