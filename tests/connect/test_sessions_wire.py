"""Tickets and sessions: single use, their ends, and that players on a server are online, also after a restart."""

from pathlib import Path
from typing import Any

import pytest
import trio

from actors.users.events import UserErased
from persistence.bridge.database import Database
from routes.connect import reactions
from routes.connect.parts import GAME_SERVERS
from routes.users.parts import PRESENCE
from tests.connect.play import GameServer, claimed, register
from tests.support.jobs import clean_connect
from tests.support.waiting import wait_until
from tests.support.world import Player, World, open_world
from tests.users.play import erase

HOUR_MS = 3_600_000


async def _ticket(player: Player, server: GameServer) -> dict[str, object]:
    return {
        "ticket": (await player.do("POST", f"{server.path}/join-tickets", status=201))["ticket"],
    }


async def test_tickets_serve_once_and_for_a_minute(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other = await claimed(world, ann), await claimed(world, ann)
    sessions = f"{server.path}/sessions"
    ticket = await _ticket(bob, server)
    assert await other.refused("POST", f"{other.path}/sessions", ticket) == (404, "NOT_FOUND")
    session = await server.do("POST", sessions, ticket, status=201)
    assert (session["userId"], session["name"]) == (bob.id, "Bob")
    assert await server.refused("POST", sessions, ticket) == (410, "JOIN_TOKEN_USED")
    ticket = await _ticket(bob, server)
    world.clock.advance(60_000)
    assert await server.refused("POST", sessions, ticket) == (410, "JOIN_TOKEN_EXPIRED")
    assert await server.refused("POST", sessions, {"ticket": "x"}) == (404, "NOT_FOUND")
    world.clock.advance(20 * 60_000)
    await clean_connect(world)
    await _ticket(ann, server)
    assert await server.refused("POST", sessions, ticket) == (404, "NOT_FOUND")


async def test_of_fifty_redemptions_one_wins(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    ticket = await _ticket(bob, server)
    outcomes: list[int] = []

    async def redeem() -> None:
        outcomes.append((await server.ask("POST", f"{server.path}/sessions", ticket)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(redeem)
    assert sorted(outcomes) == [201] + [410] * 49


async def test_no_tickets_for_servers_that_nobody_has_claimed(world: World):
    ann = await world.player("Ann")
    server = await register(world)
    assert await ann.refused("POST", f"{server.path}/join-tickets") == (404, "NOT_FOUND")
    assert await ann.refused("POST", f"/v1/connect/servers/{ann.id}/join-tickets") == (404, "NOT_FOUND")


async def test_players_are_online(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other = await claimed(world, ann), await claimed(world, ann)
    presence = world.service.of(PRESENCE)
    first = await server.seat(bob)
    second = await server.seat(bob)
    third = await other.seat(bob)
    assert presence.is_online(bob.id)
    assert await server.refused("DELETE", f"{server.path}/sessions/{first['sessionId']}") == (
        404,
        "NOT_FOUND",
    )
    assert await other.refused("DELETE", f"{other.path}/sessions/{second['sessionId']}") == (404, "NOT_FOUND")
    await server.do("DELETE", f"{server.path}/sessions/{second['sessionId']}", status=204)
    world.clock.advance(11_000)
    assert presence.is_online(bob.id)
    await other.do("DELETE", f"{other.path}/sessions/{third['sessionId']}", status=204)
    world.clock.advance(11_000)
    assert not presence.is_online(bob.id)


async def test_giving_a_server_up_ends_its_sessions(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    await server.seat(bob)
    await ann.do("DELETE", server.path, status=204)
    world.clock.advance(11_000)
    assert not world.service.of(PRESENCE).is_online(bob.id)
    assert world.service.of(GAME_SERVERS).playing.statistics() == 0


async def test_sessions_outlive_a_restart_and_end_by_themselves(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        ann, bob = await world.players("Ann", "Bob")
        server = await claimed(world, ann)
        await server.seat(bob)
    async with open_world(database_url, tmp_path) as world:
        presence, playing = world.service.of(PRESENCE), world.service.of(GAME_SERVERS).playing
        assert presence.is_online(bob.id)
        assert playing.plays_on(bob.id, server.id, world.clock.now_ms())
        world.clock.advance(12 * HOUR_MS)
        assert not playing.plays_on(bob.id, server.id, world.clock.now_ms())

        async def ended() -> bool:
            return playing.statistics() == 0

        await wait_until(ended)
        world.clock.advance(11_000)
        assert not presence.is_online(bob.id)


async def test_an_erased_player_leaves_no_ticket_and_no_session(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other = await claimed(world, ann), await claimed(world, ann)
    ticket = await _ticket(bob, server)
    await other.seat(bob)
    await erase(world, bob)
    assert await server.refused("POST", f"{server.path}/sessions", ticket) == (404, "NOT_FOUND")
    await world.everywhere(lambda one: one.of(GAME_SERVERS).playing.session_of(bob.id, other.id) is None)


@pytest.mark.one_node(because="it is asked who plays as one node knows it")
async def test_who_comes_while_memory_forgets_an_erased_player_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """A server has its players read for that where nothing was told of the erased one's end."""
    ann, bob, cid = await world.players("Ann", "Bob", "Cid")
    server = await claimed(world, bob)
    await server.seat(ann)
    read, reading = Database.read, reactions.sessions_of

    async def read_slowly(database: Database, unit: Any, *args: Any) -> Any:
        found = await read(database, unit, *args)
        if unit is reading:
            await server.seat(cid)
            return [one for one in found if one.user_id != ann.id]  # as after the erasure
        return found

    monkeypatch.setattr(Database, "read", read_slowly)
    (react,) = [one.tell for one in reactions.REACTIONS if one.to is UserErased]
    waiting = react(world.service, UserErased(ann.id, {}, 0))
    assert waiting is not None
    await waiting
    playing = world.service.of(GAME_SERVERS).playing
    plays = [playing.plays_on(one.id, server.id, world.clock.now_ms()) for one in (ann, cid)]
    assert plays == [False, True]


async def test_a_ticket_of_somebody_who_was_erased_meanwhile_is_unknown(world: World):
    """As one that was made while its player was being erased."""
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    ticket = await _ticket(bob, server)
    await world.service.database.transact(
        lambda conn: conn.execute("DELETE FROM users WHERE id = $1", bob.id)
    )
    assert await server.refused("POST", f"{server.path}/sessions", ticket) == (404, "NOT_FOUND")
    await ann.do("POST", f"{server.path}/commands", {"action": "a"}, status=201)
