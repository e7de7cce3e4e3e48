"""Wire: who makes which services, and what their removal and migration do to game servers."""

from typing import Any

import pytest
import trio
from msgspec.structs import replace

from persistence.connect import extensions
from persistence.connect.rows import RegistrationRow
from persistence.connection import Connection
from persistence.services import services
from routes.services.jobs import AT_ONCE
from tests.connect.play import claimed
from tests.services.play import (
    SERVICES,
    configure,
    extension,
    register,
    registered,
    service,
    settings,
)
from tests.support.jobs import job_named
from tests.support.refusing import refuse
from tests.support.world import World


async def test_a_service_is_made_once_of_each_extension(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "board")
    await extension(ann, "secret", "private")
    made = await service(ben, "board", "Ours")
    assert made == {"serviceId": made["serviceId"], "name": "Ours", "extensionId": "board"}
    own = await service(ann, "secret")
    assert (await ann.get(SERVICES))["items"] == [own]
    assert (await ben.get(SERVICES))["items"] == [made]
    for id, refusal in (
        ("board", (409, "INVALID_STATE")),
        ("secret", (404, "NOT_FOUND")),
        ("unknown", (404, "NOT_FOUND")),
        ("No id", (404, "NOT_FOUND")),
    ):
        assert await ben.refused("POST", SERVICES, {"name": "A", "extensionId": id}) == refusal
    assert await ben.refused("POST", SERVICES, {"name": "", "extensionId": "board"}) == (
        422,
        "VALIDATION_FAILED",
    )
    path = f"{SERVICES}/{own['serviceId']}"
    assert await ben.refused("DELETE", path) == (404, "NOT_FOUND")
    migration = {"extensionId": "board"}
    assert await ben.refused("POST", f"{path}/migrate-extension", migration) == (404, "NOT_FOUND")


async def test_the_name_of_a_service_is_one_line(world: World) -> None:
    ann = await world.player("Ann")
    await extension(ann, "board")
    for name, code in (
        ("   ", "REQUIRED"),
        ("a\nb", "BAD_TEXT"),
        ("\u202edraob", "BAD_TEXT"),
        ("\u200b", "BAD_TEXT"),
    ):
        answer = await ann.ask("POST", SERVICES, {"name": name, "extensionId": "board"})
        errors = [(one["pointer"], one["code"]) for one in answer.json().get("errors", ())]
        assert (answer.status_code, errors) == (422, [("/name", code)]), name
    assert (await ann.get(SERVICES))["items"] == []
    assert (await service(ann, "board", " Ours "))["name"] == "Ours"


async def test_removing_takes_the_registrations_of_the_owners_servers(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "board")
    first, second, other = [await claimed(world, owner, "S") for owner in (ann, ann, ben)]
    for server in (first, second, other):
        await register(server, "board")
        await configure(server, "board", lines=3)
    made, theirs = await service(ann, "board"), await service(ben, "board")
    order = {"action": "clear", "extensionId": "board", "payload": {}}
    commands = f"{first.path}/commands"
    ordered = (await ann.do("POST", commands, order, status=201))["command"]
    path = f"{SERVICES}/{made['serviceId']}"
    assert await ann.do("DELETE", path, status=200) == {"removed": 2}
    assert await ann.refused("DELETE", path) == (404, "NOT_FOUND")
    assert [await registered(server) for server in (first, second, other)] == [{}, {}, {"board": "Board"}]
    assert await settings(first, "board") == (1, {"lines": 3})
    (shown,) = (await ann.get(commands))["items"]
    assert (shown["id"], shown["status"]) == (ordered["id"], "cancelled")
    assert (await ben.get(SERVICES))["items"] == [theirs]


async def test_a_migration_moves_settings_and_registrations(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "old")
    await extension(ann, "new")
    moved, there, empty = [await claimed(world, ann, name) for name in ("Moved", "There", "Empty")]
    theirs = await claimed(world, ben, "Theirs")
    for server in (moved, there, theirs):
        await register(server, "old", "Old")
        await configure(server, "old", lines=1, key="hidden")
    await register(there, "new", "New")
    await configure(there, "new", lines=9)
    order = {"action": "clear", "extensionId": "old", "payload": {}}
    ordered = (await ann.do("POST", f"{moved.path}/commands", order, status=201))["command"]
    made = await service(ann, "old")
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    async with ann.live("/v1/social/live?channels=") as client:
        watch = {"id": "s", "op": "subscribe", "channel": f"server:{moved.id}", "params": {"mode": "delta"}}
        await client.send_json(watch)
        await client.receive_until(type="snapshot")
        answer = await ann.do("POST", path, {"extensionId": "new"}, status=200)
        assert answer == {
            "service": {**made, "extensionId": "new"},
            "moved": {"servers": 2, "settings": 2, "registrations": 2},
            "pending": 0,
        }
        told = [await client.receive_until(type="event") for _ in range(4)]
        assert [event["event"] for event in told[:2]] == ["settings_updated"] * 2
        assert [(event["data"]["source"], event["data"]["version"]) for event in told[:2]] == [
            ("new", 2),
            ("old", 0),
        ]
        assert [event["event"] for event in told[2:]] == ["extensions"] * 2
        assert [one["extensionId"] for one in told[3]["data"]] == ["new"]
    assert await settings(moved, "new") == (2, {"lines": 1, "key": "hidden"})
    assert await settings(moved, "old") == (0, {})
    assert await registered(moved) == {"new": "Old"}
    assert await settings(there, "new") == (1, {"lines": 9})
    assert await registered(there) == {"new": "New"}
    history = await there.get(f"{there.path}/settings/history", source="old")
    assert [one["version"] for one in history["items"]] == [1]
    (shown,) = (await ann.get(f"{moved.path}/commands"))["items"]
    assert (shown["id"], shown["status"]) == (ordered["id"], "cancelled")
    assert (await registered(empty), await registered(theirs)) == ({}, {"old": "Old"})

    again = await ann.do("POST", path, {"extensionId": "new"}, status=200)
    assert again["moved"] == {"servers": 0, "settings": 0, "registrations": 0}
    await configure(moved, "old", lines=4)
    assert await settings(moved, "old") == (1, {"lines": 4}), "stored anew"


async def test_a_migration_goes_on_where_it_was_interrupted(world: World) -> None:
    ann = await world.player("Ann")
    for id in ("old", "new", "newest"):
        await extension(ann, id)
    servers = [await claimed(world, ann, f"S{number}") for number in range(3)]
    for server in servers:
        await register(server, "old")
    made = await service(ann, "old")
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    moving = services.ServiceRow(
        service_id=made["serviceId"],
        owner_id=ann.id,
        extension_id="new",
        name="Board",
        created_at_ms=0,
        migrating_from="old",
    )
    await world.service.database.transact(services.move, moving)
    assert await ann.refused("POST", path, {"extensionId": "newest"}) == (409, "INVALID_STATE")
    assert await ann.refused("DELETE", f"{SERVICES}/{made['serviceId']}") == (409, "INVALID_STATE")
    await job_named(world, "migrations of services").run()
    assert [await registered(server) for server in servers] == [{"new": "Board"}] * 3
    answer = await ann.do("POST", path, {"extensionId": "newest"}, status=200)
    assert (answer["moved"]["servers"], answer["pending"]) == (3, 0)


async def test_a_migration_needs_the_extensions_permission(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await extension(ann, "open")
    await extension(ann, "secret", "private")
    await extension(ben, "own")
    made = await service(ben, "own")
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    assert await ben.refused("POST", path, {"extensionId": "open"}) == (403, "FORBIDDEN")
    assert await ben.refused("POST", path, {"extensionId": "secret"}) == (404, "NOT_FOUND")
    await world.grant(ben, "svc.connect.extensions.open")
    assert (await ben.do("POST", path, {"extensionId": "open"}, status=200))["pending"] == 0
    assert await ben.do("POST", path, {"extensionId": "open"}, status=200)
    await service(ben, "own", "Again")
    assert await ben.refused("POST", path, {"extensionId": "own"}) == (409, "INVALID_STATE")


async def test_many_at_once_are_each_whole(world: World) -> None:
    ann = await world.player("Ann")
    await extension(ann, "old")
    await extension(ann, "new")
    servers = [await claimed(world, ann, f"S{number}") for number in range(8)]
    for server in servers:
        await register(server, "old")
        await configure(server, "old", lines=1)
    made = await service(ann, "old")
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    answers: list[Any] = []

    async def migrate() -> None:
        answers.append(await ann.do("POST", path, {"extensionId": "new"}, status=200))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(migrate)
    assert sum(answer["moved"]["registrations"] for answer in answers) == len(servers)
    assert [await settings(server, "new") for server in servers] == [(2, {"lines": 1})] * len(servers)
    assert [await registered(server) for server in servers] == [{"new": "Board"}] * len(servers)


async def _called(conn: Connection, owner_id: str, id: str) -> None:
    """An extension in the catalog, of whatever id."""
    await conn.execute(
        "INSERT INTO connect_extensions (id, extension_id, name, description, owner_id, visibility, created_at_ms,"
        " updated_at_ms) VALUES (lpad($2, 24, '0'), $2, $2, '', $1, 'public', 0, 0)",
        owner_id,
        id,
    )


async def _migrating(conn: Connection, owner_id: str, number: int, former_id: str, id: str) -> str:
    """A service whose migration was begun by a process that is gone: its id."""
    service_id = f"{number:024x}"
    row = services.ServiceRow(
        service_id=service_id, owner_id=owner_id, extension_id=former_id, name="Board", created_at_ms=0
    )
    await services.create(conn, row)
    await services.move(conn, replace(row, extension_id=id, migrating_from=former_id))
    return service_id


async def test_no_extension_is_called_as_what_the_service_reads(world: World) -> None:
    ann = await world.player("Ann")
    body = {"extensionId": "connect", "name": "Mine"}
    assert await ann.refused("POST", "/v1/connect/extensions", body) == (422, "VALIDATION_FAILED")
    await world.service.database.transact(_called, ann.id, "connect")
    assert await ann.refused("POST", SERVICES, body) == (404, "NOT_FOUND")
    made = await service(ann, await extension(ann, "board"))
    path = f"{SERVICES}/{made['serviceId']}/migrate-extension"
    assert await ann.refused("POST", path, {"extensionId": "connect"}) == (404, "NOT_FOUND")


@pytest.mark.parametrize(("former_id", "id"), [("connect", "board"), ("board", "connect")])
async def test_a_migration_from_or_to_an_extension_that_was_called_so_ends(
    world: World, former_id: str, id: str
) -> None:
    ann, database = await world.player("Ann"), world.service.database
    await database.transact(_called, ann.id, "connect")
    server = await claimed(world, ann)
    await extension(ann, "board")
    await configure(server, "board", lines=1)
    body = {"source": "connect", "data": {"temp": False}}
    await server.do("PUT", f"{server.path}/settings", body, status=200)
    service_id = await database.transact(_migrating, ann.id, 1, former_id, id)
    await job_named(world, "migrations of services").run()
    assert await ann.do("DELETE", f"{SERVICES}/{service_id}", status=200) == {"removed": 0}
    assert await settings(server, "board") == (1, {"lines": 1})
    assert await settings(server, "connect") == (1, {"temp": False})


async def test_migrations_that_cannot_end_hold_up_no_other(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    database = world.service.database
    stuck, server = await claimed(world, ann), await claimed(world, ben)
    for id in ("old", "new"):
        await extension(ben, id)
    assert await registered(stuck) == {}
    await database.transact(_stick, stuck.id)
    for number in range(AT_ONCE):
        await database.transact(_called, ann.id, f"e{number}")
        await database.transact(_migrating, ann.id, number, "old", f"e{number}")
    await register(server, "old")
    await database.transact(_migrating, ben.id, AT_ONCE, "old", "new")
    await job_named(world, "migrations of services").run()
    assert await registered(server) == {"new": "Board"}


async def test_a_migration_whose_end_is_refused_holds_up_no_other(world: World) -> None:
    ann, database = await world.player("Ann"), world.service.database
    for id in ("old", "new", "newer"):
        await extension(ann, id)
    first = await database.transact(_migrating, ann.id, 1, "old", "new")
    await database.transact(_migrating, ann.id, 2, "old", "newer")
    await refuse(world, "UPDATE ON services", f"OLD.service_id = '{first}'")
    await job_named(world, "migrations of services").run()
    assert [row.service_id for row in await database.read(services.migrating, None, 10)] == [first]


async def _stick(conn: Connection, server_id: str) -> None:
    """A registration of which the game server's owner does not know, so that it moves nothing."""
    row = RegistrationRow(
        server_id=server_id, extension_id="old", name="Board", description="", version=1, actions=b"[]",
        registered_at_ms=0, last_seen_at_ms=0,
    )  # fmt: skip
    await extensions.put_registration(conn, row)
