"""Wire: what a user has saved is theirs: whoever publishes it neither removes it nor has it name another address."""

from functools import partial
from typing import Any

from actors.saved_servers import units
from persistence.connection import Connection
from persistence.publications import publications
from persistence.publications.rows import Target
from persistence.saved_servers import addresses
from persistence.schema.migrate import migrate, shipped
from tests.connect.play import GameServer, claimed
from tests.networks.play import Place, network
from tests.publications.play import PUBLIC, path_of, publish, shown
from tests.saved_servers.play import SAVED, names, save
from tests.support.jobs import clean_publications
from tests.support.locks import crossed, during, interrupted
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.users.play import erase

BELOW = "x.play.partyline.test"
MANY = 3_000


async def favourite(player: Player, **what: object) -> Any:
    """Saved, and a favourite: its entry."""
    made = await player.do("POST", SAVED, what, status=201)
    return await player.do("PATCH", f"{SAVED}/{made['id']}", {"favorite": True}, status=200)


async def only(player: Player) -> Any:
    """The one entry of a list."""
    (one,) = (await player.get(SAVED))["items"]
    return one


async def test_an_address_that_is_not_proven_is_nobodys(world: World) -> None:
    mal, bob = await world.players("Mal", "Bob")
    server = await claimed(world, mal)
    made = await publish(mal, server, address="play.bank.org", displayName="Bank")
    kept = await favourite(bob, address="play.bank.org")
    assert (made["ownershipState"], kept["displayName"]) == ("PENDING", "play.bank.org")
    assert kept["id"] != made["id"]
    await publish(mal, server, address="evil.example.net")
    assert await only(bob) == kept
    await mal.do("DELETE", path_of(server), status=200)
    assert await only(bob) == kept


async def test_what_is_saved_by_its_id_keeps_its_address(world: World) -> None:
    """The publication that goes elsewhere keeps its id; the entry has another, and its place and favourite."""
    mal, bob, cid = await world.players("Mal", "Bob", "Cid")
    server = await claimed(world, mal)
    made = await publish(mal, server, address="play.bank.org", displayName="Bank")
    before = await save(bob, "a.example")
    kept = await favourite(bob, serverId=made["id"])
    await cid.do("POST", SAVED, {"serverId": made["id"]}, status=201)
    behind = await save(bob, "b.example")
    assert kept["displayName"] == "Bank"
    # Another spelling of the address is the same address.
    assert (await publish(mal, server, address="play.bank.org:25565"))["favoriteCount"] == 1
    assert (await bob.get(SAVED))["items"][1]["id"] == made["id"]
    moved = await publish(mal, server, address="evil.example.net")
    assert (moved["id"], moved["favoriteCount"]) == (made["id"], 0)
    first, second, third = (await bob.get(SAVED))["items"]
    assert (first["id"], third["id"]) == (before["id"], behind["id"])
    assert second == kept | {"id": second["id"], "displayName": "play.bank.org"}
    assert await only(cid) == second | {"savedPosition": 0, "favorite": False}
    assert await bob.refused("PATCH", f"{SAVED}/{made['id']}", {"favorite": False}) == (404, "NOT_FOUND")
    unmarked = await bob.do("PATCH", f"{SAVED}/{second['id']}", {"favorite": False}, status=200)
    assert unmarked["favoriteCount"] == 0
    for player in (bob, cid):
        await player.do("DELETE", f"{SAVED}/{second['id']}", status=200)
    assert await bob.refused("POST", SAVED, {"serverId": second["id"]}) == (404, "NOT_FOUND")


async def adopted(place: Place) -> tuple[Player, GameServer, Player, Any]:
    """A server that has proven an address which a user had saved: its owner, the server, the user, their entry."""
    ann, bob = await place.world.players("Ann", "Bob")
    kept = await favourite(bob, address=BELOW)
    server = await claimed(place.world, ann)
    made = await publish(ann, server, address=BELOW, displayName="Sky", tags=["pvp"], motdOverride="Hello")
    assert (made["id"], made["ownershipState"], made["favoriteCount"]) == (kept["id"], "OWNED", 1)
    assert await only(bob) == kept | {"displayName": "Sky"}
    return ann, server, bob, kept


@in_one_world("how", ["publication", "server", "owner"])
async def test_what_is_removed_goes_on_as_its_address(place: Place, how: str) -> None:
    ann, server, bob, kept = await adopted(place)
    match how:
        case "publication":
            answer = await ann.do("DELETE", path_of(server), status=200)
            assert answer["removed"] == 1
            assert await shown(ann, server) is None
        case "server":
            await ann.do("DELETE", server.path, status=204)
        case _:
            await erase(place.world, ann)
    assert await only(bob) == kept
    assert await bob.refused("GET", f"{PUBLIC}/{kept['id']}") == (404, "NOT_FOUND")
    row = await place.world.service.database.read(_row, kept["id"])
    assert row == ("USER", "UNLISTED", "UNCLAIMED", [], None, "", None)
    assert await bob.do("DELETE", f"{SAVED}/{kept['id']}", status=200)
    assert await place.world.service.database.read(_row, kept["id"]) is None


async def _row(conn: Connection, id: str) -> Any:
    row = await conn.fetchrow(
        "SELECT discovery_source, discovery_state, ownership_state, tags, motd_override, words, target_id"
        " FROM publications WHERE id = $1",
        id,
    )
    return None if row is None else tuple(row)


async def test_the_address_of_a_network_that_is_removed_stays(place: Place) -> None:
    ann, bob = await place.world.players("Ann", "Bob")
    net = await network(ann)
    await publish(ann, net, address=BELOW)
    kept = await favourite(bob, address=BELOW)
    await erase(place.world, ann)
    assert await only(bob) == kept | {"displayName": BELOW}


async def test_what_is_published_again_has_its_savers_again(place: Place) -> None:
    ann, server, bob, kept = await adopted(place)
    await ann.do("DELETE", path_of(server), status=200)
    again = await publish(ann, server, address=BELOW)
    assert (again["id"], again["favoriteCount"]) == (kept["id"], 1)
    moved = await publish(ann, server, address="play.example.org")
    assert (moved["id"], moved["favoriteCount"]) == (kept["id"], 0)
    assert (await only(bob))["address"] == BELOW


async def test_what_has_lost_its_domain_has_lost_its_savers(place: Place) -> None:
    """Also where whoever publishes it hears of that first."""
    ann, bob = await place.world.players("Ann", "Bob")
    net = await network(ann)
    await place.verified(net, "example.org")
    for server, put in ((await net.server("a"), False), (await net.server("b"), True)):
        address = f"{int(put)}.example.org"
        made = await publish(ann, server, address=address)
        await favourite(bob, address=address)
        await ann.do("PATCH", server.path, {"networkId": None}, status=200)
        if put:
            await publish(ann, server, address=address)
        else:
            await clean_publications(place.world)
        lost = await shown(ann, server)
        assert (lost["id"], lost["ownershipState"], lost["favoriteCount"]) == (made["id"], "LOST", 0)
        assert await bob.refused("POST", SAVED, {"serverId": made["id"]}) == (404, "NOT_FOUND")
    assert await names(bob) == ["0.example.org", "1.example.org"]
    assert [one["favoriteCount"] for one in (await bob.get(SAVED))["items"]] == [1, 1]


async def _save_for_many(conn: Connection, server_id: str) -> None:
    await conn.execute(
        "INSERT INTO users (id, name, name_lower, name_issued_at_s, created_at_ms, updated_at_ms)"
        " SELECT lpad(n::text, 36, '0'), 'P' || n, 'p' || n, 0, 0, 0 FROM generate_series(1, $1::int) AS n",
        MANY,
    )
    await conn.execute(
        "INSERT INTO saved_servers (user_id, server_id, position, favorite, created_at_ms)"
        " SELECT lpad(n::text, 36, '0'), $2, 0, n % 3 = 0, 0 FROM generate_series(1, $1::int) AS n",
        MANY,
        server_id,
    )


async def test_thousands_who_have_saved_it_are_moved_together(world: World) -> None:
    mal, bob = await world.players("Mal", "Bob")
    server = await claimed(world, mal)
    made = await publish(mal, server, address="play.example.org")
    kept = await favourite(bob, serverId=made["id"])
    await world.service.database.transact(_save_for_many, made["id"])
    statements: list[Any] = []

    async def release(conn: Any) -> None:
        with conn.query_logger(statements.append):
            await addresses.release(conn, {made["id"]: "f" * 24}, 0)

    await world.service.database.transact(release)
    assert len(statements) == 4
    assert await only(bob) == kept | {
        "id": "f" * 24,
        "displayName": "play.example.org",
        "favoriteCount": MANY // 3 + 1,
    }
    assert (await shown(mal, server))["favoriteCount"] == 0


async def test_whoever_unsaves_it_meanwhile_is_not_in_the_way(world: World) -> None:
    """Both lock the publication before its entries."""
    mal, bob = await world.players("Mal", "Bob")
    server = await claimed(world, mal)
    made = await publish(mal, server, address="play.example.org")
    await favourite(bob, serverId=made["id"])

    async def lock(conn: Connection) -> None:
        await publications.hold(conn, Target("server", server.id))
        await addresses.hold(conn, made["id"])

    async def release(conn: Connection) -> None:
        await addresses.release(conn, {made["id"]: "f" * 24}, 0)

    async def unsave() -> None:
        await bob.do("DELETE", f"{SAVED}/{made['id']}", status=200)

    await crossed(world.service.database, lock, release, unsave)
    assert await names(bob) == ["play.example.org"]


async def test_what_is_published_during_the_sweep_of_unsaved_addresses_stays(place: Place) -> None:
    ann, bob = await place.world.players("Ann", "Bob")
    left = await save(bob, BELOW)
    await erase(place.world, bob)
    server = await claimed(place.world, ann)

    async def hide() -> None:
        assert (await publish(ann, server, address=BELOW, hidden=True))["id"] == left["id"]

    sweep = partial(addresses.sweep, after=None, limit=100, before_ms=place.world.clock.now_ms() + 1)
    await interrupted(place.world.service.database, sweep, hide)
    assert (await shown(ann, server))["address"] == BELOW


async def test_an_address_that_is_just_being_saved_has_the_name_of_who_publishes_it(place: Place) -> None:
    ann, bob = await place.world.players("Ann", "Bob")
    server = await claimed(place.world, ann)

    async def saving(conn: Connection) -> None:
        await units.save(conn, bob.id, units.Wanted(None, BELOW, "f" * 24), place.world.clock.now_ms())

    made = partial(publish, ann, server, address=BELOW, displayName="Sky")
    await during(place.world.service.database, saving, made)
    assert (await only(bob))["displayName"] == "Sky"


NAME = "0076_owned_addresses.sql"


async def _forget_migration(conn: Connection) -> None:
    await conn.execute("DROP TRIGGER saved_publication_goes ON publications")
    await conn.execute("DROP FUNCTION saved_publication_goes")
    await conn.execute("CREATE INDEX publications_unproven ON publications (id)")
    await conn.execute("DROP INDEX publications_rechecked")
    await conn.execute("DELETE FROM schema_migrations WHERE name = $1", NAME)


async def _lose(conn: Connection, id: str) -> None:
    await conn.execute("UPDATE publications SET ownership_state = 'LOST' WHERE id = $1", id)


async def test_what_was_lost_before_goes_on_as_its_address(place: Place) -> None:
    _, _, bob, kept = await adopted(place)
    other = await claimed(place.world, bob, "Other")
    pending = await publish(bob, other, address="play.example.org", displayName="Other")
    await favourite(bob, serverId=pending["id"])
    database = place.world.service.database
    await database.transact(_lose, kept["id"])
    await database.transact(_forget_migration)
    assert await migrate(database, shipped()) == (NAME,)
    first, second = (await bob.get(SAVED))["items"]
    assert first == kept | {"id": first["id"]}
    assert first["id"] != kept["id"]
    assert (second["id"], second["favoriteCount"]) == (pending["id"], 1)
    assert (await publish(bob, other, address="play.example.org"))["favoriteCount"] == 1
