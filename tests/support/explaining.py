"""Whether a statement reads a whole table, as PostgreSQL plans it."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from persistence.bridge.database import Database
from persistence.connection import Connection


class Explaining:
    """A connection that asks PostgreSQL for the plan of each statement before it executes the statement.

    Args:
        conn: the connection that executes the statements.
        scanned: the list to which the names of tables are added that a plan reads whole.
    """

    def __init__(self, conn: Connection, scanned: list[str]) -> None:
        self._conn = conn
        self._scanned = scanned

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        do = getattr(self._conn, name)

        async def explained(sql: str, *args: object) -> Any:
            plan = "\n".join(row[0] for row in await self._conn.fetch(f"EXPLAIN {sql}", *args))
            self._scanned += re.findall(r"Seq Scan on (\w+)", plan)
            return await do(sql, *args)

        return explained


class Planning:
    """A connection that asks for the generic plan of each statement, which holds for any arguments, before it executes
    the statement.

    PostgreSQL uses such a plan for a statement that a connection has executed a few times, if it does not seem worse.
    The plan goes by the rows that a value has on average, and does not know of a value that has many.

    Args:
        conn: the connection that executes the statements.
        plans: the list to which the plans are added.
    """

    def __init__(self, conn: Connection, plans: list[str]) -> None:
        self._conn = conn
        self._plans = plans

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        do = getattr(self._conn, name)

        async def planned(sql: str, *args: object) -> Any:
            await self._conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            await self._conn.execute(f"PREPARE planned AS {sql}")
            unknown = ", ".join("NULL" for _ in args)
            plan = await self._conn.fetch(f"EXPLAIN EXECUTE planned ({unknown})")
            await self._conn.execute("DEALLOCATE planned")
            self._plans.append("\n".join(row[0] for row in plan))
            return await do(sql, *args)

        return planned


class ExplainingStore:
    """A database whose statements are explained; see `Explaining`."""

    def __init__(self, database: Database) -> None:
        self.scanned: list[str] = []
        self._database = database

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        run = getattr(self._database, name)

        async def explained(unit: Callable[..., Awaitable[Any]], *args: object) -> Any:
            return await run(lambda conn: unit(Explaining(conn, self.scanned), *args))

        return explained


async def large_tables(conn: Connection) -> frozenset[str]:
    """The tables that have many rows, once the planner has counted them."""
    await conn.execute("ANALYZE")
    rows = await conn.fetch("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > 1500")
    return frozenset(row["relname"] for row in rows if not row["relname"].startswith("pg_"))
