"""Wire: the connection is lost while a game server's change is committed: whom it may act for, and what it proves
itself with, is right again a moment later.
"""

import pytest

from actors.connect.own_view import INTERVAL_MS
from routes.users.parts import PRESENCE
from tests.connect.play import FRIENDS, SERVERS, claimed
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.waiting import patience
from tests.support.world import World

__all__ = ["proxy", "world"]

ROTATION_MS = 10 * 60_000


@pytest.mark.parametrize("landed", [True, False])
async def test_a_player_comes(world: World, proxy: Proxy, *, landed: bool) -> None:
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    ticket = await ann.do("POST", f"{server.path}/join-tickets", status=201)
    path, body = f"{server.path}/sessions", {"ticket": ticket["ticket"]}
    await lose(proxy, server, "POST", path, body, landed=landed, said=ann.id.encode())
    await settled(world)
    acts = (await server.ask("POST", f"{FRIENDS}/overview", {"actorId": ann.id})).status_code
    assert acts == (200 if landed else 403)
    assert world.service.of(PRESENCE).is_online(ann.id) is landed


@pytest.mark.parametrize("landed", [True, False])
async def test_a_player_goes(world: World, proxy: Proxy, *, landed: bool) -> None:
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    session = await server.seat(ann)
    path = f"{server.path}/sessions/{session['sessionId']}"
    await lose(proxy, server, "DELETE", path, landed=landed, said=ann.id.encode())
    await settled(world)
    acts = (await server.ask("POST", f"{FRIENDS}/overview", {"actorId": ann.id})).status_code
    assert acts == (403 if landed else 200)
    world.clock.advance(11_000)
    assert world.service.of(PRESENCE).is_online(ann.id) is not landed


@pytest.mark.parametrize("landed", [True, False])
async def test_a_member_comes(world: World, proxy: Proxy, *, landed: bool) -> None:
    """Whoever watches their servers sees it, although nobody was told that they belong to it."""
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    path, body = f"{server.path}/members/{ann.id}", {"role": "viewer"}
    async with ann.live("/v1/social/live?channels=servers") as client:
        assert (await client.receive_until(type="snapshot"))["data"]["items"] == []
        await lose(proxy, owner, "PUT", path, body, landed=landed, said=ann.id.encode())
        await settled(world)
        if not landed:
            assert (await ann.get(SERVERS, member="true"))["items"] == []
            await owner.do("PUT", path, body)
        with patience():
            world.advance(INTERVAL_MS)
            (item,) = (await client.receive_until(type="snapshot"))["data"]["items"]
    assert item["serverId"] == server.id


@pytest.mark.parametrize("landed", [True, False])
async def test_a_secret_is_rotated(world: World, proxy: Proxy, *, landed: bool) -> None:
    """Although nobody has heard the new secret, the old one ends ten minutes later; who repeats, hears it."""
    owner = await world.player("Owner", ttl_seconds=7200)
    server = await claimed(world, owner)
    await server.do("POST", f"{server.path}/tokens", {"scopes": ["server.social.act"]}, status=201)
    path = f"{server.path}/secret/rotate"
    await lose(proxy, owner, "POST", path, landed=landed, said=server.id.encode())
    await settled(world)
    world.clock.advance(ROTATION_MS + 1)
    asked = await server.ask("GET", f"{server.path}/claim-key")
    assert (asked.status_code == 401) is landed
    made = (await owner.ask("POST", path, headers={"idempotency-key": "once"})).json()
    fresh = server.bearing(made["serverSecret"])
    assert (await fresh.ask("GET", f"{server.path}/claim-key")).status_code != 401
