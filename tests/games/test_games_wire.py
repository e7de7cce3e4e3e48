"""Wire: the catalog of games, and who plays which of them now."""

from functools import partial
from typing import Any

import msgspec
import pytest

from actors.catalogs.importing import GAMES, Imported
from actors.catalogs.units_removal import remove_game
from actors.errors import NotFound
from actors.games.catalog import GAMES_MAX, GameLine
from actors.games.live import GamesChanged, GamesSnapshot
from persistence.connection import Connection
from persistence.games import games
from routes.games.jobs import count_changed
from routes.games.parts import GAMES_LIVE
from tests.catalogs.play import ANIMALS, COW, lines, take_in
from tests.connect.play import claimed
from tests.networks.play import network
from tests.publications.play import flush, path_of, publish, push
from tests.support.jobs import job_named
from tests.support.locks import held_up
from tests.support.websocket import Client
from tests.support.world import World

CATALOG = "/v1/games/catalog"
LIVE = "/v1/games/live"


async def shown(client: Client) -> dict[str, tuple[int, int]]:
    """{game: its players and servers}, of those that are played, in the next frame."""
    frame = msgspec.convert(await client.receive_json(), GamesSnapshot)
    return {one.game_id: (one.players, one.servers) for one in frame.items if one.servers}


async def next_second(world: World) -> None:
    """Let a frame's interval pass, and what happens each second happen."""
    await count_changed(world.service)
    await flush(world)
    world.advance(1_000)


async def test_the_catalog_ships_with_a_dozen(world: World) -> None:
    ann = await world.player("Ann")
    items = (await ann.get(CATALOG))["items"]
    assert len(items) == 12
    assert [item["name"].lower() for item in items] == sorted(item["name"].lower() for item in items)
    assert next(item for item in items if item["gameId"] == "skyblock") == {
        "gameId": "skyblock",
        "name": "SkyBlock",
        "modes": [
            {"mode": "island", "variants": ["classic", "hardcore", "one-block"], "roundBased": False},
        ],
    }
    assert (await world.nobody().ask("GET", CATALOG)).status_code == 401


async def test_each_server_is_counted_once_for_its_game(world: World) -> None:
    ann = await world.player("Ann")
    net = await network(ann)
    own, member = await claimed(world, ann), await net.server()
    both = await net.server("Both")
    async with ann.live(LIVE) as client:
        assert await shown(client) == {}
        await publish(ann, own, category="SkyWars")
        await publish(ann, net, category="bedwars", address="net.example.org")
        await publish(ann, both, category="skywars", address="both.example.org")
        for server, players in ((own, 3), (member, 5), (both, 7)):
            await push(server, players)
        await next_second(world)
        frames: dict[str, Any] = {}
        while frames != {"bedwars": (5, 1), "skywars": (10, 2)}:
            frames = await shown(client)
            world.advance(1_000)
        await ann.do("DELETE", path_of(both))
        await next_second(world)
        while frames != {"bedwars": (12, 2), "skywars": (3, 1)}:
            frames = await shown(client)
            world.advance(1_000)
        await ann.do("DELETE", own.path, status=204)
        while frames != {"bedwars": (12, 2)}:
            frames = await shown(client)
            world.advance(1_000)
        world.advance(90_000)
        await next_second(world)
        while frames:
            frames = await shown(client)
            world.advance(1_000)


async def test_a_channel_shows_the_same_to_all(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    await publish(ann, server, category="parkour")
    async with ann.live("/v1/social/live?channels=games") as client, ben.live(LIVE) as other:
        first = await client.receive_until(type="snapshot")
        assert (first["channel"], first["data"]) == ("games", await other.receive_json())
        await client.send_json(
            {"id": "d", "op": "subscribe", "channel": "games", "params": {"mode": "delta"}}
        )
        await client.receive_until(type="snapshot")
        await push(server, 4)
        await next_second(world)
        event = await client.receive_until(type="event")
        assert event["event"] == "games_changed"
        (played,) = [one for one in msgspec.convert(event["data"], GamesChanged).items if one.servers]
        assert (played.game_id, played.players) == ("parkour", 4)


async def test_all_is_read_again_now_and_then(world: World) -> None:
    """Imported games are counted, and rows that went without a telling do not count for good."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server, category="chess")
    await push(server, 2)
    await count_changed(world.service)
    chess = GameLine("game", "chess", "Chess").row()
    await world.service.database.transact(games.put, [chess])
    await job_named(world, "catalog of games").run()
    async with ann.live(LIVE) as client:
        assert await shown(client) == {"chess": (2, 1)}
    await world.service.database.transact(_unpublish_all)
    await job_named(world, "catalog of games").run()
    await count_changed(world.service)
    async with ann.live(LIVE) as client:
        assert await shown(client) == {}


async def test_a_category_that_changes_by_itself_is_found_when_all_is_read(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server, category="skywars")
    await push(server, 3)
    await next_second(world)
    counts = world.service.of(GAMES_LIVE).counts
    assert (counts.of("skywars").players, counts.of("bedwars").players) == (3, 0)
    await world.service.database.transact(_recategorise)
    assert await job_named(world, "catalog of games").run() is not False
    assert (counts.of("skywars").players, counts.of("bedwars").players) == (0, 3)


async def _recategorise(conn: Connection) -> None:
    await conn.execute("UPDATE publications SET category = 'bedwars'")


async def _unpublish_all(conn: Connection) -> None:
    await conn.execute("DELETE FROM publications")


async def test_games_are_imported_beside_catalogs(world: World) -> None:
    ann = await world.player("Ann")
    chess = {"kind": "game", "gameId": "chess", "name": "Chess", "modes": [{"mode": "blitz"}]}
    flawed = {"kind": "game", "gameId": "Chess 2", "name": "Chess"}
    reports = await take_in(world, chess, *lines(ANIMALS, COW), {**chess, "gameId": "bedwars"})
    assert reports == [Imported("animals", 1), Imported(GAMES, 2)]
    items = {item["gameId"]: item for item in (await ann.get(CATALOG))["items"]}
    assert len(items) == 13
    assert items["bedwars"]["name"] == "Chess"
    assert items["chess"]["modes"] == [{"mode": "blitz", "variants": [], "roundBased": False}]

    (orphan, kept) = await take_in(world, chess, chess, flawed)
    assert [number for number, _ in orphan.refused] == [2, 3]
    assert kept == Imported(GAMES, 1)
    (full,) = await take_in(world, *({**chess, "gameId": f"game-{number}"} for number in range(GAMES_MAX)))
    assert (full.items, full.refused) == (None, ((1, "there are at most 500 games"),))
    assert len((await ann.get(CATALOG))["items"]) == 13


async def test_games_stand_by_name_whatever_the_locale_of_the_database(world: World) -> None:
    ann = await world.player("Ann")
    names = {"o-1": "ÖL", "o-2": "öa", "o-3": "öl"}
    await take_in(
        world, *({"kind": "game", "gameId": id, "name": name, "modes": []} for id, name in names.items())
    )
    shown = [item["gameId"] for item in (await ann.get(CATALOG))["items"] if item["gameId"] in names]
    assert shown == ["o-2", "o-1", "o-3"]


async def test_a_game_that_is_removed_counts_no_longer(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server, category="parkour")
    await push(server, 4)
    await count_changed(world.service)
    async with ann.live(LIVE) as client:
        assert await shown(client) == {"parkour": (4, 1)}
        world.advance(1_000)
        await world.service.database.transact(remove_game, "parkour")
        await job_named(world, "catalog of games").run()
        assert await shown(client) == {}
    assert "parkour" not in {item["gameId"] for item in (await ann.get(CATALOG))["items"]}
    with pytest.raises(NotFound):
        await world.service.database.transact(remove_game, "parkour")


@pytest.mark.parametrize("id", ["A", "a", "a b", "x" * 33, "ä-ö"])
def test_ids_of_games(id: str) -> None:
    line = msgspec.json.encode({"kind": "game", "gameId": id, "name": "A"})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=GameLine)


async def test_what_changes_while_categories_are_read_is_read_again(world: World) -> None:
    live, told = world.service.of(GAMES_LIVE), "published twice"
    live.publication_changed(told)

    async def tell() -> None:
        live.publication_changed(told)

    await held_up(world.service.database, _lock, partial(count_changed, world.service), tell)
    assert live.unread == {told}
    await count_changed(world.service)
    assert not live.unread


@pytest.mark.one_node(
    because="it looks at what one node counts, and where a status comes in is up to the next one"
)
async def test_what_changes_while_all_is_read_is_not_taken_from_before(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server, category="skywars")
    await push(server, 3)
    live = world.service.of(GAMES_LIVE)
    (target_id,) = live.unread
    live.unread.clear()

    async def tell() -> None:
        live.publication_changed(target_id)

    await held_up(world.service.database, _lock, job_named(world, "catalog of games").run, tell)
    assert live.counts.of("skywars").players == 0
    await count_changed(world.service)
    assert live.counts.of("skywars").players == 3


async def _lock(conn: Connection) -> None:
    await conn.execute("LOCK TABLE publications IN ACCESS EXCLUSIVE MODE")
