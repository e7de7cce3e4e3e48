"""The group-commit writer: what commits together, what is refused alone, and what a turn is told."""

from collections.abc import Callable, Sequence

import pytest
import trio

from persistence.bridge.database import Database, open_database
from persistence.connection import Connection
from persistence.errors import QueueFull, RowsRejected
from persistence.journal import journal, receipts
from persistence.journal.turn import Turn
from persistence.nodes.leases import take_leases
from tests.support.turns import (
    KIND,
    NODE,
    Answers,
    Gate,
    a_planned_turn,
    a_receipt,
    a_turn,
    commit,
    persist_and_break,
    persist_and_swallow,
    persist_behind_gate,
    read_journal,
    read_notes,
)
from tests.support.waiting import PATIENCE_SECONDS, wait_until

MakeTurn = Callable[..., Turn]

both_ways = pytest.mark.parametrize("turn_of", [a_turn, a_planned_turn], ids=["written", "planned"])
"""Of turns that are written one after the other, and of such as become one statement."""


async def test_a_turn_moves_the_head_and_appends_its_journal_and_rows(things: Database) -> None:
    assert await commit(things, a_turn("a", "one", "two", due_at_ms=5)) == {"a": ["ok"]}
    head = await things.read(journal.read_head, KIND, "a")
    assert head == journal.Head(2, 1, "e", 5, b"a at 2", 6, 1_000)
    assert await things.read(read_journal, "a") == [(1, b"one"), (2, b"two")]
    assert await things.read(read_notes) == [("a", "one"), ("a", "two")]


async def test_the_next_turn_goes_on_where_the_last_ended(things: Database) -> None:
    await commit(things, a_turn("a", "one", "two"))
    assert await commit(things, a_turn("a", "three", seq=2, version=1)) == {"a": ["ok"]}
    assert await things.read(read_journal, "a") == [(1, b"one"), (2, b"two"), (3, b"three")]


async def test_what_waits_during_a_commit_is_one_batch(things: Database, gate: Gate) -> None:
    answers = Answers()
    await gate.close()
    answers.submit(things, a_turn("a", persist=persist_behind_gate))
    await gate.wait_for_arrival()
    for id in "bcdefghijklmnopqrstuvwxyz":
        answers.submit(things, a_turn(id))
    await gate.open()
    await answers.wait_for(26)
    statistics = things.statistics()
    assert (statistics.transactions, statistics.turns, statistics.largest_batch) == (2, 26, 25)
    assert set(map(tuple, answers.names().values())) == {("ok",)}


async def test_turns_of_one_actor_are_never_in_one_batch(things: Database) -> None:
    outcome = await commit(things, *(a_turn("a", f"note {seq}", seq=seq) for seq in range(5)), a_turn("b"))
    assert outcome == {"a": ["ok"] * 5, "b": ["ok"]}
    assert things.statistics().transactions == 5
    assert [seq for seq, _ in await things.read(read_journal, "a")] == [1, 2, 3, 4, 5]


@both_ways
@pytest.mark.parametrize("size", [1, 2, 3, 8, 25])
async def test_one_bad_turn_harms_nobody_else(things: Database, turn_of: MakeTurn, size: int) -> None:
    good = [turn_of(chr(ord("b") + number)) for number in range(size)]
    turns = [*good[: size // 2], turn_of("a", "fine", "bad"), *good[size // 2 :]]
    outcome = await commit(things, *turns)
    assert outcome.pop("a") == ["RowsRejected"]
    assert set(map(tuple, outcome.values())) == {("ok",)}
    assert await things.read(read_journal, "a") == []
    assert len(await things.read(read_notes)) == size


async def test_several_bad_turns_are_all_found(things: Database) -> None:
    outcome = await commit(
        things, a_turn("a", "bad"), a_turn("b"), a_turn("c", "bad"), a_turn("d", "bad"), a_turn("e")
    )
    assert outcome == {
        "a": ["RowsRejected"],
        "b": ["ok"],
        "c": ["RowsRejected"],
        "d": ["RowsRejected"],
        "e": ["ok"],
    }


@pytest.mark.parametrize("persist", [persist_and_break, persist_and_swallow])
async def test_a_mistake_in_persist_harms_only_its_own_turn(things: Database, persist: object) -> None:
    outcome = await commit(things, a_turn("a", persist=persist), a_turn("b"), a_turn("c"))  # type: ignore[arg-type]
    assert outcome == {"a": ["RowsRejected"], "b": ["ok"], "c": ["ok"]}
    assert await things.read(read_notes) == [("b", "note"), ("c", "note")]


@both_ways
async def test_a_value_that_postgresql_cannot_take_harms_only_its_own_turn(
    things: Database, turn_of: MakeTurn
) -> None:
    outcome = await commit(things, turn_of("a", "nul \0"), turn_of("b"), turn_of("c", due_at_ms=1 << 80))
    assert outcome == {"a": ["RowsRejected"], "b": ["ok"], "c": ["RowsRejected"]}


@both_ways
async def test_a_moved_head_fails_alone(things: Database, turn_of: MakeTurn) -> None:
    outcome = await commit(things, turn_of("a", seq=3), turn_of("b"), turn_of("unknown"))
    assert outcome == {"a": ["HeadMoved"], "b": ["ok"], "unknown": ["HeadMoved"]}
    assert await things.read(read_notes) == [("b", "note")]
    assert await things.read(read_journal, "a") == []


async def test_a_turn_without_journal_leaves_the_head_where_it_is(things: Database) -> None:
    turn = Turn(KIND, "a", 0, 1, 0, 0, 7, ("quiet",), (), 9, b"s", a_turn().persist)
    assert await commit(things, turn) == {"a": ["ok"]}
    assert await things.read(journal.read_head, KIND, "a") == journal.Head(0, 1, "e", 9, b"s", 0, 7)
    assert await things.read(read_notes) == [("a", "quiet")]


@both_ways
@pytest.mark.parametrize(("shard", "fence"), [(0, 0), (0, 2), (1, 1)])
async def test_another_fence_fails_alone(things: Database, turn_of: MakeTurn, shard: int, fence: int) -> None:
    outcome = await commit(things, turn_of("a", shard=shard, fence=fence), turn_of("b"))
    assert outcome == {"a": ["Fenced"], "b": ["ok"]}
    assert await things.read(journal.read_head, KIND, "a") == journal.Head(0, 0, "e", None, b"", 0, 1)


@both_ways
async def test_a_stale_write_is_refused_while_the_lease_is_being_taken_over(
    things: Database, turn_of: MakeTurn, database_url: str, gate: Gate
) -> None:
    """The takeover is in progress, and not yet visible, when the stale turn comes: it waits, then fails."""
    await gate.close()
    async with (
        open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as other,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(other.transact, take_over_behind_gate)
        await gate.wait_for_arrival()
        answers = Answers()
        answers.submit(things, turn_of("a", fence=1))
        await wait_until_somebody_waits_for_a_row(things)
        assert answers.names() == {}
        await gate.open()
        await answers.wait_for(1)
    assert answers.names() == {"a": ["Fenced"]}
    assert await things.read(read_notes) == []
    assert await commit(things, turn_of("a", fence=2)) == {"a": ["ok"]}


async def test_a_takeover_waits_for_the_commit_in_flight(
    things: Database, database_url: str, gate: Gate
) -> None:
    """What the old owner committed before it lost the lease is there when the new one looks."""
    await gate.close()
    answers = Answers()
    answers.submit(things, a_turn("a", persist=persist_behind_gate))
    await gate.wait_for_arrival()
    seen: list[journal.Head | None] = []

    async def take_over_and_look() -> None:
        assert await other.read(take_leases, NODE, [0]) == {0: 2}
        seen.append(await other.read(journal.read_head, KIND, "a"))

    async with (
        open_database(database_url, timeout_seconds=PATIENCE_SECONDS) as other,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(take_over_and_look)
        await wait_until_somebody_waits_for_a_row(other)
        await gate.open()
    await answers.wait_for(1)
    assert answers.names() == {"a": ["ok"]}
    assert seen[0] is not None
    assert seen[0].seq == 1


@both_ways
async def test_receipts_commit_with_their_turn(things: Database, turn_of: MakeTurn) -> None:
    receipt = a_receipt(reply=b'{"id":1}', etag=b'"1"')
    assert await commit(things, turn_of("a", receipts=(receipt,)), turn_of("b")) == {"a": ["ok"], "b": ["ok"]}
    assert await things.read(receipts.find, receipt.key, 9_999) == receipt


async def test_a_refused_turn_leaves_no_receipt(things: Database) -> None:
    receipt = a_receipt()
    assert await commit(things, a_turn("a", seq=1, receipts=(receipt,))) == {"a": ["HeadMoved"]}
    assert await things.read(receipts.find, receipt.key, 0) is None


@both_ways
async def test_a_key_that_has_a_receipt_takes_no_second_effect(things: Database, turn_of: MakeTurn) -> None:
    receipt = a_receipt()
    await commit(things, turn_of("a", receipts=(receipt,)))
    outcome = await commit(things, turn_of("b", receipts=(receipt,)), turn_of("c"))
    assert outcome == {"b": ["RowsRejected"], "c": ["ok"]}


async def test_the_same_key_twice_in_a_batch_takes_effect_once(things: Database) -> None:
    outcome = await commit(things, a_turn("a", receipts=(a_receipt(),)), a_turn("b", receipts=(a_receipt(),)))
    assert sorted(outcome.values()) == [["RowsRejected"], ["ok"]]
    assert len(await things.read(read_notes)) == 1


async def test_an_expired_receipt_is_replaced(things: Database) -> None:
    await commit(things, a_turn("a", receipts=(a_receipt(expires_at_ms=2_000),)))
    newer = a_receipt(reply=b"newer", expires_at_ms=9_000)
    assert await commit(things, a_turn("b", receipts=(newer,), at_ms=2_000)) == {"b": ["ok"]}
    assert await things.read(receipts.find, newer.key, 3_000) == newer


async def test_persist_is_called_once_with_all_turns_of_the_batch(things: Database) -> None:
    calls: list[list[str]] = []

    async def note_call(_conn: Connection, turns: Sequence[Turn]) -> None:
        calls.append([turn.id for turn in turns])

    await commit(things, *(a_turn(id, persist=note_call, seq=0 if id != "b" else 4) for id in "abc"))
    assert calls == [["a", "c"]]


async def test_the_queue_has_a_bound(database_url: str, things: Database, gate: Gate) -> None:
    await gate.close()
    answers = Answers()
    async with open_database(database_url, queue_limit=2) as small:
        answers.submit(small, a_turn("a", persist=persist_behind_gate))
        await gate.wait_for_arrival()
        answers.submit(small, a_turn("b"))
        answers.submit(small, a_turn("c"))
        with pytest.raises(QueueFull):
            answers.submit(small, a_turn("d"))
        await gate.open()
        await answers.wait_for(3)
        assert await commit(small, a_turn("d")) == {"d": ["ok"]}
    assert answers.names() == {"a": ["ok"], "b": ["ok"], "c": ["ok"]}


async def test_closing_waits_for_what_was_submitted(database_url: str, things: Database) -> None:
    answers = Answers()
    async with open_database(database_url) as closing:
        for id in "abc":
            answers.submit(closing, a_turn(id))
    assert answers.names() == {"a": ["ok"], "b": ["ok"], "c": ["ok"]}


async def test_a_turn_after_the_end_is_answered_too(database_url: str, things: Database) -> None:
    async with open_database(database_url) as closed:
        pass
    assert await commit(closed, a_turn("a")) == {"a": ["DatabaseUnavailable"]}


async def test_the_cause_of_a_rejection_is_kept(things: Database) -> None:
    answers = Answers()
    answers.submit(things, a_turn("a", "bad"))
    await answers.wait_for(1)
    (error,) = answers.by_id["a"]
    assert isinstance(error, RowsRejected)
    assert getattr(error.__cause__, "constraint_name", None) == "things_note_check"


async def take_over_behind_gate(conn: Connection) -> None:
    assert await take_leases(conn, NODE, [0]) == {0: 2}
    await conn.execute("SELECT pg_advisory_xact_lock_shared(77)")


async def wait_until_somebody_waits_for_a_row(database: Database) -> None:
    async def somebody_waits() -> bool:
        return await database.read(_row_is_waited_for)

    await wait_until(somebody_waits)


async def _row_is_waited_for(conn: Connection) -> bool:
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple'))"
    )
    return found
