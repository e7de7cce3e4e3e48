"""Owners that are declared dead while they write: nothing of theirs lands once another has taken their shards.

Two nodes on a real PostgreSQL take everything from each other in turns. Each time the one that is declared dead writes
as if nothing had happened: while its shards are taken, held up in the middle of its transaction, and after it.
`STALE_ROUNDS` and `STALE_SEED` have it happen more often, and otherwise.
"""

import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from random import Random

import pytest
import trio
import trio.lowlevel

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.nodes import members
from persistence.nodes.members import Joined, Said, State
from tests.support.turns import (
    KIND,
    Answers,
    Gate,
    a_planned_turn,
    a_turn,
    make_things,
    open_gate,
    persist_behind_gate,
)
from tests.support.waiting import PATIENCE_SECONDS, wait_until

OWNERS = 50
ROUNDS = int(os.environ.get("STALE_ROUNDS", "20"))
SEED = int(os.environ.get("STALE_SEED", "20261126"))
RACE_SECONDS = 0.006
"""Either side begins so much later than the other, at most."""

AT_ONCE = 10
"""So many owners write, then the next, so that some come before their shard is taken and some after it."""

LONG_SECONDS = 3600.0

SHARDS = range(OWNERS)
SAID = Said(State.UP, (), 0, 0)


class Node:
    """A node: its writer, and the fences under which it believes to own all shards.

    Args:
        name: of its row.
        database: its own connections.
    """

    def __init__(self, name: str, database: Database) -> None:
        self.name = name
        self.database = database
        self.life = 0
        self.fences: dict[int, int] = {}

    async def join(self) -> None:
        """Begin a life."""

        async def unit(conn: Connection) -> object:
            return await members.join(
                conn, self.name, LONG_SECONDS, space="s", key_id="k", release="1.0", now_ms=1
            )

        joined = await self.database.transact(unit)
        assert isinstance(joined, Joined)
        self.life = joined.life

    async def take(self) -> None:
        """Take everything, which whoever owns it has lost by dying."""
        taken = await self.database.transact(members.take, self.name, self.life, SHARDS)
        assert taken is not None
        assert taken.keys() == set(SHARDS)
        self.fences = taken

    async def is_dead(self) -> bool:
        """Whether it finds that others have declared it dead."""
        seen = await self.database.transact(members.renew, self.name, self.life, LONG_SECONDS, SAID)
        return seen is None

    def write(self, answers: Answers, heads: dict[int, tuple[int, int]], note: str, **more: object) -> None:
        """Hand in a turn of each owner.

        Args:
            heads: {shard: (seq, version)}.
            note: what is written, with the fence.
        """
        make = more.pop("make", a_turn)
        for shard, (seq, version) in heads.items():
            fence = self.fences[shard]
            turn = make(  # type: ignore[operator]
                str(shard), f"{note} {fence}", shard=shard, fence=fence, seq=seq, version=version, **more
            )
            answers.submit(self.database, turn)


async def _expire(conn: Connection, node: str) -> None:
    await conn.execute(
        "UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node = $1", node
    )


async def _heads(conn: Connection) -> dict[int, tuple[int, int]]:
    rows = await conn.fetch("SELECT id, seq, version FROM heads WHERE kind = $1", KIND)
    return {int(row["id"]): (row["seq"], row["version"]) for row in rows}


async def _notes(conn: Connection) -> Counter[tuple[int, str]]:
    return Counter((int(row["id"]), row["note"]) for row in await conn.fetch("SELECT id, note FROM things"))


async def _somebody_waits_for_a_lease(conn: Connection) -> bool:
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple'))"
    )
    return found


async def _race(dead: Node, heir: Node, gate: Gate, moment: str, rng: Random) -> tuple[int, int]:
    """Have an heir take what a node owns that goes on writing; returns how much of that landed before, and how much did
    not land.
    """
    heads = await heir.database.read(_heads)
    await heir.database.transact(_expire, dead.name)
    answers = Answers()
    make = rng.choice([a_turn, a_planned_turn])
    if moment == "held":
        await gate.close()
        dead.write(answers, heads, "first", persist=persist_behind_gate)
        await gate.wait_for_arrival()

    async def write() -> None:
        await trio.sleep(rng.uniform(0, RACE_SECONDS))
        order = rng.sample(SHARDS, OWNERS)
        for start in range(0, OWNERS, AT_ONCE):
            dead.write(
                answers, {shard: heads[shard] for shard in order[start : start + AT_ONCE]}, "first", make=make
            )
            await trio.lowlevel.checkpoint()

    async def take() -> None:
        await trio.sleep(rng.uniform(0, RACE_SECONDS))
        await heir.take()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        if moment == "together":
            nursery.start_soon(write)
        elif moment == "held":

            async def waits() -> bool:
                return await heir.database.read(_somebody_waits_for_a_lease)

            await wait_until(waits)
            await gate.open()
    found, present = await heir.database.read(_notes), await heir.database.read(_heads)
    if moment == "after":
        dead.write(answers, heads, "first", make=make)
    await answers.wait_for(OWNERS)
    dead.write(answers, present, "second", make=make)
    fresh = Answers()
    heir.write(fresh, present, "heir")
    await answers.wait_for(2 * OWNERS)
    await fresh.wait_for(OWNERS)

    # What the heir has found is all that there will ever be of the former owner.
    left = await heir.database.read(_notes)
    assert left - found == Counter({(shard, f"heir {heir.fences[shard]}"): 1 for shard in SHARDS})
    assert set(map(tuple, fresh.names().values())) == {("ok",)}
    landed = 0
    for shard in SHARDS:
        first, second = answers.names()[str(shard)]
        assert (first == "ok") is (left[shard, f"first {dead.fences[shard]}"] == 1)
        assert first in {"ok", "Fenced"}
        assert second == "Fenced"
        landed += first == "ok"
    assert await dead.is_dead()
    return landed, 2 * OWNERS - landed


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Node]]:
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two"):
            opened = open_database(database_url, timeout_seconds=PATIENCE_SECONDS)
            made.append(Node(name, await stack.enter_async_context(opened)))
        await made[0].database.transact(make_things, [str(shard) for shard in SHARDS])
        yield made


@pytest.mark.slow
async def test_nothing_of_a_stale_owner_lands(nodes: list[Node], database_url: str) -> None:
    rng = Random(SEED)
    landed = refused = 0
    dead, heir = nodes
    async with open_gate(database_url) as gate:
        await dead.join()
        await dead.take()
        for _ in range(ROUNDS):
            await heir.join()
            moment = rng.choice(["together"] * 4 + ["held", "after"])
            before, stale = await _race(dead, heir, gate, moment, rng)
            landed, refused = landed + before, refused + stale
            dead, heir = heir, dead
    print(
        f"{ROUNDS * OWNERS} stale owners (seed {SEED}): {landed} turns committed before their shard was taken, "
        f"{refused} refused after it, none written"
    )
    assert refused >= ROUNDS * OWNERS
