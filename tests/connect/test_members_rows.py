"""Who belongs to a server, in memory and in rows: the same after a walk in any order, and after a user has gone."""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from actors.connect import commands, loading
from actors.errors import Refused
from persistence.connect import sessions
from persistence.connect.rows import SessionRow, TicketRow
from persistence.connection import Connection
from persistence.users import erasure
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import GameServer, claimed
from tests.support.locks import Step, during
from tests.support.world import Player, World

STEPS = 80
EXTRAS = ((), ("server.publication.write",), ("server.members.write", "server.members.read"))


def _deeds(rng: Random, people: list[Player], number: int, known: list[str]) -> commands.AnyCommand:
    """One command of anybody about anybody."""
    actor, user = rng.choice((*people[:1] * 4, *people)).id, rng.choice(people).id
    role, extra = rng.choice(("owner", "admin", "operator", "viewer")), rng.choice(EXTRAS)
    id = f"{number:024x}"
    invite = commands.CreateInvite(
        actor_id=actor,
        invite_id=id,
        notice_id=id,
        invitee_user_id=user,
        role=role,
        capabilities=extra,
        note="",
    )
    deeds: tuple[Callable[[], commands.AnyCommand], ...] = (
        lambda: commands.PutMember(actor_id=actor, user_id=user, role=role, capabilities=extra),
        lambda: commands.RemoveMember(actor, user),
        lambda: invite,
        lambda: invite,
        lambda: commands.RevokeInvite(actor, rng.choice(known or [id])),
        lambda: commands.AcceptInvite(user, rng.choice(known or [id])),
        lambda: commands.DeclineInvite(user, rng.choice(known or [id])),
        lambda: commands.ChangePolicy(actor, access_mode=rng.choice(("private", "public"))),
        lambda: commands.ForgetUser(user),
    )
    return rng.choice(deeds)()


async def _same(world: World, server: GameServer) -> None:
    kind = world.service.of(GAME_SERVERS).server
    live = world.home(kind.name, server.id).system.peek(kind, server.id)
    kept = await world.service.database.read(loading.load, server.id)
    assert (kept.row, kept.members, kept.invites) == (live.row, live.members, live.invites)


@pytest.mark.parametrize("seed", range(2))
async def test_memory_is_what_the_rows_say(world: World, seed: int):
    rng = Random(seed)
    people = await world.players("Annabel", "Bobby", "Evelyn", "Daniel")
    server = await claimed(world, people[0])
    service, known, done = world.home("server", server.id), [], 0
    for number in range(STEPS):
        command = _deeds(rng, people, number, known)
        if isinstance(command, commands.ForgetUser) and command.user_id == people[0].id:
            continue
        try:
            await service.system.ask(service.of(GAME_SERVERS).server, server.id, command)
        except Refused:
            continue
        done += 1
        if isinstance(command, commands.CreateInvite):
            known.append(command.invite_id)
        await _same(world, server)
    assert done > STEPS // 8
    kept = await service.database.read(_journal, server.id)
    assert kept
    assert not any(player.name.encode() in event for player in people for event in kept)


async def _journal(conn: Connection, server_id: str) -> list[bytes]:
    rows = await conn.fetch("SELECT * FROM events WHERE kind = 'server' AND id = $1", server_id)
    return [value for row in rows for value in row.values() if isinstance(value, bytes)]


def seats(server_id: str, user_id: str, ann: Player) -> dict[str, Step]:
    """What stores each sort of seat, one of a user and one of Ann."""
    ticket = TicketRow(server_id, user_id, bytes(32), "", 2, used=True)
    session = SessionRow(server_id, user_id, "0" * 24, "", 1, 2)
    return {
        "ticket": partial(sessions.put_tickets, rows=[ticket, replace(ticket, user_id=ann.id)]),
        "session": partial(sessions.start, rows=[session, replace(session, user_id=ann.id)]),
    }


READ = {"ticket": sessions.tickets_of, "session": sessions.sessions_of}


@pytest.mark.parametrize("sort", READ)
async def test_seats_of_an_erased_user_are_passed_over(world: World, sort: str):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await world.service.database.transact(seats(server.id, server.id, ann)[sort])
    assert await _users(world, server, sort) == [ann.id]


@pytest.mark.parametrize("sort", READ)
async def test_seats_of_a_user_who_is_being_erased_are_passed_over(world: World, sort: str):
    ann, ben = await world.players("Ann", "Ben")
    server, database = await claimed(world, ann), world.service.database
    erased = partial(erasure.erase, user_id=ben.id, now_ms=world.clock.now_ms(), even_if_held=True)
    await during(database, erased, partial(database.transact, seats(server.id, ben.id, ann)[sort]))
    assert await _users(world, server, sort) == [ann.id]


async def _users(world: World, server: GameServer, sort: str) -> list[str]:
    rows: Sequence[Any] = await world.service.database.read(READ[sort], server.id)
    return [one.user_id for one in rows]
