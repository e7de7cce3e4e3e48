"""Consent that a server acts for a player ends when the player, a block or a change of owner says so."""

from pathlib import Path

import pytest

from persistence.connect import sessions
from persistence.connection import Connection
from routes.connect.parting import left_over
from tests.connect.play import GameServer, break_server, claimed
from tests.support.jobs import clean_connect
from tests.support.refusing import refuse
from tests.support.world import Player, World, open_world

FORBIDDEN = (403, "FORBIDDEN")


async def _acts(server: GameServer, player: Player) -> bool:
    """Whether the server may act for the player."""
    response = await server.ask("POST", f"{server.path}/permission-tokens", {"userId": player.id})
    assert response.status_code in {201, 403}, response.text
    return response.status_code == 201


async def _block(one: Player, other: Player) -> None:
    await one.do("POST", "/v1/social/friends/blocks", {"targetId": other.id}, status=201)


async def _pass_on(owner: Player, server: GameServer, to: Player) -> None:
    invite = {"inviteeUserId": to.id, "role": "owner"}
    made = await owner.do("POST", f"{server.path}/invites", invite, status=201)
    await to.do("POST", f"/v1/connect/server-invites/{made['id']}/accept", status=200)


async def _ticket(player: Player, server: GameServer) -> dict[str, object]:
    made = await player.do("POST", f"{server.path}/join-tickets", status=201)
    return {"ticket": made["ticket"]}


async def test_a_player_is_never_kept_in_a_session(world: World):
    """They see where they are, and end it; nobody else's."""
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server, other = await claimed(world, ann), await claimed(world, ann, "Other")
    session = await server.seat(bob)
    await other.seat(eve)
    listed = (await bob.get("/v1/connect/sessions"))["items"]
    assert [(one["sessionId"], one["serverId"], one["serverName"]) for one in listed] == [
        (session["sessionId"], server.id, "Lobby")
    ]
    assert listed[0]["expiresAt"] == session["expiresAt"]
    path = f"{server.path}/sessions/{session['sessionId']}"
    for player in (eve, ann):
        assert await player.refused("DELETE", path) == (404, "NOT_FOUND")
    elsewhere = path.replace(server.id, other.id)
    assert await bob.refused("DELETE", elsewhere) == (404, "NOT_FOUND")
    assert await _acts(server, bob)
    await bob.do("DELETE", path, status=204)
    assert not await _acts(server, bob)
    assert await bob.refused("DELETE", path) == (404, "NOT_FOUND")
    assert (await bob.get("/v1/connect/sessions"))["items"] == []
    assert await _acts(other, eve)


@pytest.mark.parametrize("by_owner", [True, False])
async def test_no_consent_outlives_a_block(world: World, by_owner: bool):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server, other = await claimed(world, ann), await claimed(world, eve, "Other")
    for one in (server, other):
        await one.seat(bob)
    await server.seat(eve)
    ticket = await _ticket(bob, server)
    await _block(*((ann, bob) if by_owner else (bob, ann)))
    assert [await _acts(one, bob) for one in (server, other)] == [False, True]
    assert await _acts(server, eve)
    assert await server.refused("POST", f"{server.path}/sessions", ticket) == (404, "NOT_FOUND")
    assert await bob.refused("POST", f"{server.path}/join-tickets") == (403, "BLOCKED")
    assert [one["serverId"] for one in (await bob.get("/v1/connect/sessions"))["items"]] == [other.id]


async def test_no_consent_outlives_a_change_of_owner(world: World):
    ann, bob, eve = await world.players("Ann", "Bob", "Eve")
    server = await claimed(world, ann)
    await server.seat(bob)
    ticket = await _ticket(eve, server)
    await _pass_on(ann, server, eve)
    assert not await _acts(server, bob)
    assert await server.refused("POST", f"{server.path}/sessions", ticket) == (404, "NOT_FOUND")
    await server.seat(bob)
    assert await _acts(server, bob)


async def test_no_consent_outlives_a_block_that_nobody_was_told_of(database_url: str, tmp_path: Path):
    """The process ended between the block and what follows from it."""
    async with open_world(database_url, tmp_path) as world:
        ann, bob = await world.players("Ann", "Bob")
        server = await claimed(world, ann)
        await server.seat(bob)
        await world.service.database.transact(_store_block, bob.id, ann.id, world.service.clock.now_ms())
        assert await _acts(server, bob)
    async with open_world(database_url, tmp_path) as world:
        server = GameServer(
            world, {"serverId": server.id, "serverName": "", "serverSecret": server.secret, "claimKey": ""}
        )
        bob = Player(world, bob.id, bob.name, bob.token)
        assert not await _acts(server, bob)  # the block counts before the session has ended
        assert len((await bob.get("/v1/connect/sessions"))["items"]) == 1
        await clean_connect(world)
        assert not await _acts(server, bob)
        assert (await bob.get("/v1/connect/sessions"))["items"] == []


async def test_a_server_at_fault_holds_up_the_end_of_no_other_consent(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        ann, bob = await world.players("Ann", "Bob")
        for name in ("One", "Other"):
            await (await claimed(world, ann, name)).seat(bob)
    async with open_world(database_url, tmp_path) as world:
        ann, bob = (Player(world, one.id, one.name, one.token) for one in (ann, bob))
        (broken, _), (sound, _) = await world.service.database.read(sessions.between, ann.id, bob.id)
        await break_server(world, broken)
        await _block(bob, ann)

        async def left() -> list[str]:
            return [one["serverId"] for one in (await bob.get("/v1/connect/sessions"))["items"]]

        assert (await left(), sound != broken) == ([broken], True)
        assert len(world.service.reconciler) == 1, "it is ended once it can be"
        await clean_connect(world)


async def test_consent_that_cannot_be_ended_holds_up_no_other(world: World):
    ann, bob, cid = await world.players("Ann", "Bob", "Cid")
    server = await claimed(world, ann)
    bad, good = sorted((bob, cid), key=lambda player: player.id)
    for player in (bad, good):
        await server.seat(player)
        now_ms = world.service.clock.now_ms()
        await world.service.database.transact(_store_block, player.id, ann.id, now_ms)
    await refuse(world, "DELETE ON connect_sessions", f"OLD.user_id = '{bad.id}'")
    pairs = left_over(world.service)
    while await pairs.take(1):
        pass
    left = [len((await player.get("/v1/connect/sessions"))["items"]) for player in (bad, good)]
    assert left == [1, 0]


async def _store_block(conn: Connection, user_id: str, target_id: str, now_ms: int) -> None:
    await conn.execute("INSERT INTO blocks VALUES ($1, $2, '', $3, $3)", user_id, target_id, now_ms)
