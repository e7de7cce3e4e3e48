"""The kernel over the real database: what the simulation promises, PostgreSQL keeps."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import trio

from actors.errors import NotFound
from actors.kernel.directory import System
from actors.kernel.subscription import WatchRequest
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import Fenced, RowsRejected
from persistence.nodes.leases import take_leases
from persistence.nodes.shards import ALL_SHARDS
from tests.kernel.ledger import (
    Changed,
    Deposit,
    Promote,
    Promoted,
    Recall,
    Viewer,
    WasRead,
)
from tests.kernel.sql_ledger import KIND, ROWS
from tests.support.actors import open_actors
from tests.support.sinks import JsonEnvelope, Socket

IDS = [f"l{n}" for n in range(30)]


@pytest.fixture
async def ledgers(database: Database) -> Database:
    await database.transact(ROWS.make, IDS)
    return database


async def _ask_all(system: System, commands: Sequence[tuple[str, Any]]) -> None:
    async with trio.open_nursery() as nursery:
        for id, command in commands:
            nursery.start_soon(system.ask, KIND, id, command)


async def test_what_was_acknowledged_is_loaded_again(ledgers: Database) -> None:
    async with open_actors(ledgers, KIND) as system:
        await _ask_all(system, [(id, Deposit("ann", n)) for id in IDS for n in range(1, 9)])
        await system.ask(KIND, "l0", Promote("bob"))
        before = system.peek(KIND, "l0")
        assert (before.total, before.count) == (36, 8)
        counters = system.counters
        assert counters.letters == 30 * 8 + 1
        assert counters.commits < counters.letters
    async with open_actors(ledgers, KIND) as system:
        # From snapshot and journal.
        assert await system.ask(KIND, "l0", Recall(7)) == before.recent[-1]
        assert system.peek(KIND, "l0") == before
        await system.ask(KIND, "l0", Deposit("eve", 1))
        with pytest.raises(NotFound):
            await system.ask(KIND, "none", Deposit("ann", 1))
    await ledgers.transact(_forget_snapshots)
    async with open_actors(ledgers, KIND) as system:
        # From rows.
        await system.ask(KIND, "l0", Deposit("eve", 1))
        assert system.peek(KIND, "l0").total == 38
        assert system.peek(KIND, "l0").bosses == ("bob",)
        assert (await system.ask(KIND, "l0", Recall(0))).amount in range(1, 9)


async def _forget_snapshots(conn: Connection) -> None:
    await conn.execute("DELETE FROM snapshots")


async def test_one_bad_row_fails_its_caller_only(ledgers: Database) -> None:
    async with open_actors(ledgers, KIND) as system:
        failures: list[Exception] = []

        async def ask(amount: int) -> None:
            try:
                await system.ask(KIND, "l1", Deposit("ann", amount))
            except RowsRejected as failure:
                failures.append(failure)

        async with trio.open_nursery() as nursery:
            for amount in range(10, 20):
                nursery.start_soon(ask, amount)
        assert len(failures) == 1
        assert system.peek(KIND, "l1").total == sum(range(10, 20)) - 13


async def test_a_stale_owner_cannot_write(ledgers: Database) -> None:
    async with open_actors(ledgers, KIND) as system:
        await system.ask(KIND, "l2", Deposit("ann", 1))
        # The same node in another life: it takes the leases anew, under other fences.
        await ledgers.transact(take_leases, "n1", ALL_SHARDS)
        with pytest.raises(Fenced):
            await system.ask(KIND, "l2", Deposit("ann", 1))


async def test_missed_events_come_from_the_journal(ledgers: Database) -> None:
    socket = Socket()
    request = WatchRequest(
        sink=socket,
        viewer=Viewer("ann"),
        channel="ledger:l3",
        envelope=JsonEnvelope(),
        mode="delta",
        opened=socket.on_opened,
        since=("e", 2),
    )
    async with open_actors(ledgers, KIND) as system:
        for n in range(6):
            await system.ask(KIND, "l3", Deposit("ann", n))
        await system.watch(KIND, "l3", request)
        await system.ask(KIND, "l3", Deposit("ann", 7))
        assert socket.opened == [("e", 6, True)]
        assert socket.offsets == [3, 4, 5, 6, 7]


def test_events_of_all_sorts_survive_the_journal() -> None:
    for event in (Changed("a", 1), Promoted("b"), WasRead("c", 2)):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=KIND.events) == event
