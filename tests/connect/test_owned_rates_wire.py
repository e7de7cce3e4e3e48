"""Wire: a user's game servers are counted together, so that who has many has not as many limits."""

import pytest

from routes.edge.policies import OWNED_SERVERS
from routes.rates import OWNED_SETTINGS, SETTINGS_WRITE
from tests.connect.play import GameServer, claimed, register
from tests.networks.play import network
from tests.support.world import Player, World, world

__all__ = ["world"]

pytestmark = pytest.mark.one_node(because="they count to the last token")

LIMITED = (429, "RATE_LIMITED")


async def _settings(server: GameServer, number: int) -> int:
    """Store other settings with the server's own secret; returns the status of the answer."""
    answer = await server.ask("PUT", f"{server.path}/settings", {"data": {"number": number}})
    if answer.status_code == 429:
        assert answer.headers["ratelimit-policy"].startswith('"settings-write')
    return answer.status_code


async def _push(server: Player, path: str) -> int:
    return (await server.ask("PUT", f"{path}/publication/status", {"online": True})).status_code


async def test_settings_of_many_servers_of_one_owner_count_together(world: World) -> None:
    """Servers are cheap, as a token makes one; a version of settings has up to 64 KiB."""
    ann, ben = await world.players("Ann", "Ben")
    net = await network(ann)
    stranger = await claimed(world, ben)
    # One more than would do with limits of their own.
    servers = [await net.host(f"Node {n}") for n in range(OWNED_SETTINGS.quota // SETTINGS_WRITE.quota + 1)]
    world.clock.stop()
    answers = [await _settings(one, n) for one in servers for n in range(SETTINGS_WRITE.quota)]
    assert answers == [200] * OWNED_SETTINGS.quota + [429] * SETTINGS_WRITE.quota
    assert await _settings(stranger, 1) == 200
    # Whom the owner asks with a token of their own has the limit of a user.
    mine = await ann.ask("PUT", f"{servers[-1].path}/settings", {"data": {"number": -1}})
    assert mine.status_code == 200
    world.clock.advance(60_000 // OWNED_SETTINGS.quota)
    assert [await _settings(servers[-1], n) for n in (1_000, 1_001)] == [200, 429]


async def test_requests_of_all_servers_of_one_owner_count_together(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    one, other = await claimed(world, ann), await claimed(world, ann, "Other")
    stranger, unclaimed = await claimed(world, ben), await register(world)
    world.clock.stop()
    # As if ten servers had spent what they have.
    world.service.limits.spend(
        OWNED_SERVERS, f"owner:{ann.id}", world.clock.now_ms(), OWNED_SERVERS.quota - 1
    )
    assert [await _push(one, one.path), await _push(other, other.path)] == [200, 429]
    assert await other.refused("GET", f"{other.path}/settings") == LIMITED
    assert [await _push(stranger, stranger.path), await _push(unclaimed, unclaimed.path)] == [200, 200]
    assert (await ann.ask("GET", f"{one.path}/settings")).status_code == 200


async def test_a_server_in_a_haste_takes_nothing_from_the_others(world: World) -> None:
    ann = await world.player("Ann")
    one, other = await claimed(world, ann), await claimed(world, ann, "Other")
    world.clock.stop()
    world.service.limits.spend(
        OWNED_SERVERS, f"owner:{ann.id}", world.clock.now_ms(), OWNED_SERVERS.quota - 4
    )
    answers = [await _push(one, one.path) for _ in range(8)]
    assert answers[-1] == 429
    taken = answers.count(200)
    assert [await _push(other, other.path) for _ in range(4 - taken)] == [200] * (4 - taken)
    assert await other.refused("GET", f"{other.path}/settings") == LIMITED
