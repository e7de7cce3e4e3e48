"""What happens while a viewer's friends are being read: they are shown by the names that they have all the same."""

from pathlib import Path

import pytest
import trio

from persistence.users.permissions import announce, renamed
from persistence.users.users import arrive
from routes.users.parts import USER_DIRECTORY
from tests.friends.play import ask, make_friends
from tests.support.losing import proxy
from tests.support.proxy import Proxy
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world

__all__ = ["proxy"]

LIVE = "/v1/social/live?channels="

HALF_READ = (b"E\0\0\0\t\0", b"FROM friend_requests")
"""The answer that is late: the second of two that make a view, when its friends were read already."""


async def _names(client: Client) -> set[str]:
    """The names of those whom the next snapshot shows."""
    shown = (await client.receive_until(type="snapshot"))["data"]
    requests = [*shown["requests"]["incoming"], *shown["requests"]["outgoing"]]
    return {one["player"]["name"] for one in (*shown["friends"], *requests)}


async def _names_heard(world: World) -> set[str]:
    """The new names of which the node hears from now on: it begins to listen a moment after it was opened."""
    names: set[str] = set()
    world.service.of(USER_DIRECTORY).on_rename(lambda _id, name: names.add(name))

    async def is_heard() -> bool:
        await world.service.database.transact(lambda conn: announce(conn, renamed("nobody", "Nobody")))
        return "Nobody" in names

    await wait_until(is_heard)
    return names


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
        names = await _names_heard(world)

        async def renamed_here() -> bool:
            return "Benno" in names

        has_read = proxy.hold_at(HALF_READ[0], after=HALF_READ[1])
        async with ann.live(LIVE) as client:
            await client.send_json({"id": "s", "op": "subscribe", "channel": "friends"})
            await has_read.wait()
            now_ms = world.clock.now_ms()
            await world.service.database.transact(
                lambda conn: arrive(conn, ben.id, "Benno", issued_at_s=now_ms // 1000, now_ms=now_ms)
            )
            await wait_until(renamed_here)
            proxy.let_go()
            with trio.fail_after(PATIENCE_SECONDS):
                while await _names(client) != {"Benno"}:
                    pass
