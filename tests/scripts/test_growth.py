"""`scripts/grow`: its plans can be carried out, what it stores is what the service finds, and slopes are those of the
figures."""

import asyncio

import asyncpg
import pytest
import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.friends import links
from persistence.users.users import arrive
from scripts.benchmarks.cases import plan
from scripts.growth.measure import Grown, Point
from scripts.growth.report import is_good, table
from scripts.growth.rows import GROWTHS, MESSAGES_EACH, Fill, befriended, stored_messages
from scripts.load.plan import Plan, check, user_id


def grown(name: str, *costs: tuple[float, float]) -> Grown:
    """At sizes ten times apart; costs of server and PostgreSQL."""
    return Grown(
        name, tuple(Point(10**n, *cost_of(pair), exact=True, others=0.0) for n, pair in enumerate(costs, 1))
    )


def cost_of(pair: tuple[float, float]) -> tuple[float, float, float]:
    return pair[0], 1.0, pair[1]


@pytest.mark.parametrize("growth", GROWTHS, ids=lambda growth: growth.name)
def test_plans_can_be_carried_out(growth):
    for size in growth.sizes:
        check(plan(growth.case(size).options, 1, "r"))
        if growth.idle is not None:
            check(plan(growth.idle(size), 1, "r"))


@pytest.mark.parametrize(
    ("costs", "slope"),
    [((5, 5, 5), 0.0), ((5, 50, 500), 1.0), ((5, 500, 50_000), 2.0), ((0, 5, 5), 0.0)],
    ids=["constant", "in proportion", "square", "nothing at first"],
)
def test_slopes(costs, slope):
    one = grown("rooms", *((cost, 1.0) for cost in costs))
    assert one.slope == pytest.approx(slope)
    assert one.database_slope == 0.0


@pytest.mark.parametrize(
    ("name", "costs", "good"),
    [
        ("rooms", [(50, 20), (51, 20), (52, 21)], True),
        ("rooms", [(50, 20), (70, 20), (100, 20)], False),
        ("rooms", [(50, 20), (50, 40), (50, 80)], False),
        ("members", [(50, 20), (500, 20), (5_000, 20)], True),
        ("members", [(50, 20), (600, 20), (7_000, 20)], False),
    ],
)
def test_what_grows_more_steeply_than_it_may_is_told(name, costs, good):
    one = grown(name, *costs)
    assert is_good(one) is good
    assert f"| {one.slope:.2f} |" in table([one]) or not good
    assert f"**{one.slope:.2f}**" in table([one]) or good


async def test_friends_are_stored_both_ways(database: Database, database_url: str):
    what = plan({"users": 6, "conversations": 1}, 1, "r")
    ids = [user_id(what, user) for user in range(6)]

    async def arrived(conn: Connection) -> None:
        for number, id in enumerate(ids):
            await arrive(conn, id, f"user{number}", issued_at_s=0, now_ms=0)

    await database.transact(arrived)
    await trio.to_thread.run_sync(filled, database_url, befriended(4), what)
    circles = await database.read(links.friend_ids, ids)
    assert {id: set(circles[id]) for id in ids} == {
        ids[n]: {ids[(n + step) % 6] for step in (-2, -1, 1, 2)} for n in range(6)
    }


async def test_messages_are_stored_with_ids_of_their_own(database: Database, database_url: str):
    what = plan({"users": 2, "conversations": 1}, 1, "r")
    await trio.to_thread.run_sync(filled, database_url, stored_messages(2 * MESSAGES_EACH), what)

    async def count(conn: Connection) -> tuple[int, int]:
        row = await conn.fetchrow("SELECT count(*), count(DISTINCT conversation_id) FROM messages")
        assert row is not None
        return row[0], row[1]

    assert await database.read(count) == (2 * MESSAGES_EACH, 2)


def filled(url: str, fill: Fill, what: Plan) -> None:
    """As the server's own PostgreSQL is filled: on a connection of one's own."""

    async def run() -> None:
        conn = await asyncpg.connect(url)
        try:
            await fill(conn, what)
        finally:
            await conn.close()

    asyncio.run(run())
