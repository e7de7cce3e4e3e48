"""What happens while a viewer's friends are being read: they are shown by the names that they have all the same."""

from pathlib import Path

import pytest
import trio

from persistence.users.users import arrive
from routes.users.parts import USER_DIRECTORY
from tests.friends.play import ask, make_friends
from tests.support.losing import proxy
from tests.support.proxy import Proxy
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.websocket import Client
from tests.support.world import Player, open_world

__all__ = ["proxy"]

LIVE = "/v1/social/live?channels="

HALF_READ = (b"E\0\0\0\t\0", b"FROM friend_requests")
"""The answer that is late: the second of two that make a view, when its friends were read already."""


async def _names(client: Client) -> set[str]:
    """The names of those whom the next snapshot shows."""
    shown = (await client.receive_until(type="snapshot"))["data"]
    requests = [*shown["requests"]["incoming"], *shown["requests"]["outgoing"]]
    return {one["player"]["name"] for one in (*shown["friends"], *requests)}


@pytest.mark.parametrize("relation", ["friends", "incoming", "outgoing"])
async def test_a_rename_while_friends_are_read_is_shown(proxy: Proxy, tmp_path: Path, relation: str) -> None:
    """Another node renames Ben, who is not in the memory of this one."""
    async with open_world(proxy.url, tmp_path) as before:
        ann, ben = await before.players("Ann", "Ben")
        if relation == "friends":
            await make_friends(ann, ben)
        else:
            await ask(*((ben, ann) if relation == "incoming" else (ann, ben)))
        clock = before.clock
    async with open_world(proxy.url, tmp_path, clock=clock) as world:
        ann = Player(world, ann.id, ann.name, ann.token)
        has_read = proxy.hold_at(HALF_READ[0], after=HALF_READ[1])
        async with ann.live(LIVE) as client:
            await client.send_json({"id": "s", "op": "subscribe", "channel": "friends"})
            await has_read.wait()
            now_ms = world.clock.now_ms()
            told = trio.Event()
            world.service.of(USER_DIRECTORY).on_rename(lambda _id, _name: told.set())
            await world.service.database.transact(
                lambda conn: arrive(conn, ben.id, "Benno", issued_at_s=now_ms // 1000, now_ms=now_ms)
            )
            await told.wait()
            proxy.let_go()
            with trio.fail_after(PATIENCE_SECONDS):
                while await _names(client) != {"Benno"}:
                    pass
