"""Nodes that serve together: who may join, who is dead, and who owns which shard under which fence."""

import pytest

from persistence.backup.histories import name_anew
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.nodes import members, nodes
from persistence.nodes.members import LATE_SECONDS, NOBODY, Joined, Lease, Said, State, Undrained, Unjoined
from persistence.nodes.nodes import SHORTENED_SECONDS

LONG = 60.0
OVER = -1.0
HOUR = 3600.0

SAID = Said(State.UP, ("two",), 3, 100)


async def join(
    database: Database, node: str, *, seconds: float = LONG, key_id: str = "k", now_ms: int = 1_000
) -> Joined | Unjoined:
    async def unit(conn: Connection) -> Joined | Unjoined:
        return await members.join(
            conn, node, seconds, space=f"space of {node}", key_id=key_id, release="1.0", now_ms=now_ms
        )

    return await database.transact(unit)


async def life_of(database: Database, node: str, *, seconds: float = LONG) -> int:
    joined = await join(database, node, seconds=seconds)
    assert isinstance(joined, Joined)
    return joined.life


async def seconds_left(database: Database, node: str) -> float:
    async def unit(conn: Connection) -> float:
        return float(
            await conn.fetchval(
                "SELECT extract(epoch FROM expires_at - clock_timestamp()) FROM nodes WHERE node = $1", node
            )
        )

    return await database.read(unit)


async def test_all_meet_under_the_name_that_the_first_has_chosen(database: Database) -> None:
    one, two = await join(database, "one"), await join(database, "two")
    assert isinstance(one, Joined)
    assert isinstance(two, Joined)
    assert one.space == two.space == "space of one"
    assert two.life > one.life
    view = await database.read(members.read)
    assert [(one.node, one.state, one.since_ms) for one in view.members.values()] == [
        ("one", State.JOINING, 1_000),
        ("two", State.JOINING, 1_000),
    ]


async def test_who_is_restored_meets_elsewhere_than_who_was_backed_up(database: Database) -> None:
    life = await life_of(database, "one")
    await database.transact(nodes.leave, "one", life)
    await database.transact(name_anew, b"salt")
    joined = await join(database, "two")
    assert isinstance(joined, Joined)
    assert joined.space == "space of two"


async def test_they_have_begun_when_the_first_came_that_found_no_other(database: Database) -> None:
    lives = {}
    for node, now_ms, begun_at_ms in (("one", 1_000, 1_000), ("two", 2_000, 1_000)):
        joined = await join(database, node, now_ms=now_ms)
        assert isinstance(joined, Joined)
        assert joined.begun_at_ms == begun_at_ms
        lives[node] = joined.life
    await database.transact(nodes.leave, "one", lives["one"])
    joined = await join(database, "three", now_ms=3_000)
    assert isinstance(joined, Joined)
    assert joined.begun_at_ms == 1_000
    await database.transact(nodes.leave, "two", lives["two"])
    await database.transact(nodes.leave, "three", joined.life)
    joined = await join(database, "one", now_ms=4_000)
    assert isinstance(joined, Joined)
    assert joined.begun_at_ms == 4_000


async def test_who_serves_alone_keeps_others_out_and_is_kept_out(database: Database) -> None:
    held = await database.transact(nodes.hold_alone, "one", LONG)
    assert held is not None
    assert await join(database, "two") is Unjoined.ALONE
    await database.transact(nodes.leave, "one", held[0])
    await life_of(database, "two")
    assert await database.transact(nodes.hold_alone, "one", LONG) is None


async def test_a_node_that_served_alone_joins_under_its_name(database: Database) -> None:
    held = await database.transact(nodes.hold_alone, "one", LONG)
    life = await life_of(database, "one")
    assert held is not None
    assert life > held[0]
    view = await database.read(members.read)
    assert view.members["one"].state is State.JOINING
    # What it owned is nobody's, under a fence that its former life does not have.
    assert set(view.leases.values()) == {Lease(NOBODY, 2)}


@pytest.mark.parametrize(("seconds", "joins"), [(LONG, False), (OVER, True)])
async def test_other_keys_join_only_where_nobody_lives(
    database: Database, seconds: float, joins: bool
) -> None:
    await life_of(database, "one", seconds=seconds)
    outcome = await join(database, "two", key_id="other")
    assert isinstance(outcome, Joined) is joins
    assert joins or outcome is Unjoined.OTHER_KEYS


async def test_who_begins_declares_nobody_dead_whose_row_ran_out_lately(database: Database) -> None:
    """All rows have, where the database stood still, and whoever begins may be the first that it answers again."""
    one = await life_of(database, "one", seconds=OVER)
    await life_of(database, "two", seconds=-LATE_SECONDS - 1)
    await life_of(database, "three")
    view = await database.transact(members.renew, "one", one, LONG, SAID)
    assert view is not None
    assert view.members.keys() == {"one", "three"}


async def test_who_served_alone_keeps_nobody_out_once_its_row_has_run_out(database: Database) -> None:
    assert await database.transact(nodes.hold_alone, "one", OVER) is not None
    await life_of(database, "two")


async def test_a_row_says_what_its_node_has_said_last(database: Database) -> None:
    life = await life_of(database, "one")
    view = await database.transact(members.renew, "one", life, LONG, SAID)
    assert view is not None
    row = view.members["one"]
    assert (row.state, row.heard, row.sockets, row.waiting_bytes) == (State.UP, {"two"}, 3, 100)
    assert not row.is_over
    assert await database.transact(members.renew, "one", life - 1, LONG, SAID) is None


async def test_who_is_over_lives_until_somebody_takes(database: Database) -> None:
    one, two = await life_of(database, "one"), await life_of(database, "two")
    assert await database.transact(members.take, "one", one, [1, 2, 3]) == {1: 1, 2: 1, 3: 1}
    assert await database.transact(members.take, "two", two, [2, 3, 4]) == {4: 1}
    view = await database.transact(members.renew, "one", one, OVER, SAID)
    assert view is not None
    assert view.members["one"].is_over
    assert await database.transact(members.take, "two", two, [2]) == {2: 2}
    assert await database.transact(members.renew, "one", one, LONG, SAID) is None
    assert await database.transact(members.take, "one", one, [1]) is None
    view = await database.read(members.read)
    assert view.members.keys() == {"two"}
    assert {shard: view.leases[shard] for shard in (1, 2, 3, 4)} == {
        1: Lease("one", 1), 2: Lease("two", 2), 3: Lease("one", 1), 4: Lease("two", 1),
    }  # fmt: skip


async def test_who_died_before_the_clock_was_set_back_does_not_live_for_as_long(database: Database) -> None:
    """Seen from the clock of afterwards, its row was renewed an hour ahead."""
    life = await life_of(database, "lives")
    await join(database, "dead", seconds=HOUR)
    assert await seconds_left(database, "dead") > 0.9 * HOUR
    await database.transact(members.renew, "lives", life, LONG, SAID)
    assert await seconds_left(database, "dead") <= SHORTENED_SECONDS
    assert await seconds_left(database, "lives") > SHORTENED_SECONDS


@pytest.mark.parametrize("alone", [True, False])
async def test_nor_does_it_keep_out_who_begins(database: Database, alone: bool) -> None:
    await join(database, "dead", seconds=HOUR)
    if alone:
        assert await database.transact(nodes.hold_alone, "begins", LONG) is None
    else:
        await join(database, "begins")
    assert await seconds_left(database, "dead") <= SHORTENED_SECONDS


async def test_shards_are_given_by_their_owner_alone(database: Database) -> None:
    one, two = await life_of(database, "one"), await life_of(database, "two")
    await database.transact(members.take, "one", one, [1, 2])
    await database.transact(members.take, "two", two, [3])
    # 1 under its fence, 2 under one that is past, 3 that is another's.
    given = await database.transact(members.give, "one", "two", {1: 1, 2: 9, 3: 1})
    assert given == {1: 2}
    leases = (await database.read(members.read)).leases
    assert (leases[1], leases[2], leases[3]) == (Lease("two", 2), Lease("one", 1), Lease("two", 1))


async def test_a_node_is_drained_only_while_another_serves(database: Database) -> None:
    one = await life_of(database, "one")
    await database.transact(members.renew, "one", one, LONG, SAID)
    assert await database.transact(members.drain, "one") is Undrained.LAST
    assert await database.transact(members.drain, "two") is Undrained.UNKNOWN
    two = await life_of(database, "two")
    assert await database.transact(members.drain, "one") is Undrained.LAST  # the other only joins
    await database.transact(members.renew, "two", two, LONG, SAID)
    assert await database.transact(members.drain, "one") is None
    assert await database.transact(members.drain, "two") is Undrained.LAST
    view = await database.transact(members.renew, "one", one, LONG, SAID)
    assert view is not None
    assert {member.node: member.is_drained for member in view.members.values()} == {"one": True, "two": False}
    assert await database.transact(members.resume, "one") is None
    assert await database.transact(members.drain, "two") is None
    await life_of(database, "two")  # begins a new life
    assert not any(member.is_drained for member in (await database.read(members.read)).members.values())
