"""COMMIT reaches PostgreSQL long after the writer has given it up: what was written meanwhile, and afterwards."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
import trio
from msgspec.structs import replace

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from persistence.journal import journal
from persistence.journal.turn import Turn
from tests.support.database import PATIENCE_SECONDS
from tests.support.proxy import Proxy, open_proxy
from tests.support.turns import KIND, a_turn, commit, make_things, read_notes
from tests.support.waiting import wait_until


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    async with open_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
async def things(proxy: Proxy) -> AsyncIterator[Database]:
    async with open_database(proxy.url, timeout_seconds=PATIENCE_SECONDS) as database:
        await database.transact(make_things, ["a"])
        yield database


def quiet(note: str, *, version: int) -> Turn:
    """A turn with rows and without journal."""
    return replace(a_turn("a", note, version=version), journal=())


async def _version(things: Database) -> int:
    head = await things.read(journal.read_head, KIND, "a")
    assert head is not None
    return head.version


async def test_what_was_decided_before_a_late_commit_is_refused_after_it(
    things: Database, proxy: Proxy
) -> None:
    proxy.delay_at(b"COMMIT\0")
    assert await commit(things, quiet("late", version=0)) == {"a": ["OutcomeUnknown"]}
    assert await _version(things) == 0
    proxy.let_go()

    async def landed() -> bool:
        return await _version(things) == 1

    await wait_until(landed)
    assert await commit(things, quiet("stale", version=0)) == {"a": ["HeadMoved"]}
    assert await commit(things, quiet("fresh", version=1)) == {"a": ["ok"]}
    assert await things.read(read_notes) == [("a", "fresh"), ("a", "late")]


async def test_what_is_written_while_a_commit_is_late_waits_and_is_refused(
    things: Database, proxy: Proxy
) -> None:
    proxy.delay_at(b"COMMIT\0")
    assert await commit(things, quiet("late", version=0)) == {"a": ["OutcomeUnknown"]}
    outcomes: list[object] = []

    async def write() -> None:
        outcomes.append(await commit(things, quiet("stale", version=0)))

    async def waits() -> bool:
        return await things.read(_somebody_waits)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        await wait_until(waits)
        proxy.let_go()
    assert outcomes == [{"a": ["HeadMoved"]}]
    assert await things.read(read_notes) == [("a", "late")]


async def test_a_sealed_head_keeps_what_was_decided_before_from_landing(things: Database) -> None:
    await things.transact(seal)
    assert await commit(things, quiet("late", version=0)) == {"a": ["HeadMoved"]}
    assert await commit(things, quiet("fresh", version=1)) == {"a": ["ok"]}


async def test_a_head_is_sealed_under_its_lease_only(things: Database) -> None:
    await things.transact(partial(journal.seal, kind=KIND, id="a", shard=0, fence=2))
    await things.transact(partial(journal.seal, kind=KIND, id="nobody", shard=0, fence=1))
    assert await _version(things) == 0


async def test_a_head_is_not_sealed_while_a_commit_is_late(things: Database, proxy: Proxy) -> None:
    proxy.delay_at(b"COMMIT\0")
    assert await commit(things, quiet("late", version=0)) == {"a": ["OutcomeUnknown"]}
    with pytest.raises(DatabaseUnavailable):
        await things.transact(seal)
    proxy.let_go()

    async def sealed() -> bool:
        try:
            await things.transact(seal)
        except DatabaseUnavailable:
            return False
        return True

    await wait_until(sealed)
    assert await _version(things) == 2
    assert await things.read(read_notes) == [("a", "late")]


async def seal(conn: Connection) -> None:
    await journal.seal(conn, KIND, "a", shard=0, fence=1)


async def _somebody_waits(conn: Connection) -> bool:
    found: bool = await conn.fetchval("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
    return found
