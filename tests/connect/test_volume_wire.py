"""Wire: how many bytes a user and their game servers may send in a day to be kept, however many servers there are."""

import pytest

from routes.connect.volume import FREE_BYTES
from routes.rates import CONNECT_BYTES
from tests.connect.play import GameServer, claimed
from tests.support.world import Player, World

pytestmark = pytest.mark.one_node(because="they count to the last byte")

LARGE = {"text": "x" * 32_000}
LIMITED = (429, "RATE_LIMITED")


async def _extension(player: Player) -> str:
    body = {"extensionId": "chest-shop", "name": "Chest shop", "visibility": "public"}
    await player.do("POST", "/v1/connect/extensions", body, status=201)
    return "chest-shop"


async def _command(owner: Player, server: GameServer) -> str:
    made = await owner.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
    return f"{server.path}/commands/{made['command']['id']}/ack"


async def test_what_servers_of_one_owner_keep_counts_together(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    one, other = await claimed(world, ann), await claimed(world, ann, "Other")
    stranger = await claimed(world, ben)
    extension, ack = await _extension(ann), await _command(ann, other)
    actions = [{"id": id, "description": "x" * 500} for id in "abc"]
    world.service.limits.spend(
        CONNECT_BYTES, f"owner:{ann.id}", world.clock.now_ms(), CONNECT_BYTES.quota - 1
    )
    settings = {"data": LARGE}
    await one.do("PUT", f"{one.path}/settings", settings, status=200)

    refused = await other.ask("PUT", f"{other.path}/settings", settings)
    assert (refused.status_code, refused.json()["code"]) == LIMITED
    assert refused.headers["ratelimit-policy"].startswith('"connect-bytes"')
    assert await other.refused("POST", ack, {"status": "running", "result": LARGE}) == LIMITED
    assert await other.refused("PUT", f"{other.path}/extensions/{extension}", {"actions": actions}) == LIMITED
    assert await ann.refused("PUT", f"{one.path}/settings", settings) == LIMITED
    assert await ann.refused("POST", f"{one.path}/commands", {"action": "a", "payload": LARGE}) == LIMITED

    for small in ({"data": {"number": 1}}, {"data": {"text": "x" * (FREE_BYTES - 100)}}):
        await other.do("PUT", f"{other.path}/settings", small, status=200)
    await other.do("POST", ack, {"status": "success", "result": {"ok": True}}, status=200)
    await stranger.do("PUT", f"{stranger.path}/settings", settings, status=200)
    world.advance(60_000)
    await other.do("PUT", f"{other.path}/settings", settings, status=200)
