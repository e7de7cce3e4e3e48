"""Networks, join tokens and hosts, over real sockets."""

import trio

from actors.networks import units_networks
from actors.networks.units_networks import JOIN_TOKEN_MS, MAX_TOKENS
from persistence.connection import Connection
from persistence.networks import networks
from persistence.networks.rows import TokenRow
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import SERVERS, claimed
from tests.networks.play import NETWORKS, network
from tests.support.jobs import tend_networks
from tests.support.locks import crossed
from tests.support.one_world import in_one_world
from tests.support.world import World


async def test_a_network_is_made_and_listed(world: World):
    ann, bob = await world.players("Ann", "Bob")
    made = (await ann.do("POST", NETWORKS, {"name": "  Sky "}, status=201))["network"]
    assert (made["name"], made["ownerId"], made["slug"]) == ("Sky", ann.id, None)
    assert (len(made["id"]), len(made["networkId"])) == (24, 36)
    assert (await ann.get(NETWORKS))["items"] == [made]
    assert (await bob.get(NETWORKS))["items"] == []


@in_one_world("name", ["", " ", "a\nb", "x" * 101])
async def test_names_that_are_none(world: World, name: str):
    ann = await world.player("Ann")
    assert await ann.refused("POST", NETWORKS, {"name": name}) == (422, "VALIDATION_FAILED")


async def test_a_user_has_fifty_networks(world: World):
    ann = await world.player("Ann")
    for number in range(50):
        await network(ann, f"N{number}")
    assert await ann.refused("POST", NETWORKS, {"name": "more"}) == (422, "QUOTA_EXCEEDED")


async def test_what_a_network_shows(world: World):
    ann, bob = await world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob, "Sea")
    wish = {
        "slug": "sky-1",
        "publicSummary": "Above",
        "publicProfileMode": "share_code",
        "publicProfileShareCode": "abc",
    }
    changed = await ann.do("PATCH", sky.path, wish, status=200)
    assert wish.items() <= changed.items()
    assert await bob.refused("PATCH", sea.path, {"slug": "sky-1"}) == (409, "SLUG_TAKEN")
    assert await ann.do("PATCH", sky.path, {"slug": "sky-1"}, status=200) == changed
    renamed = await ann.do("PATCH", sky.path, {"slug": "sky-1", "name": "Sky 2"}, status=200)
    assert (renamed["slug"], renamed["name"]) == ("sky-1", "Sky 2")
    assert await ann.refused("PATCH", sky.path, {"publicProfileShareCode": None}) == (
        422,
        "VALIDATION_FAILED",
    )
    await ann.do("PATCH", sky.path, {"slug": None}, status=200)
    assert (await bob.do("PATCH", sea.path, {"slug": "sky-1"}, status=200))["slug"] == "sky-1"


async def test_tokens_are_forgotten_a_day_after_their_end(world: World):
    ann = await world.player("Ann")
    body = {"joinToken": await (await network(ann)).token(), "name": "x"}
    world.clock.advance(25 * 3_600_000)
    await tend_networks(world)
    assert await world.nobody().refused("POST", f"{NETWORKS}/join", body) == (404, "NOT_FOUND")


@in_one_world("slug", ["ab", "a" * 33, "Sky", "sky_1", "ský", ""])
async def test_slugs_that_are_none(world: World, slug: str):
    ann = await world.player("Ann")
    sky = await network(ann)
    assert await ann.refused("PATCH", sky.path, {"slug": slug}) == (422, "VALIDATION_FAILED")


async def test_a_network_keeps_its_newest_tokens(world: World):
    ann = await world.player("Ann")
    sky, sea = await network(ann), await network(ann, "Sea")
    tokens = []
    for net in (sea, sky, sky):
        tokens.append(await net.token())
        world.advance(1)
    now_ms, issue = world.clock.now_ms(), world.service.database.transact
    for number in range(1, MAX_TOKENS):
        token = TokenRow(bytes([number]) * 32, sky.id, now_ms + JOIN_TOKEN_MS + number)
        await issue(units_networks.issue_token, token)
    codes = []
    for token in tokens:
        body = {"joinToken": token, "name": "Node"}
        codes.append((await world.nobody().ask("POST", f"{NETWORKS}/join", body)).status_code)
    assert codes == [201, 404, 201]


async def test_a_host_joins_by_a_token_that_a_newer_one_displaces(world: World):
    ann = await world.player("Ann")
    sky = await network(ann)
    body = {"joinToken": await sky.token(), "name": "Node"}
    newer = TokenRow(bytes(32), sky.id, world.clock.now_ms() + 2 * JOIN_TOKEN_MS)

    async def lock(conn: Connection) -> None:
        assert await networks.lock(conn, sky.id) is not None

    async def displace(conn: Connection) -> None:
        await networks.add_token(conn, newer, keep=1)

    async def join() -> None:
        assert await world.nobody().refused("POST", f"{NETWORKS}/join", body) == (404, "NOT_FOUND")

    await crossed(world.service.database, lock, displace, join)


async def test_of_many_who_want_a_slug_one_gets_it(world: World):
    ann = await world.player("Ann")
    nets = [await network(ann, f"N{number}") for number in range(20)]
    outcomes: list[int] = []

    async def take(path: str) -> None:
        outcomes.append((await ann.ask("PATCH", path, {"slug": "wanted"})).status_code)

    async with trio.open_nursery() as nursery:
        for net in nets:
            nursery.start_soon(take, net.path)
    assert sorted(outcomes) == [200] + [409] * 19


async def test_a_host_joins(world: World):
    ann, bob = await world.players("Ann", "Bob")
    sky = await network(ann)
    made = await ann.do("POST", f"{sky.path}/join-token", status=201)
    assert (made["expiresIn"], made["networkId"], len(made["joinToken"])) == (600, sky.id, 43)
    body = {"joinToken": made["joinToken"], "name": "Node 1"}
    joined = await world.nobody().do("POST", f"{NETWORKS}/join", body, status=201)
    assert joined.keys() == {"serverId", "serverSecret", "networkId", "serverType", "name"}
    assert (joined["networkId"], joined["serverType"], joined["name"]) == (sky.id, "agent", "Node 1")
    (host,) = (await ann.get("/v1/connect/hosts"))["items"]
    assert (host["serverId"], host["ownerId"], host["lastSeenIp"]) == (joined["serverId"], ann.id, None)
    assert (await bob.get("/v1/connect/hosts"))["items"] == []
    assert not any("secret" in name.lower() for name in host)
    assert (await ann.get(SERVERS))["items"][0]["serverId"] == joined["serverId"]


async def test_a_host_is_a_server_that_is_seen(world: World):
    ann = await world.player("Ann")
    node = await (await network(ann)).host()
    assert (await node.get(f"{node.path}/claim-key"))["claimed"] is True
    world.clock.advance(60_000)
    await node.get(f"{node.path}/claim-key")
    (before,) = (await ann.get("/v1/connect/hosts"))["items"]
    assert before["lastSeenIp"] == "127.0.0.1"
    await world.service.of(GAME_SERVERS).credentials.flush()
    (after,) = (await ann.get("/v1/connect/hosts"))["items"]
    assert after == before
    assert await ann.refused("PATCH", node.path, {"networkId": None}) == (409, "INVALID_STATE")
    await ann.do("DELETE", node.path, status=204)
    assert (await ann.get("/v1/connect/hosts"))["items"] == []


async def test_join_tokens_end(world: World):
    ann = await world.player("Ann")
    sky = await network(ann)
    token = await sky.token()
    nobody, join = world.nobody(), f"{NETWORKS}/join"
    world.clock.advance(600_000)
    await tend_networks(world)
    late = {"joinToken": token, "name": "late"}
    assert await nobody.refused("POST", join, late) == (410, "JOIN_TOKEN_EXPIRED")
    used = {"joinToken": await sky.token(), "name": "one"}
    await nobody.do("POST", join, used, status=201)
    assert await nobody.refused("POST", join, used) == (410, "JOIN_TOKEN_USED")
    for unknown in ("", "x", token[:-1] + ("A" if token[-1] != "A" else "B"), "🙂"):
        assert await nobody.refused("POST", join, {"joinToken": unknown, "name": "x"}) == (404, "NOT_FOUND")


async def test_of_a_hundred_joins_one_wins(world: World):
    ann = await world.player("Ann")
    token = await (await network(ann)).token()
    outcomes: list[int] = []

    async def join(number: int) -> None:
        body = {"joinToken": token, "name": f"N{number}"}
        outcomes.append((await world.nobody().ask("POST", f"{NETWORKS}/join", body)).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(join, number)
    assert sorted(outcomes) == [201] + [410] * 99
    assert len((await ann.get("/v1/connect/hosts"))["items"]) == 1


async def test_a_network_remembers_sixty_four_tokens(world: World):
    ann = await world.player("Ann")
    sky = await network(ann)
    first = await sky.token()
    world.clock.advance(1_000)
    for _ in range(64):
        await sky.token()
    body = {"joinToken": first, "name": "x"}
    assert await world.nobody().refused("POST", f"{NETWORKS}/join", body) == (404, "NOT_FOUND")


async def test_strangers_see_nothing(world: World):
    """Somebody else's network looks like none: byte for byte, but for the request's id."""
    ann, bob = await world.players("Ann", "Bob")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    unknown = sky.path.replace(sky.id, "00000000-0000-4000-8000-000000000000")
    config = {"apiToken": "x", "zoneId": "0" * 32}
    for method, rest, body in (
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("POST", "/join-token", None),
        ("GET", "/domains", None),
        ("POST", "/domains", {"domain": "other.com"}),
        ("POST", f"/domains/{claim['domain']['id']}/verify", None),
        ("GET", "/dns/cloudflare", None),
        ("PUT", "/dns/cloudflare", config),
        ("DELETE", "/dns/cloudflare", None),
    ):
        answers = [await bob.ask(method, path + rest, body) for path in (sky.path, unknown)]
        said = [{**answer.json(), "requestId": ""} for answer in answers]
        assert said[0] == said[1]
        assert said[0]["status"] == 404


async def test_servers_go_into_networks_of_their_owner(world: World):
    ann, bob = await world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob, "Sea")
    server = await claimed(world, ann)
    assert (await ann.do("PATCH", server.path, {"networkId": sky.id}, status=200))["networkId"] == sky.id
    for other in (sea.id, "00000000-0000-4000-8000-000000000000"):
        assert await ann.refused("PATCH", server.path, {"networkId": other}) == (404, "NOT_FOUND")
    assert await ann.refused("PATCH", server.path, {"networkId": "x"}) == (422, "VALIDATION_FAILED")
    assert (await ann.do("PATCH", server.path, {"networkId": None}, status=200))["networkId"] is None
    assert await server.refused("PATCH", sky.path, {}) == (401, "UNAUTHENTICATED")
