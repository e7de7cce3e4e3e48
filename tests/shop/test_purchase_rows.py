"""Rows: how the purchases in one state are found among very many that are fulfilled."""

from typing import get_args

from persistence.connection import Connection
from persistence.shop.purchases import PurchaseStatus, WantedPurchases, list_purchases
from tests.shop.play import open_shop
from tests.support.world import World

MANY = 5_000
RUNS = 10
"""After a few runs of a statement PostgreSQL may plan it without a look at its parameters."""


async def _fill(conn: Connection) -> None:
    """Many purchases like the one that is there."""
    names = [
        row["column_name"]
        for row in await conn.fetch(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'shop_purchases'"
            " AND column_name NOT IN ('seq', 'id')"
        )
    ]
    columns = ", ".join(names)
    await conn.execute(
        f"INSERT INTO shop_purchases (id, {columns}) SELECT lpad(n::text, 24, '0'), {columns}"
        f" FROM shop_purchases, generate_series(1, {MANY}) AS n"
    )
    await conn.execute("ANALYZE shop_purchases")


async def _read(conn: Connection, status: PurchaseStatus) -> tuple[int, int]:
    """(how many purchases are listed, how many were looked at for it)."""
    for _ in range(RUNS):
        found = await list_purchases(conn, WantedPurchases(status=status, limit=51))
    looked_at = await conn.fetchval(
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'shop_purchases'"
    )
    return len(found), looked_at


async def test_a_rare_state_is_found_without_a_look_at_the_fulfilled_ones(world: World) -> None:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()
    await shop.buy(ann, product)
    database = world.service.database
    await database.transact(_fill)
    await shop.order(ann, product)
    for status in get_args(PurchaseStatus):
        listed, looked_at = await database.transact(_read, status)
        assert listed == {"fulfilled": 51, "pending": 1}.get(status, 0)
        assert looked_at <= 60 * RUNS, status
