"""Wire: the list of a user's services and its bound, and what of other users, other extensions and other servers does
not count."""

from typing import Any

import trio

from actors.services.units_services import MAX_SERVICES
from persistence.connection import Connection
from tests.connect.play import GameServer, claimed
from tests.services.play import SERVICES, configure, extension, register, registered, service, settings
from tests.support.world import Player, World


async def test_services_are_listed_in_pages_oldest_first(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = []
    for number in range(5):
        made.append(await service(ann, await extension(ann, f"e{number}")))
        await service(ben, f"e{number}")
        world.advance(number % 2)
    assert (await ann.get(SERVICES))["items"] == made
    met: list[Any] = []
    page = await ann.get(SERVICES, limit=2)
    while page["hasMore"]:
        met += page["items"]
        page = await ann.get(SERVICES, limit=2, cursor=page["nextCursor"])
    assert [*met, *page["items"]] == made
    assert (len(met), page["nextCursor"]) == (4, None)
    whole = await ann.get(SERVICES, limit=5)
    assert (whole["items"], whole["hasMore"], whole["nextCursor"]) == (made, False, None)


async def test_a_user_has_a_hundred_services_and_no_more(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    wanted = [await extension(ben, f"wanted{number}") for number in range(4)]
    await world.service.database.transact(_fill, ann.id, MAX_SERVICES - 1)
    await service(ben, wanted[0])
    codes: list[int] = []

    async def make(extension_id: str) -> None:
        body = {"name": "Board", "extensionId": extension_id}
        codes.append((await ann.ask("POST", SERVICES, body)).status_code)

    async with trio.open_nursery() as nursery:
        for id in wanted:
            nursery.start_soon(make, id)
    assert sorted(codes) == [201, 422, 422, 422]
    answer = await ann.ask("POST", SERVICES, {"name": "Board", "extensionId": wanted[0]})
    assert (answer.status_code, answer.json()["code"]) == (422, "QUOTA_EXCEEDED")
    assert answer.json()["meta"]["max"] == 100
    assert len((await ann.get(SERVICES, limit=100))["items"]) == 100


async def _fill(conn: Connection, owner_id: str, number: int) -> None:
    """So many services, each of an extension of its own."""
    ids = [f"e{n}" for n in range(number)]
    await conn.execute(
        "INSERT INTO connect_extensions (id, extension_id, name, description, owner_id, visibility, created_at_ms,"
        " updated_at_ms) SELECT lpad(id, 24, '0'), id, id, '', $1, 'public', 0, 0 FROM unnest($2::text[]) AS id",
        owner_id,
        ids,
    )
    await conn.execute(
        "INSERT INTO services (service_id, owner_id, extension_id, name, created_at_ms)"
        " SELECT lpad(id, 24, '0'), $1, id, 'Board', 0 FROM unnest($2::text[]) AS id",
        owner_id,
        ids,
    )


async def test_services_of_others_are_not_in_the_way_of_a_migration(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "old")
    await extension(ann, "new", "private")
    await extension(ann, "open")
    made = await service(ann, "old")
    await service(ben, "open")
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    for id in ("new", "open"):
        answer = await ann.do("POST", path, {"extensionId": id}, status=200)
        assert answer["service"] == {**made, "extensionId": id}


async def test_settings_are_moved_also_from_where_nothing_is_registered(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "old")
    await extension(ann, "new")
    stored, other, theirs = [await claimed(world, owner) for owner in (ann, ann, ben)]
    await configure(stored, "old", lines=1)
    await configure(other, "another", lines=2)
    await configure(theirs, "old", lines=3)
    made = await service(ann, "old")
    answer = await _migrated(ann, made["serviceId"], "new")
    assert answer["moved"] == {"servers": 1, "settings": 1, "registrations": 0}
    assert await settings(stored, "new") == (2, {"lines": 1})
    assert await settings(other, "another") == (1, {"lines": 2})
    assert await settings(theirs, "old") == (1, {"lines": 3})


async def _migrated(owner: Player, service_id: str, extension_id: str) -> Any:
    path = f"{SERVICES}/{service_id}/migrate-extension"
    return await owner.do("POST", path, {"extensionId": extension_id}, status=200)


async def test_a_service_goes_once_its_extension_is_on_no_server(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    for id in ("board", "other"):
        await extension(ann, id)
    free, stuck, theirs = [await claimed(world, owner) for owner in (ann, ann, ben)]
    for server in (free, stuck, theirs):
        await register(server, "other")
    await register(free, "board")
    await register(theirs, "board")
    assert (await registered(stuck)).keys() == {"other"}
    made = await service(ann, "board")
    await world.service.database.transact(_stick, stuck)
    path = f"{SERVICES}/{made['serviceId']}"
    assert await ann.refused("DELETE", path) == (503, "OVERLOADED")
    assert (await registered(free)).keys() == {"other"}
    assert (await ann.get(SERVICES))["items"] == [made], "it may be repeated"
    await world.service.database.transact(_release, stuck)
    assert await ann.do("DELETE", path, status=200) == {"removed": 0}
    assert (await ann.get(SERVICES))["items"] == []


async def _stick(conn: Connection, server: GameServer) -> None:
    """A registration of which the game server's owner does not know, so that nothing takes it away."""
    await conn.execute(
        "INSERT INTO connect_registrations SELECT server_id, 'board', name, description, version, actions,"
        " registered_at_ms, last_seen_at_ms FROM connect_registrations WHERE server_id = $1",
        server.id,
    )


async def _release(conn: Connection, server: GameServer) -> None:
    await conn.execute(
        "DELETE FROM connect_registrations WHERE server_id = $1 AND extension_id = 'board'", server.id
    )
