"""Users who come and go, and requests that are refused, leave nothing of the service to the collector."""

from tests.friends.play import make_friends
from tests.support.garbage import left_to_the_collector
from tests.support.waiting import wait_until
from tests.support.world import Player, World, world

__all__ = ["world"]

ROUNDS = 6

CHANNELS = "inbox,friends,party,notifications,news,shop,games"

OURS = ("actors.", "persistence.", "routes.", "httptools.", "builtins.frame")


async def _come_and_go(world: World, ann: Player, ben: Player, path: str) -> None:
    async with ann.live(f"/v1/social/live?channels={CHANNELS}") as live:
        for channel in CHANNELS.split(","):
            await live.send_json({"id": 1, "op": "subscribe", "channel": channel})
            await live.receive_until(type="snapshot")
        await ben.do("POST", f"{path}/messages", {"content": "hello"}, status=201)
    await ann.do("POST", "/v1/social/friends/requests", {"targetId": ben.id}, status=409)
    await ann.do("POST", "/v1/social/party/invites", {"targetId": ann.id}, status=422)

    async def nobody_is_there() -> bool:
        return len(world.service.sockets) == 0

    await wait_until(nobody_is_there)


async def test_who_comes_and_goes_leaves_nothing(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    room = await ann.talk_to(ben)
    await _come_and_go(world, ann, ben, room.path)
    with left_to_the_collector() as left:
        for _ in range(ROUNDS):
            await _come_and_go(world, ann, ben, room.path)
    assert {name: count for name, count in left.items() if name.startswith(OURS)} == {}
