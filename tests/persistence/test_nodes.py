"""Who serves a database: lives of nodes, the leases of all shards, and the shard of each head."""

import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.nodes import nodes
from persistence.nodes.leases import take_leases
from persistence.nodes.shards import ALL_SHARDS, JOB_SHARDS, SHARDS, shard_of, shard_of_job
from persistence.schema.migrate import migrate, shipped

LONG = 60.0
OVER = -1.0


async def test_one_node_holds_everything_and_keeps_others_out(database: Database) -> None:
    held = await database.transact(nodes.hold_alone, "one", LONG)
    assert held is not None
    assert held[1] == dict.fromkeys(ALL_SHARDS, 1)
    assert await database.transact(nodes.hold_alone, "two", LONG) is None
    assert await database.read(nodes.renew, "one", held[0], LONG)


async def test_a_node_that_comes_back_takes_its_own_under_new_fences(database: Database) -> None:
    first = await database.transact(nodes.hold_alone, "one", LONG)
    second = await database.transact(nodes.hold_alone, "one", LONG)
    assert first is not None
    assert second is not None
    assert second[0] > first[0]
    assert second[1] == dict.fromkeys(ALL_SHARDS, 2)
    assert not await database.read(nodes.renew, "one", first[0], LONG)


async def test_of_two_processes_of_one_name_the_later_keeps_everything(database: Database) -> None:
    """As of a data folder that was copied, with a database elsewhere."""
    first = await database.transact(nodes.hold_alone, "one", LONG)
    copy = await database.transact(nodes.hold_alone, "one", LONG)
    assert first is not None
    assert copy is not None
    assert await database.transact(nodes.hold_alone, "one", LONG, first[0]) is None
    assert await database.read(nodes.renew, "one", copy[0], LONG)
    await database.transact(nodes.leave, "one", copy[0])
    assert await database.transact(nodes.hold_alone, "one", LONG, first[0]) is not None


async def test_what_has_run_out_lives_until_somebody_looks(database: Database) -> None:
    held = await database.transact(nodes.hold_alone, "one", OVER)
    assert held is not None
    assert await database.read(nodes.renew, "one", held[0], OVER)
    taken = await database.transact(nodes.hold_alone, "two", LONG)
    assert taken is not None
    assert taken[1] == dict.fromkeys(ALL_SHARDS, 2)
    assert not await database.read(nodes.renew, "one", held[0], LONG)


async def test_who_leaves_need_not_be_waited_for(database: Database) -> None:
    held = await database.transact(nodes.hold_alone, "one", LONG)
    assert held is not None
    await database.transact(
        nodes.leave, "one", held[0] - 1
    )  # a former life leaves nothing that is not its own
    assert await database.transact(nodes.hold_alone, "two", LONG) is None
    await database.transact(nodes.leave, "one", held[0])
    assert await database.transact(nodes.hold_alone, "two", LONG) is not None


async def test_of_two_that_begin_at_once_one_is_kept_out(database: Database) -> None:
    held: dict[str, tuple[int, dict[int, int]] | None] = {}

    async def begin(node: str) -> None:
        held[node] = await database.transact(_hold_slowly, node)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(begin, "one")
        nursery.start_soon(begin, "two")
    assert sorted(one is None for one in held.values()) == [False, True]


async def test_a_lease_is_taken_from_the_dead_only(database: Database) -> None:
    await database.transact(nodes.hold_alone, "one", LONG)
    assert await database.transact(take_leases, "two", [1, 2]) == {}
    await database.transact(_forget_nodes)
    assert await database.transact(take_leases, "two", [1, 2]) == {1: 2, 2: 2}


async def _hold_slowly(conn: Connection, node: str) -> tuple[int, dict[int, int]] | None:
    held = await nodes.hold_alone(conn, node, LONG)
    await conn.execute("SELECT pg_sleep(0.1)")  # while the other begins
    return held


async def _forget_nodes(conn: Connection) -> None:
    await conn.execute("DELETE FROM nodes")


def test_shards_are_the_same_for_ever() -> None:
    assert shard_of("conversation", "665f1f77bcf86cd799439011") == 20
    assert shard_of("party", "ü") == 791
    assert SHARDS <= shard_of_job("journal") < SHARDS + JOB_SHARDS


async def test_heads_of_before_are_given_their_shards(empty: Database) -> None:
    migrations = shipped()
    before = tuple(one for one in migrations if one.name < "0053")
    await migrate(empty, before)
    ids = [f"{'ü' * n}{n:024x}" for n in range(40)]
    await empty.transact(_old_heads, ids)
    await migrate(empty, migrations)
    assert await empty.read(_shards) == {id: shard_of("thing", id) for id in ids}


async def _old_heads(conn: Connection, ids: list[str]) -> None:
    await conn.execute(
        "INSERT INTO heads SELECT 'thing', id, 0, 'e', NULL, '', 0 FROM unnest($1::text[]) AS id", ids
    )


async def _shards(conn: Connection) -> dict[str, int]:
    return {row["id"]: row["shard"] for row in await conn.fetch("SELECT id, shard FROM heads")}
