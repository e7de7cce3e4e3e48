"""Parties in the simulated database are like those in the real one: turns drawn by seed leave the same to be read."""

from random import Random
from typing import Any

import msgspec
import pytest

from actors.errors import Refused
from actors.party import loading, lookups, own_view, persisting, units
from actors.party.commands import TellPresence
from actors.party.memberships import Memberships
from actors.party.units import PartyCreation
from persistence.bridge.database import Database
from persistence.errors import LimitReached
from persistence.journal.turn import Turn
from persistence.nodes.shards import shard_of
from persistence.party import rows
from tests.chat.play import mid
from tests.party.play import uid
from tests.simulation import party_reads
from tests.simulation.both import Both, both_with_users
from tests.simulation.image import START_MS, USER_IDS
from tests.simulation.party_reads import simulated_party
from tests.simulation.party_requests import asking, inviting
from tests.simulation.party_rows import KIND, persist

PARTIES = tuple(uid(f"party {number}") for number in range(3))
TURNS = 90
WISHES = ("accept", "decline", "revoke", "leave", "kick", "hand over", "selectors", "select", "ready")


@pytest.mark.slow
async def test_parties_in_memory_are_as_parties_in_rows(database: Database) -> None:
    rng, both = Random(1), await both_with_users(database)
    for place, party_id in enumerate(PARTIES):
        creation = PartyCreation(USER_IDS[place], party_id, f"e{place}", START_MS + place)
        made = await database.transact(units.create_party, creation)
        assert await party_reads.create_party(both.tables, creation) == made
    for number in range(1, TURNS + 1):
        await _turn(both, rng, number)
        if number % 3 == 0:
            await _compare(both)
    assert both.outcomes == {type(None), LimitReached}


async def _turn(both: Both, rng: Random, number: int) -> None:
    """A turn of one command by the real rules, on what both have read; one who accepts may be in another party."""
    party_id = rng.choice(PARTIES)
    kind: Any = simulated_party(lambda _id: False, lambda: START_MS, Memberships(())).party
    state = await party_reads.load(both.tables, party_id)
    if state is None:
        return
    now_ms = START_MS + number * 90_000
    command = _command(rng, number, party_id, rng.choice((*state.members, *state.invites)))
    asked = lookups.missing(state, command)
    if asked is not None:
        found = await party_reads.fetch(both.tables, party_id, asked)
        assert await both.database.read(lookups.fetch, party_id, asked) == found
        if rng.random() < 0.5:  # as if they had been in none when it was read
            found = msgspec.structs.replace(found, party_id=None)
        state = msgspec.structs.replace(state, looked_up=found)
    try:
        events = [*kind.decide(state, command, now_ms)]
    except Refused:
        return
    for event in events:
        state = kind.apply(state, event)
    head, shard = both.tables.heads[KIND, party_id], shard_of(KIND, party_id)
    turn = Turn(
        kind=KIND,
        id=party_id,
        shard=shard,
        fence=both.tables.leases[shard][1],
        seq=head.seq,
        version=head.version,
        at_ms=now_ms,
        events=tuple(event for event in events if event.durable),
        journal=tuple(msgspec.msgpack.encode(event) for event in events if event.journaled),
        due_at_ms=None,
        summary=kind.summary(state),
        persist=persist,
    )
    await both.turn(turn, persisting.persist, persisting.plan)


def _command(rng: Random, number: int, party_id: str, user_id: str) -> Any:
    other_id = rng.choice(USER_IDS)
    drawn = rng.random()
    if drawn < 0.35:
        return inviting(number, user_id, party_id, other_id, keyed=False).make(mid(number))
    if drawn < 0.42:
        return TellPresence(user_id, rng.choice((None, START_MS + number)))
    return asking(number, rng.choice((*WISHES, "accept", "accept")), user_id, party_id, other_id).make("")


async def _compare(both: Both) -> None:
    """What is read of all parties, and by all users."""
    database, tables = both.database, both.tables
    for party_id in PARTIES:
        assert await database.read(loading.load, party_id) == await party_reads.load(tables, party_id)
    stored = await database.read(rows.memberships)
    assert sorted(stored) == sorted(await party_reads.stored_memberships(tables))
    views = await party_reads.load_own_many(tables, USER_IDS)
    assert await database.read(own_view.load_many, USER_IDS) == views
    for user_id, view in views.items():
        if view.party is not None:
            told = await party_reads.replay(tables, user_id, 1, view.party.revision)
            assert await database.read(own_view.replay, user_id, 1, view.party.revision) == told
