"""Wire: since when a friend is online, where another node knows it better."""

from typing import Any

from actors.time import iso
from routes.users.parts import PRESENCE
from tests.friends.play import FRIENDS, entry_of, make_friends
from tests.support.world import World

HOUR_MS = 3_600_000


def _since(shown: Any) -> str:
    (friend,) = shown["friends"]
    timestamp: str = friend["status"]["timestamp"]
    return timestamp if friend["online"] else ""


async def test_it_is_shown_as_the_node_knows_it_that_has_had_them_for_longest(world: World) -> None:
    """As after a moment in which this node did not hear the other one, on which they are as well."""
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    async with ann.live(f"{FRIENDS}/live") as socket, ben.live("/v1/social/live?channels="):
        while not _since(await socket.receive_json()):
            pass
        known_ms = world.clock.now_ms() - HOUR_MS
        for service in world.services:
            service.of(PRESENCE).opened(ben.id, known_ms)
        while _since(await socket.receive_json()) != iso(known_ms):
            pass
        assert (await entry_of(ann, ben))["status"]["timestamp"] == iso(known_ms)
