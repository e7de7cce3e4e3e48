"""A voice node that is gone before memory has taken in that it registered: memory does not take it in any more."""

import pytest
import trio

from persistence.voice import nodes
from routes.voice.parts import FLEET
from tests.connect.play import claimed
from tests.support.losing import proxy, world
from tests.support.proxy import Proxy
from tests.support.world import World
from tests.voice.play import NODE, NODES, minding

__all__ = ["proxy", "world"]

REGION = "the-region-of-one-node"

HELD = {
    "its commit": (b"COMMIT\0", REGION.encode()),
    "its row": (b"E\0\0\0\t\0", b"FROM voice_nodes\n WHERE node_id"),
}
"""Which answer of PostgreSQL is late: {what it is: (the text that it answers, what was sent before)}."""


@pytest.mark.parametrize("late", HELD)
@pytest.mark.parametrize("gone", ["the node", "its server"])
async def test_a_node_that_is_gone_already_is_not_taken_in(
    proxy: Proxy, world: World, gone: str, late: str
) -> None:
    owner = await world.player("Operator")
    await world.grant(owner, "social:voice.node")
    server = await claimed(world, owner)
    text, after = HELD[late]
    answered = proxy.hold_at(text, after=after)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.ask, "POST", f"{NODES}/register", {**NODE, "region": REGION})
        await answered.wait()
        (row,) = await world.service.database.read(nodes.read_all)
        if gone == "the node":
            await server.do("DELETE", f"{NODES}/{row.node_id}", status=204)
        else:
            await owner.do("DELETE", server.path, status=204)
        proxy.let_go()
    assert await world.service.database.read(nodes.read_all) == []
    assert list(minding(world).of(FLEET)) == []
