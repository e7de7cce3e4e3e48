"""What an owner holds in memory is what its rows say, whatever was done to it."""

from actors.connect import loading
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed, register
from tests.support.jobs import clean_connect
from tests.support.world import World


async def _agrees(world: World, server: GameServer) -> None:
    kind = world.service.of(GAME_SERVERS).server
    live = world.home(kind.name, server.id).system.peek(kind, server.id)
    assert live is not None
    kept = await world.service.database.read(loading.load, server.id)
    assert kept == live
    assert loading.restore(loading.dump(live)) == live


async def test_memory_is_what_the_rows_say(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await register(world)
    for _ in range(20):
        key = (await server.get(f"{server.path}/claim-key"))["claimKey"]
        world.clock.advance(1_000)
    await _agrees(world, server)
    await ann.do("POST", "/v1/connect/servers/claim", {"claimKey": key}, status=200)
    session = await server.seat(bob)
    await server.seat(bob)
    await server.seat(eve)
    await ann.do("POST", f"{server.path}/join-tickets", status=201)
    await ann.do("POST", f"{server.path}/secret/rotate")
    await ann.do("PATCH", server.path, {"isTemplate": True})
    assert (await server.refused("DELETE", f"{server.path}/sessions/{session['sessionId']}"))[0] == 404
    kind = world.service.of(GAME_SERVERS).server
    live = world.home(kind.name, server.id).system.peek(kind, server.id)
    kept = await world.service.database.read(loading.load, server.id)
    assert (kept.row, kept.tickets, kept.sessions) == (live.row, live.tickets, live.sessions)
    assert list(kept.sessions) == list(live.sessions)


async def test_owners_that_are_loaded_again_go_on(world: World):
    """A removed server stays removed, also for an owner that is live when its rows are gone."""
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    await ann.do("DELETE", server.path, status=204)
    assert await bob.refused("POST", f"{server.path}/join-tickets") == (404, "NOT_FOUND")
    world.clock.advance(2 * 3_600_000)
    await clean_connect(world)
    bob.headers["authorization"] = f"Bearer {world.token(bob.id, bob.name)}"
    assert await bob.refused("POST", f"{server.path}/join-tickets") == (404, "NOT_FOUND")
