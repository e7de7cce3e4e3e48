"""The moves on a real database: random play against the table, races, and how many friends one may have."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from random import Random
from typing import Any

import pytest
import trio

from actors.errors import Conflict, Invalid, NotFound, QuotaExceeded, Refused
from actors.friends import units_relations
from actors.friends.moves import MOVES, Move, Relation, standing_of
from actors.friends.units_relations import REQUEST_TTL_MS, Pair
from actors.ids import UserId, Uuid, new_object_id
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.friends import blocks, links, requests, standing
from persistence.users.users import arrive
from tests.support.world import World

NOW_MS = 1_700_000_000_000


def user(number: int) -> UserId:
    """The id of a test's user."""
    return UserId(Uuid(f"00000000-0000-4000-8000-{number:012d}"))


def pair(actor: int, other: int, *, most: int = 250, now_ms: int = NOW_MS) -> Pair:
    """One user acts on another; both may have `most` friends."""
    ids = [new_object_id(now_ms, secrets.token_bytes) for _ in range(2)]
    return Pair(user(actor), user(other), most, most, ids[0], ids[1], now_ms)


async def make_users(database: Database, count: int) -> None:
    """Users 0, 1, 2…"""

    async def unit(conn: Connection) -> None:
        for number in range(count):
            await arrive(conn, user(number), f"user{number}", issued_at_s=0, now_ms=NOW_MS)

    await database.transact(unit)


async def befriend(database: Database, one: int, other: int) -> None:
    """Make two friends."""
    await database.transact(units_relations.send, pair(one, other), None)
    await database.transact(units_relations.accept, pair(other, one), None)


Play = Callable[[Connection, Pair], Awaitable[Any]]


async def _send(conn: Connection, both: Pair) -> None:
    await units_relations.send(conn, both, "hi")


async def _unblock(conn: Connection, both: Pair) -> None:
    await units_relations.unblock(conn, both.actor_id, both.other_id)


async def _accept(conn: Connection, both: Pair) -> None:
    await units_relations.accept(conn, both, None)


async def _decline(conn: Connection, both: Pair) -> None:
    await units_relations.decline(conn, both, None)


async def _cancel(conn: Connection, both: Pair) -> None:
    await units_relations.cancel(conn, both, None)


async def _block(conn: Connection, both: Pair) -> None:
    await units_relations.block(conn, both, None)


PLAYS: Mapping[Move, Play] = {
    Move.SEND: _send,
    Move.ACCEPT: _accept,
    Move.DECLINE: _decline,
    Move.CANCEL: _cancel,
    Move.REMOVE: units_relations.remove,
    Move.BLOCK: _block,
    Move.UNBLOCK: _unblock,
}


async def stands(conn: Connection, one: int, other: int, now_ms: int) -> Relation:
    """What rows say is between two, as the first sees it; both sides of a friendship must be there or neither."""
    marks = await standing.between(conn, user(one), user(other))
    mirrored = await standing.between(conn, user(other), user(one))
    assert marks.linked == mirrored.linked
    assert not (marks.linked and (marks.blocks or marks.blocked)), "friends across a block"
    waiting = await requests.between(conn, user(one), user(other), now_ms)
    assert len(waiting) <= 1
    assert not waiting or not (marks.linked or marks.blocks or marks.blocked)
    return standing_of(
        linked=marks.linked,
        blocks=marks.blocks,
        blocked=marks.blocked,
        sent=any(request.sender_id == user(one) for request in waiting),
        received=any(request.sender_id == user(other) for request in waiting),
    )


@pytest.mark.parametrize("seed", range(6))
async def test_any_play_follows_the_table(database: Database, seed: int) -> None:
    rng, now_ms = Random(seed), NOW_MS
    await make_users(database, 3)
    expected = {(one, other): Relation.NONE for one in range(3) for other in range(3) if one != other}
    for _ in range(150):
        one, other = rng.sample(range(3), 2)
        # Mostly moves that go somewhere: in a play of all, blocks would be nearly all there is.
        able = [move for move in Move if isinstance(MOVES[expected[one, other], move], Relation)]
        move = rng.choice(able) if rng.random() < 0.7 else rng.choice(list(Move))
        outcome = MOVES[expected[one, other], move]
        if isinstance(outcome, Relation):
            await database.transact(PLAYS[move], pair(one, other, now_ms=now_ms))
            expected[one, other] = outcome
            expected[other, one] = await database.read(stands, other, one, now_ms)
        else:
            with pytest.raises(outcome):
                await database.transact(PLAYS[move], pair(one, other, now_ms=now_ms))
        for (first, second), wanted in expected.items():
            assert await database.read(stands, first, second, now_ms) is wanted, (move, first, second)
        now_ms += 1
        if rng.random() < 0.03:
            now_ms += REQUEST_TTL_MS
            for key, known in expected.items():
                if known in (Relation.SENT, Relation.RECEIVED):
                    expected[key] = Relation.NONE


async def counted(tries: list[Callable[[], Awaitable[object]]]) -> tuple[int, list[Refused]]:
    """How many of some tries at once succeed, and what the others were refused with."""
    refusals: list[Refused] = []
    done = 0

    async def one(attempt: Callable[[], Awaitable[object]]) -> None:
        nonlocal done
        try:
            await attempt()
        except Refused as refusal:
            refusals.append(refusal)
        else:
            done += 1

    async with trio.open_nursery() as nursery:
        for attempt in tries:
            nursery.start_soon(one, attempt)
    return done, refusals


async def test_one_place_and_fifty_who_would_have_it(database: Database) -> None:
    """One friend of three is missing: of fifty requests that are accepted at once, one is."""
    await make_users(database, 53)
    for friend in (51, 52):
        await befriend(database, 0, friend)
    for sender in range(1, 51):
        await database.transact(units_relations.send, pair(sender, 0, most=3), None)
    done, refusals = await counted(
        [
            partial(database.transact, units_relations.accept, pair(0, sender, most=3), None)
            for sender in range(1, 51)
        ]
    )
    assert done == 1
    assert {type(refusal) for refusal in refusals} == {QuotaExceeded}
    assert len(await database.read(links.of_user, user(0))) == 3
    # The requests that were not accepted still wait.
    assert len(await database.read(requests.of_user, user(0), NOW_MS)) == 49


async def test_one_place_and_fifty_who_accept(database: Database) -> None:
    """The same from the other side: it is the sender who has one place left."""
    await make_users(database, 53)
    await befriend(database, 0, 51)
    for recipient in range(1, 51):
        await database.transact(units_relations.send, pair(0, recipient, most=2), None)
    done, refusals = await counted(
        [
            partial(database.transact, units_relations.accept, pair(recipient, 0, most=2), None)
            for recipient in range(1, 51)
        ]
    )
    assert (done, {type(refusal) for refusal in refusals}) == (1, {QuotaExceeded})
    with pytest.raises(QuotaExceeded):
        await database.transact(units_relations.send, pair(0, 52, most=2), None)


async def test_everything_at_once_between_two(database: Database) -> None:
    """Sends, acceptances, blocks and removals of two users, fifty at once: no fault, and rows that fit together."""
    await make_users(database, 2)
    rng = Random(3)
    for _ in range(3):
        tries: list[Callable[[], Awaitable[object]]] = []
        for _ in range(50):
            one = rng.randrange(2)
            tries.append(partial(database.transact, PLAYS[rng.choice(list(Move))], pair(one, 1 - one)))
        _, refusals = await counted(tries)
        assert all(isinstance(refusal, Refused) for refusal in refusals)
        await database.read(stands, 0, 1, NOW_MS)


async def test_fifty_opposite_requests_make_one_friendship(database: Database) -> None:
    await make_users(database, 2)
    done, refusals = await counted(
        [partial(database.transact, units_relations.send, pair(n % 2, 1 - n % 2), None) for n in range(50)]
    )
    assert done == 2
    assert all(isinstance(refusal, Conflict) for refusal in refusals)
    assert await database.read(stands, 0, 1, NOW_MS) is Relation.FRIENDS


async def test_a_hundred_acceptances_make_one_friendship(world: World) -> None:
    """Over the wire: one is told of the friendship that it made, all others that there is one already."""
    amy, tom = await world.players("Amy", "Tom")
    request = await amy.do("POST", "/v1/social/friends/requests", {"targetId": tom.id}, status=201)
    path = f"/v1/social/friends/requests/{request['id']}/accept"
    answers: list[str] = []

    async def accept() -> None:
        answer = (await tom.ask("POST", path)).json()
        answers.append("made" if "friendId" in answer else answer["code"])

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(accept)
    assert answers.count("made") == 1
    assert set(answers) <= {"made", "NOT_FOUND", "ALREADY_FRIENDS"}
    for one in (amy, tom):
        assert (await one.get("/v1/social/friends"))["counts"]["total"] == 1
    assert len((await amy.get("/v1/notifications"))["items"]) == 1


async def test_a_request_that_was_replaced_is_not_accepted(database: Database) -> None:
    await make_users(database, 2)
    first = (await database.transact(units_relations.send, pair(0, 1), None)).value
    await database.transact(units_relations.cancel, pair(0, 1), first.request.id)
    await database.transact(units_relations.send, pair(0, 1), None)
    for unit in (units_relations.accept, units_relations.decline, units_relations.cancel):
        with pytest.raises(NotFound):
            await database.transact(unit, pair(1, 0), first.request.id)
    assert await database.read(stands, 1, 0, NOW_MS) is Relation.RECEIVED


async def test_users_who_are_none(database: Database) -> None:
    await make_users(database, 1)
    for unit in (units_relations.send, units_relations.block):
        with pytest.raises(NotFound):
            await database.transact(unit, pair(0, 9), None)
        with pytest.raises(Invalid):
            await database.transact(unit, pair(0, 0), None)


@pytest.mark.parametrize(
    ("bound", "play"),
    [
        ("SENT_MAX", units_relations.send),
        ("RECEIVED_MAX", units_relations.send),
        ("BLOCKS_MAX", units_relations.block),
    ],
)
async def test_requests_and_blocks_of_a_user_are_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch, bound: str, play: Callable[..., Awaitable[Any]]
) -> None:
    monkeypatch.setattr(units_relations, bound, 2)
    await make_users(database, 4)
    pairs = [pair(n, 0) if bound == "RECEIVED_MAX" else pair(0, n) for n in (1, 2, 3)]
    for both in pairs[:2]:
        await database.transact(play, both, None)
    with pytest.raises(QuotaExceeded):
        await database.transact(play, pairs[2], None)


async def test_what_has_expired_is_removed(database: Database) -> None:
    await make_users(database, 3)
    await database.transact(units_relations.send, pair(0, 1), None)
    await database.transact(units_relations.send, pair(0, 2, now_ms=NOW_MS + 1), None)
    assert await database.transact(partial(requests.prune, now_ms=NOW_MS + REQUEST_TTL_MS - 1), 5) == []
    assert await database.transact(partial(requests.prune, now_ms=NOW_MS + REQUEST_TTL_MS), 5) == [
        (user(0), user(1))
    ]
    assert await database.transact(partial(requests.prune, now_ms=NOW_MS + REQUEST_TTL_MS), 5) == []
    assert len(await database.read(requests.of_user, user(0), NOW_MS)) == 1
    assert await database.read(blocks.count, user(0)) == 0


async def test_the_quota_of_each_user_counts(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await world.grant(ben, "social:friends.max", value=1)
    asked = [
        await one.do("POST", "/v1/social/friends/requests", {"targetId": ben.id}, status=201)
        for one in (ann, cid)
    ]
    accept = "/v1/social/friends/requests/{}/accept"
    await ben.do("POST", accept.format(asked[0]["id"]), status=200)
    assert await ben.refused("POST", accept.format(asked[1]["id"])) == (422, "QUOTA_EXCEEDED")
    assert (await ben.get("/v1/social/friends"))["counts"]["max"] == 1
    dan = await world.player("Dan")
    body = {"targetId": dan.id}
    assert await ben.refused("POST", "/v1/social/friends/requests", body) == (422, "QUOTA_EXCEEDED")
    # Whoever is asked by somebody may have more by then.
    await world.grant(ben, "social:friends.max", value={"value": 2, "unit": "count"})
    await ben.do("POST", accept.format(asked[1]["id"]), status=200)
