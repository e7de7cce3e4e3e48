"""What an owner holds in memory is what its rows say, whatever was done to it."""

from actors.connect import loading
from actors.connect.state import State
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed, register
from tests.support.jobs import clean_connect
from tests.support.world import World


async def _agrees(world: World, server: GameServer) -> None:
    live = await _rows_agree(world, server)
    assert loading.restore(loading.dump(live)) == live


async def _rows_agree(world: World, server: GameServer) -> State:
    kind = world.service.of(GAME_SERVERS).server
    live = world.home(kind.name, server.id).system.peek(kind, server.id)
    assert live is not None
    kept = await world.service.database.read(loading.load, server.id)
    assert kept == live
    assert isinstance(live, State)
    return live


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


async def test_rows_of_commands_follow_each_change(world: World):
    """What is not sent with a change stays as it is; what was made and delivered in one turn is there whole."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/commands"
    ids: list[str] = []
    for at in range(4):
        made = await ann.do(
            "POST", path, {"action": "a", "payload": {"at": at}, "ttlSeconds": 600}, status=201
        )
        ids.append(made["command"]["id"])
    await _rows_agree(world, server)
    await server.get(path)
    await _rows_agree(world, server)
    for id in ids[:3]:
        running = {"status": "running", "result": {"half": True}, "progress": 50}
        await server.do("POST", f"{path}/{id}/ack", running, status=200)
        await server.do("POST", f"{path}/{id}/ack", {"status": "running", "progress": 60}, status=200)
        await _rows_agree(world, server)
    await ann.do("DELETE", f"{path}/{ids[0]}", status=204)
    await server.do("POST", f"{path}/{ids[1]}/ack", {"status": "success"}, status=200)
    await server.do(
        "POST", f"{path}/{ids[2]}/ack", {"status": "failed", "result": {"at": 7}, "error": "no"}, status=200
    )
    await _rows_agree(world, server)
    kept = [
        (one["payload"]["at"], one["status"], one["result"], one["progress"])
        for one in (await ann.get(path))["items"]
    ]
    assert kept == [
        (3, "delivered", None, None),
        (2, "failed", {"at": 7}, 60),
        (1, "success", {"half": True}, 60),
        (0, "cancelled", {"half": True}, 60),
    ]
