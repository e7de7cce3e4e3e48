"""Rows that the database refuses to change, so that whatever is about them fails."""

from persistence.connection import Connection
from tests.support.world import World


async def refuse(world: World, on: str, when: str) -> None:
    """Have each change of some rows violate a constraint.

    Args:
        world: whose database it is.
        on: the operations and the table, such as `UPDATE ON users`.
        when: a condition on the row as it was, in SQL, such as `OLD.id = 'x'`.
    """

    async def create(conn: Connection) -> None:
        await conn.execute(
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION '!' USING ERRCODE = 'check_violation'; END $$;"
            f"CREATE TRIGGER refuse BEFORE {on} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse()"
        )

    await world.service.database.transact(create)


async def allow(world: World) -> None:
    """Take back all of it."""
    await world.service.database.transact(lambda conn: conn.execute("DROP FUNCTION refuse CASCADE"))
