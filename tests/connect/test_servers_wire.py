"""Registering, claiming, listing, changing and giving up, over real sockets."""

import re

import pytest
import trio

from actors.connect.capabilities import CAPABILITIES
from persistence.connection import Connection
from routes.connect.jobs import SETTLING_MS, SILENT_MS
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import SERVERS, break_server, claimed, register
from tests.support.jobs import clean_connect, job_named
from tests.support.one_world import in_one_world
from tests.support.world import World


async def test_a_server_registers_and_is_claimed(world: World):
    ann = await world.player("Ann")
    server = await register(world, "  Sky Wars ", tempInstance=True)
    assert server.name == "Sky Wars"
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}", server.claim_key)
    assert len(server.secret) == 43
    typed = server.claim_key.lower().replace("-", " ").replace("0", "o")
    answer = await ann.do("POST", f"{SERVERS}/claim", {"claimKey": typed}, status=200)
    assert answer["server"]["serverId"] == server.id
    assert answer["server"]["ownerId"] == ann.id
    assert answer["server"]["tempInstance"] is True
    (listed,) = (await ann.get(SERVERS))["items"]
    assert listed == answer["server"] | {
        "access": {"role": "owner", "capabilities": sorted(CAPABILITIES)},
        "status": {
            "online": False, "motd": "", "playerCount": 0, "playerCapacity": 0, "updatedAt": None,
        },
        "listening": False,
    }  # fmt: skip
    assert not any("secret" in name.lower() or "key" in name.lower() for name in answer["server"])
    assert (await (await world.player("Bob")).get(SERVERS))["items"] == []


@in_one_world(
    ("body", "pointer"),
    [
        ({"serverType": "Paper", "serverName": "x"}, "/serverType"),
        ({"serverType": "", "serverName": "x"}, "/serverType"),
        ({"serverType": "a" * 33, "serverName": "x"}, "/serverType"),
        ({"serverType": "agent", "serverName": "x"}, "/serverType"),
        ({"serverType": "paper", "serverName": " "}, "/serverName"),
        ({"serverType": "paper", "serverName": "a\nb"}, "/serverName"),
        ({"serverType": "paper", "serverName": "a" * 101}, "/serverName"),
        ({"serverType": "paper", "serverName": "x", "templateId": "a" * 65}, "/templateId"),
        ({"serverType": "paper"}, "/serverName"),
    ],
)
async def test_what_cannot_be_registered(world: World, body: dict[str, object], pointer: str):
    response = await world.nobody().ask("POST", f"{SERVERS}/register", body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer


@pytest.mark.one_node(because="it counts to the last token")
async def test_registering_is_limited_by_address(world: World):
    world.clock.stop()
    for _ in range(10):
        await register(world)
    body = {"serverType": "paper", "serverName": "x"}
    assert await world.nobody().refused("POST", f"{SERVERS}/register", body) == (429, "RATE_LIMITED")


async def test_registering_is_repeated_under_a_key(world: World):
    """The reply holds a secret, and is kept sealed."""
    body = {"serverType": "paper", "serverName": "Once"}
    headers = {"idempotency-key": "register-once"}
    answers = [
        await world.nobody().ask("POST", f"{SERVERS}/register", body, headers=headers) for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotent-replayed"] == "true"


async def test_claim_keys_end(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await register(world)
    second = await server.get(f"{server.path}/claim-key")
    assert second["claimed"] is False
    world.clock.advance(300_000)
    assert await ann.refused("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}) == (
        410,
        "CLAIM_KEY_EXPIRED",
    )
    third = await server.get(f"{server.path}/claim-key")
    await ann.do("POST", f"{SERVERS}/claim", {"claimKey": third["claimKey"]}, status=200)
    for key in (third["claimKey"], second["claimKey"], server.claim_key):
        assert await bob.refused("POST", f"{SERVERS}/claim", {"claimKey": key}) == (410, "CLAIM_KEY_USED")
    assert await server.get(f"{server.path}/claim-key") == {
        "claimKey": None,
        "claimed": True,
        "expiresAt": None,
    }


@in_one_world("key", ["", "x", "AAAAA-AAAAA-AAAAA-AAAAA", "UUUUU-UUUUU-UUUUU-UUUUU", "🙂" * 20])
async def test_unknown_claim_keys(world: World, key: str):
    ann = await world.player("Ann")
    assert await ann.refused("POST", f"{SERVERS}/claim", {"claimKey": key}) == (404, "NOT_FOUND")


async def test_of_a_hundred_claims_one_wins(world: World):
    server = await register(world)
    players = [await world.player(f"P{number}") for number in range(10)]
    outcomes: list[int] = []

    async def claim(number: int) -> None:
        body = {"claimKey": server.claim_key}
        response = await players[number % 10].ask("POST", f"{SERVERS}/claim", body)
        outcomes.append(response.status_code)

    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(claim, number)
    assert sorted(outcomes) == [200] + [410] * 99
    owned = [len((await player.get(SERVERS))["items"]) for player in players]
    assert sorted(owned) == [0] * 9 + [1]


async def test_the_owner_alone_changes_and_removes(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    changed = await ann.do("PATCH", server.path, {"isTemplate": True}, status=200)
    assert changed["isTemplate"] is True
    assert (await ann.do("PATCH", server.path, {"networkId": None}, status=200))["networkId"] is None
    assert await ann.refused("PATCH", server.path, {"networkId": server.id}) == (404, "NOT_FOUND")
    for method, path, body in (
        ("PATCH", server.path, {}),
        ("DELETE", server.path, None),
        ("POST", f"{server.path}/secret/rotate", None),
    ):
        assert await bob.refused(method, path, body) == (404, "NOT_FOUND")
    await ann.do("DELETE", server.path, status=204)
    assert (await ann.get(SERVERS))["items"] == []
    assert await ann.refused("DELETE", server.path) == (404, "NOT_FOUND")
    assert await server.refused("GET", f"{server.path}/claim-key") == (401, "BAD_SERVER_CREDENTIALS")


async def test_a_silent_server_that_cannot_be_removed_hinders_no_other(world: World):
    silent = sorted([await register(world), await register(world)], key=lambda server: server.id)

    async def refuse(conn: Connection) -> None:
        await conn.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION '!' USING ERRCODE = 'check_violation'; END $$;"
            "CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON connect_servers FOR EACH ROW"
            f" WHEN (OLD.server_id = '{silent[0].id}') EXECUTE FUNCTION refuse()"
        )

    await world.service.database.transact(refuse)
    world.clock.advance(SILENT_MS + 1)
    await clean_connect(world)
    left = [await one.ask("GET", f"{one.path}/claim-key") for one in silent]
    assert [one.status_code for one in left] == [200, 401]


async def test_no_server_is_silent_because_the_service_was_away(world: World):
    """Just after a start after more than a day, none has had the time to call."""
    living, dead = await register(world), await register(world)

    async def long_ago(conn: Connection) -> None:
        await conn.execute("UPDATE connect_servers SET last_seen_at_ms = last_seen_at_ms - $1", 2 * SILENT_MS)

    async def flush() -> None:
        for service in world.services:
            await service.of(GAME_SERVERS).credentials.flush()

    for _ in range(3):  # what memory has of their calls is written, and forgotten
        await flush()
    await world.service.database.transact(long_ago)
    await clean_connect(world)
    for server in (living, dead):
        assert (await server.ask("GET", f"{server.path}/claim-key")).status_code == 200
    for _ in range(3):
        await flush()
    await world.service.database.transact(long_ago)
    world.clock.advance(SETTLING_MS)
    await living.get(f"{living.path}/claim-key")
    await clean_connect(world)
    assert (await dead.refused("GET", f"{dead.path}/claim-key"))[0] == 401
    await living.get(f"{living.path}/claim-key")


async def test_no_server_is_silent_because_the_machine_has_slept(world: World):
    """While it did none could call; those that live do within the hour."""
    world.clock.advance(SETTLING_MS)
    living, dead = await register(world), await register(world)
    job = job_named(world, "silent game servers")
    world.clock.sleep(SILENT_MS + 1)
    assert await job.run() is not False
    await living.get(f"{living.path}/claim-key")
    world.clock.advance(SETTLING_MS)
    assert await job.run() is not False
    assert (await dead.refused("GET", f"{dead.path}/claim-key"))[0] == 401
    await living.get(f"{living.path}/claim-key")


async def test_silent_servers_are_removed(world: World):
    """Unclaimed ones and temporary instances, and none that has called within the day; one at fault stays."""
    ann = await world.player("Ann")
    odd = await register(world)
    await break_server(world, odd.id)
    world.clock.advance(1)  # the others come behind it
    unclaimed = await register(world)
    calling = await register(world)
    mine = await claimed(world, ann, "mine")
    instance = await claimed(world, ann, "instance", tempInstance=True)
    world.clock.advance(SILENT_MS + 1)
    await calling.get(f"{calling.path}/claim-key")
    await clean_connect(world)
    for gone in (unclaimed, instance):
        assert (await gone.refused("GET", f"{gone.path}/claim-key"))[0] == 401
    for there in (calling, mine):
        await there.get(f"{there.path}/claim-key")
    heads = "SELECT count(*) FROM heads WHERE kind = 'server'"
    assert await world.service.database.read(lambda conn: conn.fetchval(heads)) == 5
    world.clock.advance(2 * 3_600_000)
    await clean_connect(world)
    assert await world.service.database.read(lambda conn: conn.fetchval(heads)) == 3
