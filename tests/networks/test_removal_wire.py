"""A network that its owner removes is gone for everybody, whatever comes at the same moment."""

from functools import partial
from typing import Any

import pytest
import trio

from actors.networks import units_claims, units_networks, units_removal
from actors.networks.record_hosts import queue_records
from actors.networks.units_claims import Lookup
from actors.publications import units_moderation
from persistence.connect import servers
from persistence.connect.rows import ServerRow
from persistence.connection import Connection
from persistence.networks import domains, networks
from persistence.networks.rows import TokenRow
from persistence.users.audit import Stamp
from tests.connect.play import claimed
from tests.networks.cloudflare import CANARY, ZONE, Hold
from tests.networks.play import NETWORKS, Net, Place, network
from tests.publications.play import PUBLIC, path_of, publish
from tests.support.locks import crossed, during
from tests.support.world import Player, World
from tests.users.play import erase

SAVED = "/v1/profile/public-servers/saved"
SLUGS = "/v1/public/connect/slugs"
LISTING = "/v1/admin/connect/publications"


async def test_a_removed_network_makes_room_for_another(world: World) -> None:
    ann = await world.player("Ann")
    nets = [await network(ann, f"N{number}") for number in range(50)]
    await ann.do("PATCH", nets[0].path, {"slug": "sky"}, status=200)
    token = await nets[0].token()
    await ann.do("DELETE", nets[0].path, status=204)
    assert nets[0].id not in {one["networkId"] for one in (await ann.get(NETWORKS))["items"]}
    for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
        assert await ann.refused(method, nets[0].path, body) == (404, "NOT_FOUND")
    assert await world.nobody().refused("GET", f"{SLUGS}/sky") == (404, "NOT_FOUND")
    join = {"joinToken": token, "name": "Node"}
    assert await world.nobody().refused("POST", f"{NETWORKS}/join", join) == (404, "NOT_FOUND")
    made = await network(ann, "again")
    assert (await ann.do("PATCH", made.path, {"slug": "sky"}, status=200))["slug"] == "sky"


async def test_a_network_with_servers_in_it_stays(world: World) -> None:
    ann = await world.player("Ann")
    sky = await network(ann)
    lobby, node = await sky.server(), await sky.host()
    refused = (await ann.ask("DELETE", sky.path)).json()
    assert (refused["status"], refused["code"], refused["meta"]) == (409, "NETWORK_IN_USE", {"servers": 2})
    await ann.do("PATCH", lobby.path, {"networkId": None}, status=200)
    assert await ann.refused("DELETE", sky.path) == (409, "NETWORK_IN_USE")
    await ann.do("DELETE", node.path, status=204)
    await ann.do("DELETE", sky.path, status=204)
    assert await ann.refused("PATCH", lobby.path, {"networkId": sky.id}) == (404, "NOT_FOUND")


async def test_whoever_has_seen_another_network_does_not_remove_it(world: World) -> None:
    ann = await world.player("Ann")
    sky = await network(ann)
    seen = {"if-match": (await ann.ask("GET", sky.path)).headers["etag"]}
    now = (await ann.ask("PATCH", sky.path, {"name": "Other"})).headers["etag"]
    refused = await ann.ask("DELETE", sky.path, headers=seen)
    assert (refused.status_code, refused.json()["code"]) == (409, "REVISION_CONFLICT")
    for status in (204, 404):
        assert (await ann.ask("DELETE", sky.path, headers={"if-match": now})).status_code == status


async def test_its_publication_goes_and_what_is_saved_of_it_stays(world: World) -> None:
    ann, bob = await world.players("Ann", "Bob")
    sky = await network(ann)
    made = await publish(ann, sky, displayName="Sky")
    await bob.do("POST", SAVED, {"serverId": made["id"]}, status=201)
    await ann.do("DELETE", sky.path, status=204)
    assert await bob.refused("GET", f"{PUBLIC}/{made['id']}") == (404, "NOT_FOUND")
    assert [one["displayName"] for one in (await bob.get(SAVED))["items"]] == ["play.example.org"]
    assert await ann.refused("GET", path_of(sky)) == (404, "NOT_FOUND")


async def test_a_suppressed_publication_keeps_its_network(world: World) -> None:
    ann, mod = await world.players("Ann", "Mod")
    await world.grant(mod, "admin:connect:manage")
    sky = await network(ann)
    made = await publish(ann, sky)
    for suppressed, status in ((True, 409), (False, 204)):
        await mod.do("PATCH", f"{LISTING}/{made['id']}", {"suppressed": suppressed}, status=200)
        assert (await ann.ask("DELETE", sky.path)).status_code == status


async def _provided(place: Place, ann: Player) -> Net:
    """A network with a verified domain, whose records the provider has."""
    sky = await network(ann)
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    await place.verified(sky, "example.com")
    assert _records(place) == [1, 1]
    return sky


def _records(place: Place) -> list[int]:
    named = (("CNAME", "example.com"), ("TXT", "_svc.example.com"))
    return [len(place.cloudflare.contents(type, name)) for type, name in named]


@pytest.mark.parametrize("how", ["network", "owner"])
async def test_its_records_go_from_the_provider(place: Place, how: str) -> None:
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    if how == "network":
        await ann.do("DELETE", sky.path, status=204)
    else:
        await erase(place.world, ann)
    assert _records(place) == [0, 0]


@pytest.mark.parametrize("how", ["network", "owner"])
async def test_records_that_are_just_being_written_go_too(place: Place, how: str) -> None:
    """Those who remove it look at the provider while there is none yet."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    hold = place.cloudflare.held[CANARY] = Hold()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ann.ask, "POST", sky.domains, {"domain": "example.com"})
        await hold.reached.wait()
        place.cloudflare.held.clear()
        if how == "network":
            await ann.do("DELETE", sky.path, status=204)
        else:
            await erase(place.world, ann)
        hold.release.set()
    assert _records(place) == [0, 0]


@pytest.mark.parametrize("wrong", ["500", "refuse"])
async def test_a_provider_that_refuses_keeps_no_network(place: Place, wrong: str) -> None:
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    place.cloudflare.wrong = wrong
    await ann.do("DELETE", sky.path, status=204)
    assert await ann.refused("GET", sky.path) == (404, "NOT_FOUND")
    sea = await network(ann, "Sea")
    await place.verified(sea, "example.com")  # the domain is nobody's


async def test_a_refused_removal_leaves_its_records(place: Place) -> None:
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    await sky.host()
    assert await ann.refused("DELETE", sky.path) == (409, "NETWORK_IN_USE")
    assert _records(place) == [1, 1]


async def _nothing(_conn: Connection) -> None: ...


def _removing(net: Net) -> Any:
    async def remove(conn: Connection) -> None:
        await units_removal.remove(conn, net.id, net.owner.id, is_current=lambda _: True)

    return remove


async def test_whoever_comes_while_it_goes_finds_none(world: World) -> None:
    """A join, a server, a domain, a publication, an article, a token and another removal: all wait, and are a 404."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    article = {"title": "t", "body": "b", "status": "published"}
    for number in range(7):
        net = await network(ann, f"N{number}")
        asked = (
            ("POST", f"{NETWORKS}/join", {"joinToken": await net.token(), "name": "Node"}),
            ("PATCH", server.path, {"networkId": net.id}),
            ("POST", net.domains, {"domain": "example.com"}),
            ("PUT", path_of(net), {"address": "play.example.org", "displayName": "Sky"}),
            ("POST", "/v1/news", {"scope": {"type": "network", "id": net.id}, **article}),
            ("POST", f"{net.path}/join-token", None),
            ("DELETE", net.path, None),
        )[number]

        async def come(asked: tuple[str, str, Any] = asked) -> None:
            assert await ann.refused(*asked) == (404, "NOT_FOUND"), asked

        await crossed(world.service.database, _removing(net), _nothing, come)
    assert (await ann.get(NETWORKS))["items"] == []
    assert (await ann.get("/v1/connect/hosts"))["items"] == []
    assert (await ann.get("/v1/connect/servers"))["items"][0]["networkId"] is None


async def test_a_server_that_joins_first_keeps_it(world: World) -> None:
    ann = await world.player("Ann")
    sky = await network(ann)
    token, now_ms = TokenRow(bytes(32), sky.id, world.clock.now_ms() + 1_000), world.clock.now_ms()
    await world.service.database.transact(units_networks.issue_token, token)
    row = ServerRow(
        server_id="00000000-0000-4000-8000-000000000001", id="0" * 24, server_type="agent", name="Node",
        secret=bytes(32), created_at_ms=now_ms, updated_at_ms=now_ms, last_seen_at_ms=now_ms,
    )  # fmt: skip

    async def join(conn: Connection) -> None:
        await units_networks.join(conn, token.token, row, epoch="e", now_ms=now_ms)

    async def remove() -> None:
        assert await ann.refused("DELETE", sky.path) == (409, "NETWORK_IN_USE")

    await during(world.service.database, join, remove)
    assert len((await ann.get("/v1/connect/hosts"))["items"]) == 1


@pytest.mark.parametrize("goes", ["claimant", "holder"])
async def test_a_domain_is_verified_while_a_network_goes(world: World, goes: str) -> None:
    """Both lock the claims before the provider and the publications, so neither waits for what the other has."""
    ann, bob = await world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob, "Sea")
    holder = await sea.claim("example.com")
    claim = await sky.claim("example.com")
    await publish(ann, sky, address="example.com")
    database, now_ms = world.service.database, world.clock.now_ms()

    async def verify(conn: Connection, net: Net, made: Any, at_ms: int) -> None:
        row = await domains.read(conn, made["domain"]["id"], net.id)
        assert row is not None
        await units_claims.decide(conn, row, Lookup([made["txt"]["value"]]), None, at_ms)

    await database.transact(verify, sea, holder, now_ms)
    net = sky if goes == "claimant" else sea

    async def begin(conn: Connection) -> None:
        await domains.lock_claims(conn, "example.com", claim["domain"]["id"])

    async def decide(conn: Connection) -> None:
        await verify(conn, sky, claim, now_ms + units_claims.LAPSED_MS)

    async def remove() -> None:
        await net.owner.do("DELETE", net.path, status=204)

    await crossed(database, begin, decide, remove)
    assert await database.read(networks.read, net.id) is None
    if goes == "holder":
        assert (await ann.get(sky.domains))["items"][0]["status"] == "verified"


async def test_a_host_joins_while_it_goes(world: World) -> None:
    """Whoever comes with a token has the network before that, and a removal has both: they wait before either."""
    ann = await world.player("Ann")
    sky = await network(ann)
    token = TokenRow(bytes(32), sky.id, world.clock.now_ms() + 1_000)
    await world.service.database.transact(units_networks.issue_token, token)

    async def begin(conn: Connection) -> None:
        await servers.hold_gains(conn, ann.id)
        assert await networks.lock(conn, sky.id) is not None

    async def lock(conn: Connection) -> None:
        assert await networks.lock_token(conn, token.token) is not None

    await crossed(world.service.database, begin, lock, partial(ann.do, "DELETE", sky.path, status=204))


async def test_records_are_queued_while_it_goes(place: Place) -> None:
    """A domain that passes to another network is locked before the provider of the one that has lost it."""
    ann = await place.world.player("Ann")
    sky = await _provided(place, ann)
    (claim,) = (await ann.get(sky.domains))["items"]

    async def lose(conn: Connection) -> None:
        await domains.lock_claims(conn, "example.com", claim["id"])

    async def queue(conn: Connection) -> None:
        await queue_records(conn, sky.id, [("a.example.com", None)], 0)

    remove = partial(ann.do, "DELETE", sky.path, status=204)
    await crossed(place.world.service.database, lose, queue, remove)


async def test_its_publication_is_suppressed_while_it_goes(world: World) -> None:
    ann = await world.player("Ann")
    sky = await network(ann)
    made = await publish(ann, sky)
    stamp = Stamp("0" * 24, world.clock.now_ms(), None, None)

    async def suppress(conn: Connection) -> None:
        await units_moderation.judge(conn, made["id"], units_moderation.Judgement(suppressed=True), stamp)

    async def remove() -> None:
        assert await ann.refused("DELETE", sky.path) == (409, "INVALID_STATE")

    await during(world.service.database, suppress, remove)


async def test_its_owner_is_erased_while_it_goes(world: World) -> None:
    ann = await world.player("Ann")
    sky = await network(ann)

    async def come() -> None:
        await erase(world, ann)

    await crossed(world.service.database, _removing(sky), _nothing, come)
    assert await world.service.database.read(networks.read, sky.id) is None
