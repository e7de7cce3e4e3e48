"""A game server that is removed leaves memory, whatever was open in it."""

from actors.connect.rules import due
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import claimed
from tests.support.world import World, world

__all__ = ["world"]


async def test_a_removed_server_with_a_leased_command_has_nothing_due(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await ann.do("POST", f"{server.path}/commands", {"action": "load", "payload": {}}, status=201)
    await server.do("GET", f"{server.path}/commands", status=200)
    home = world.home("server", server.id)
    state = home.system.peek(home.of(GAME_SERVERS).server, server.id)
    assert state is not None
    assert due(state) is not None
    await ann.do("DELETE", server.path)
    state = home.system.peek(home.of(GAME_SERVERS).server, server.id)
    assert state is not None
    assert state.removed
    assert due(state) is None
