"""The public list over the wire: what is in it, in which order, and page by page."""

import itertools
from typing import Any

import pytest

from actors.publications.states import STALE_MS
from tests.capes.stage import moderator
from tests.connect.play import claimed
from tests.networks.play import Place, network
from tests.publications.play import PUBLIC, flush, names, publish, push, shown
from tests.support.jobs import clean_publications
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

SAVED = "/v1/profile/public-servers/saved"


async def fill(world: World, alice: Player) -> None:
    """Three servers in the list, with players, tags and categories; their statuses stay fresh."""
    world.clock.stop()
    for at, (name, players, tags, category) in enumerate(
        [
            ("Sky Islands", 5, ["pvp", "sky"], "survival"),
            ("Ocean", 9, ["sky"], "minigames"),
            ("böse Überraschung", 0, [], "survival"),
        ]
    ):
        world.clock.advance(1)
        server = await claimed(world, alice, name)
        await push(server, players)
        await publish(
            alice,
            server,
            displayName=name,
            tags=tags,
            category=category,
            address=f"host{at}.example.org",
            motdOverride="secret words",
        )
    await flush(world)


@pytest.fixture
async def filled(world: World) -> World:
    """A world with the servers of `fill`."""
    await fill(world, await world.player("Alice"))
    return world


@in_one_world(
    ("query", "found"),
    [
        ({}, ["Ocean", "Sky Islands", "böse Überraschung"]),
        ({"sort": "players"}, ["Ocean", "Sky Islands", "böse Überraschung"]),
        ({"sort": "newest"}, ["böse Überraschung", "Ocean", "Sky Islands"]),
        ({"sort": "name"}, ["böse Überraschung", "Ocean", "Sky Islands"]),
        ({"query": "sky"}, ["Ocean", "Sky Islands"]),
        ({"query": "SKY isl"}, ["Sky Islands"]),
        ({"query": "Übe"}, ["böse Überraschung"]),
        ({"query": "HOST1.ex"}, ["Ocean"]),
        ({"query": "a"}, ["Ocean", "Sky Islands", "böse Überraschung"]),
        ({"query": "%"}, []),
        ({"query": "_"}, []),
        ({"query": "kys"}, []),
        ({"query": "secret"}, []),
        ({"tag": "sky"}, ["Ocean", "Sky Islands"]),
        ({"tag": " SKY "}, ["Ocean", "Sky Islands"]),
        ({"tag": "sk"}, []),
        ({"category": "Survival"}, ["Sky Islands", "böse Überraschung"]),
        ({"tag": "sky", "category": "survival"}, ["Sky Islands"]),
        ({"tag": "sky", "query": "ocean", "sort": "name"}, ["Ocean"]),
        ({"limit": 1}, ["Ocean"]),
        ({"limit": 0}, ["Ocean"]),
    ],
)
async def test_what_is_found(filled: World, query: dict[str, object], found: list[str]):
    assert await names(filled.nobody(), **query) == found


async def test_what_was_said_before_it_was_published_counts(world: World):
    alice = await world.player("Alice")
    for name, players in (("Few", 1), ("Many", 9), ("Some", 5)):
        server = await claimed(world, alice, name)
        await push(server, players)
        await flush(world)
        await publish(alice, server, displayName=name)
    await flush(world)
    assert await names(world.nobody()) == ["Many", "Some", "Few"]


@in_one_world(
    "query", ["sort=best", "limit=x", "cursor=x", "cursor=WyJuYW1lIl0", f"query={'x' * 101}", "query=%00"]
)
async def test_a_bad_query_of_the_list_is_refused(world: World, query: str):
    assert await world.nobody().refused("GET", f"{PUBLIC}?{query}") == (400, "BAD_QUERY")


@pytest.mark.parametrize("sort", ["players", "newest", "name"])
async def test_pages_are_the_list(world: World, sort: str):
    """Page after page is each once, in the order of the whole; a cursor is good for its own order alone."""
    alice, nobody = await world.player("Alice"), world.nobody()
    for at in range(7):
        server = await claimed(world, alice, f"S{at}")
        await push(server, at % 3)
        await publish(alice, server, displayName=f"Same {at % 2}", tags=["x"])
    await flush(world)
    whole = [one["id"] for one in (await nobody.get(PUBLIC, sort=sort))["items"]]
    assert len(whole) == 7
    for more in ({}, {"tag": "x"}, {"query": "same"}):
        seen: list[str] = []
        cursor = None
        for _ in itertools.count():
            page = await nobody.get(
                PUBLIC, sort=sort, limit=2, **more, **({"cursor": cursor} if cursor else {})
            )
            seen += [one["id"] for one in page["items"]]
            cursor = page["nextCursor"]
            assert page["hasMore"] is (cursor is not None)
            if cursor is None:
                break
        assert seen == whole
    cursor = (await nobody.get(PUBLIC, sort=sort, limit=2))["nextCursor"]
    other = "name" if sort != "name" else "newest"
    assert await nobody.refused("GET", f"{PUBLIC}?sort={other}&cursor={cursor}") == (400, "BAD_QUERY")


async def test_many_matches_come_from_the_order_itself(world: World, monkeypatch: pytest.MonkeyPatch):
    """Where too many match to be gathered, the pages are the same."""
    await fill(world, await world.player("Alice"))
    nobody = world.nobody()
    queries: list[dict[str, object]] = [
        {"query": "s", "tag": "sky", "sort": sort} for sort in ("players", "newest", "name")
    ]
    gathered = [await names(nobody, **query) for query in queries]
    monkeypatch.setattr("persistence.publications.listing.FEW", 0)
    assert [await names(nobody, **query) for query in queries] == gathered
    assert gathered[0] == ["Ocean", "Sky Islands"]


async def test_hidden_and_suppressed_are_not_there(world: World):
    """Neither in the list nor by id; shown again they are back."""
    alice, mod, nobody = await world.player("Alice"), await moderator(world), world.nobody()
    server = await claimed(world, alice)
    path = f"{PUBLIC}/{(await publish(alice, server))['id']}"
    for by, field in ((alice, "hidden"), (mod, "suppressed")):
        assert (await nobody.get(path))["displayName"] == "Sky Islands"
        await publish(by, server, **{field: True})
        assert await names(nobody) == []
        assert await nobody.refused("GET", path) == (404, "NOT_FOUND")
        await publish(by, server, **{field: False})
    assert await names(nobody) == ["Sky Islands"]
    assert await nobody.refused("GET", f"{PUBLIC}/{'0' * 24}") == (404, "NOT_FOUND")


async def test_a_week_of_silence_takes_it_from_the_list(world: World):
    """STALE after seven days without a status; the next one lists it again."""
    alice, nobody = await world.player("Alice"), world.nobody()
    server = await claimed(world, alice)
    await publish(alice, server)
    world.clock.advance(STALE_MS - 60_000)
    alice = again(world, alice)
    await clean_publications(world)
    assert await names(nobody) == ["Sky Islands"]
    await push(server)
    await flush(world)
    world.clock.advance(STALE_MS + 1_000)
    alice = again(world, alice)
    await clean_publications(world)
    assert (await shown(alice, server))["discoveryState"] == "STALE"
    assert await names(nobody) == []
    await push(server)
    await flush(world)
    assert (await shown(alice, server))["discoveryState"] == "CONNECT"
    assert await names(nobody) == ["Sky Islands"]


def again(world: World, player: Player) -> Player:
    """The same player with a token of now."""
    return Player(world, player.id, player.name, world.token(player.id, player.name))


@pytest.mark.parametrize(("age_s", "online"), [(89, True), (91, False)])
async def test_freshness_in_the_list(world: World, age_s: int, online: bool):
    """Past the window: offline, counts 0, no ping; the MOTD and the time of the status stay."""
    alice = await world.player("Alice")
    server = await claimed(world, alice)
    made = await publish(alice, server)
    world.clock.stop()
    await push(server, 7, ago_s=age_s)
    told = await world.nobody().get(f"{PUBLIC}/{made['id']}")
    assert (told["online"], told["playerCount"], told["playerCapacity"]) == (online, 7 * online, 20 * online)
    assert told["pingMs"] is None
    assert told["motd"] == "Welcome"
    assert told["statusUpdatedAt"] is not None
    assert "reporters" not in told


async def test_a_network_is_what_its_servers_say(world: World):
    """Sums over fresh reporters that are online; a server that leaves, or is removed, counts no more."""
    alice = await world.player("Alice")
    net = await network(alice)
    made = await publish(alice, net)
    assert (made["statusSource"], made["reporters"]) == ("NONE", {"fresh": 0, "total": 0})
    servers = [await net.server(f"S{at}") for at in range(4)]
    ages = (91, 20, 10, 0)
    for at, (server, age) in enumerate(zip(servers, ages, strict=True)):
        answer = await push(server, 2**at, ago_s=age, motd="" if at == 3 else f"Motd {at}")
        assert answer["networkId"] == net.id
    path = f"{PUBLIC}/{made['id']}"
    told = await world.nobody().get(path)
    assert (told["playerCount"], told["playerCapacity"]) == (2 + 4 + 8, 60)
    assert (told["motd"], told["statusSource"]) == ("Motd 2", "NETWORK")
    assert told["reporters"] == {"fresh": 3, "total": 4}
    await alice.do("PATCH", servers[1].path, {"networkId": None}, status=200)
    await alice.do("DELETE", servers[2].path, status=204)
    told = await world.nobody().get(path)
    assert (told["playerCount"], told["reporters"]) == (8, {"fresh": 1, "total": 2})
    await publish(alice, net, motdOverride="Ours")
    assert (await world.nobody().get(path))["motd"] == "Ours"


async def test_lists_are_kept_by_etag(world: World):
    """The same list is a 304; another status is another list."""
    alice, nobody = await world.player("Alice"), world.nobody()
    server = await claimed(world, alice)
    path = f"{PUBLIC}/{(await publish(alice, server))['id']}"
    for one in (PUBLIC, path):
        first = await nobody.ask("GET", one)
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "public, max-age=5"
        assert (await nobody.ask("GET", one, headers={"if-none-match": tag})).status_code == 304
        await push(server)
        fresh = await nobody.ask("GET", one, headers={"if-none-match": tag})
        assert fresh.status_code == 200


async def test_domains_that_are_lost_take_it_from_the_list(place: Place):
    """PENDING is listed and follows a domain that is verified later; what loses its domain is LOST and unlisted."""
    world = place.world
    alice = await world.player("Alice")
    net = await network(alice)
    server = await net.server()
    made = await publish(alice, server, address="mc.example.org")
    assert (made["ownershipState"], made["discoveryState"]) == ("PENDING", "CONNECT")
    await clean_publications(world)
    assert (await shown(alice, server))["ownershipState"] == "PENDING"
    await place.verified(net, "example.org")
    owned = await shown(alice, server)
    assert (owned["ownershipState"], owned["discoveryState"]) == ("OWNED", "CONNECT")
    assert owned["ownershipVerifiedAt"] is not None
    await alice.do("PATCH", server.path, {"networkId": None}, status=200)
    await clean_publications(world)
    lost = await shown(alice, server)
    assert (lost["ownershipState"], lost["discoveryState"]) == ("LOST", "UNLISTED")
    await alice.do("PATCH", server.path, {"networkId": net.id}, status=200)
    await clean_publications(world)
    assert (await shown(alice, server))["ownershipState"] == "OWNED"


async def test_who_saved_the_address_has_the_publication(world: World):
    """An address that players saved becomes the publication of whose address it is, favourites and all."""
    alice, ben = await world.player("Alice"), await world.player("Ben")
    saved: Any = await ben.do("POST", SAVED, {"address": "127.0.0.1:25565"}, status=201)
    await ben.do("PATCH", f"{SAVED}/{saved['id']}", {"favorite": True}, status=200)
    assert await world.nobody().refused("GET", f"{PUBLIC}/{saved['id']}") == (404, "NOT_FOUND")
    server, stranger = await claimed(world, alice), await claimed(world, alice, "Other")
    assert (await publish(alice, stranger, address="play.example.org"))["id"] != saved["id"]
    await push(server)
    made = await publish(alice, server, address="127.0.0.1:25565")
    assert made["id"] == saved["id"]
    assert (made["favorite"], made["favoriteCount"], made["discoverySource"]) == (False, 1, "CONNECT")
    await alice.do("POST", SAVED, {"address": "127.0.0.1"}, status=201)
    await alice.do("PATCH", f"{SAVED}/{made['id']}", {"favorite": True}, status=200)
    assert ((await shown(alice, server))["favorite"], (await shown(alice, server))["favoriteCount"]) == (
        True,
        2,
    )
    assert (await world.nobody().get(f"{PUBLIC}/{made['id']}"))["favorite"] is False
    assert (await ben.get(SAVED))["items"][0]["displayName"] == "Sky Islands"
