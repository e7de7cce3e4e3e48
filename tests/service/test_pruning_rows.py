"""Rows: each job that prunes takes many batches in one run, leaves what is young, and finds it without a look at every
row.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

import routes.pruning
from persistence.bridge.database import Database
from persistence.connection import Connection
from routes.pruning import Pruning
from tests.service.overdue import CASES, Case
from tests.support.jobs import job_named, jobs_of
from tests.support.world import World, open_world


@pytest.fixture
async def world(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path) as world:
        yield world


async def fill(conn: Connection, case: Case) -> None:
    for statement in case.fills:
        await conn.execute(statement)


async def count(conn: Connection, case: Case) -> int:
    found: int = await conn.fetchval(f"SELECT count(*) FROM {case.counts} AS t")
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.job)
async def test_what_is_overdue_goes_in_one_run(
    world: World, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.setattr(routes.pruning, "RUN_SECONDS", 600.0)  # how quick the machine is decides nothing
    await world.service.database.transact(fill, case)
    run = job_named(world, case.job).run
    pruning = getattr(run, "__self__", None)
    if isinstance(pruning, Pruning):
        assert await world.service.database.read(count, case) > 2 * pruning.rows
    assert await run() is not False
    assert await world.service.database.read(count, case) == case.left
    assert await run() is not False
    assert await world.service.database.read(count, case) == case.left


class Explaining:
    """A connection that asks how each statement will be done before it is.

    Args:
        conn: who does it.
        scanned: where tables go that a plan reads from one end to the other.
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.job)
async def test_no_job_looks_at_every_row_of_a_large_table(world: World, case: Case) -> None:
    database = world.service.database
    await database.transact(fill, case)
    large = await database.read(_large)
    assert large
    store = ExplainingStore(database)
    service = replace(world.service, database=cast(Database, store))
    (job,) = [job for job in jobs_of(service) if job.name == case.job]
    pruning = getattr(job.run, "__self__", None)
    if isinstance(pruning, Pruning):  # large is what is much more than a batch
        await pruning.take(50)
    else:
        await job.run()
    assert not large.intersection(store.scanned)


async def _large(conn: Connection) -> frozenset[str]:
    await conn.execute("ANALYZE")
    rows = await conn.fetch("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > 1500")
    return frozenset(row["relname"] for row in rows if not row["relname"].startswith("pg_"))
