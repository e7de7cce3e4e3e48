"""Rows: each job that prunes takes many batches in one run, leaves what is young, and finds it without a look at every
row.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import routes.pruning
from persistence.bridge.database import Database
from persistence.connection import Connection
from routes.pruning import Pruning
from tests.service.overdue import CASES, Case
from tests.support.explaining import ExplainingStore, large_tables
from tests.support.jobs import job_named, jobs_of
from tests.support.world import World, open_world


@pytest.fixture
async def world(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path) as world:
        yield world


async def fill(conn: Connection, case: Case) -> None:
    for statement in case.fills:
        await conn.execute(statement)


async def analyze(conn: Connection) -> None:
    """Have plans that were made while the tables were empty made anew, as PostgreSQL does by itself in a minute."""
    await conn.execute("ANALYZE")


async def count(conn: Connection, case: Case) -> int:
    found: int = await conn.fetchval(f"SELECT count(*) FROM {case.counts} AS t")
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.job)
async def test_what_is_overdue_goes_in_one_run(
    world: World, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.setattr(routes.pruning, "RUN_SECONDS", 600.0)  # how quick the machine is decides nothing
    await world.service.database.transact(fill, case)
    await world.service.database.read(analyze)
    world.clock.advance(case.up_for_ms)
    run = job_named(world, case.job).run
    pruning = getattr(run, "__self__", None)
    if isinstance(pruning, Pruning):
        assert await world.service.database.read(count, case) > 2 * pruning.rows
    assert await run() is not False
    assert await world.service.database.read(count, case) == case.left
    assert await run() is not False
    assert await world.service.database.read(count, case) == case.left


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.job)
async def test_no_job_looks_at_every_row_of_a_large_table(world: World, case: Case) -> None:
    database = world.service.database
    await database.transact(fill, case)
    world.clock.advance(case.up_for_ms)
    large = await database.read(large_tables)
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
