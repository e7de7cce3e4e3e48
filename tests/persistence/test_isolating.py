"""What a refused turn costs the others of its batch: counted in transactions, and in turns that are written again."""

from collections.abc import AsyncIterator, Sequence

import pytest
from structlog.testing import capture_logs

from persistence.bridge.database import Database
from persistence.bridge.suspects import COUNTED_SECONDS, MAX_SUSPECTS, SUSPECT_SECONDS, Refusals, Suspects
from persistence.connection import Connection
from persistence.errors import ReferenceGone, RowsRejected
from persistence.journal.turn import Turn
from tests.support.turns import (
    Answers,
    a_turn,
    make_things,
    open_gate,
    persist_behind_gate,
    persist_things,
    read_notes,
)

COUNT = 100
IDS = [f"t{number}" for number in range(COUNT)]


class Persists:
    """A `persist` that notes how many turns it was given each time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def __call__(self, conn: Connection, turns: Sequence[Turn]) -> None:
        self.sizes.append(len(turns))
        await persist_things(conn, turns)


@pytest.fixture
async def things(database: Database) -> AsyncIterator[Database]:
    await database.transact(make_things, ["gate", *IDS])
    yield database


class Batches:
    """Commits turns that surely wait together."""

    def __init__(self, things: Database, url: str) -> None:
        self._things = things
        self._url = url
        self._seq = 0

    async def commit(self, turns: Sequence[Turn]) -> dict[str, list[str]]:
        answers = Answers()
        async with open_gate(self._url) as gate:
            await gate.close()
            answers.submit(self._things, a_turn("gate", seq=self._seq, persist=persist_behind_gate))
            self._seq += 1
            await gate.wait_for_arrival()
            for turn in turns:
                answers.submit(self._things, turn)
            await gate.open()
            await answers.wait_for(len(turns) + 1)
        names = answers.names()
        assert names.pop("gate") == ["ok"]
        return names


@pytest.fixture
def batches(things: Database, database_url: str) -> Batches:
    return Batches(things, database_url)


@pytest.mark.parametrize("bad", [{37}, {0}, {99}, {5, 6, 50}, set(range(0, COUNT, 10)), set(range(COUNT))])
async def test_no_batch_is_written_many_times_over_for_refused_turns(
    things: Database, batches: Batches, bad: set[int]
) -> None:
    persist = Persists()
    turns = [a_turn(id, "bad" if n in bad else "good", persist=persist) for n, id in enumerate(IDS)]
    outcomes = await batches.commit(turns)
    assert outcomes == {id: ["RowsRejected"] if n in bad else ["ok"] for n, id in enumerate(IDS)}
    assert len([note for id, note in await things.read(read_notes) if id != "gate"]) == COUNT - len(bad)
    # The gate's transaction, and one for all of these: whole, in groups of ten, and in what was refused of them.
    assert things.statistics().transactions == 2
    assert sum(persist.sizes) <= 3 * COUNT
    assert len(persist.sizes) <= 1 + 10 + 10 * len({n // 10 for n in bad})


async def test_who_is_refused_again_and_again_costs_nobody_else_anything(
    things: Database, batches: Batches
) -> None:
    culprit, innocent = Persists(), Persists()
    await batches.commit([a_turn(id, "bad" if id == "t0" else "good", persist=innocent) for id in IDS])
    for round in range(1, 4):
        innocent.sizes.clear()
        culprit.sizes.clear()
        turns = [a_turn(id, seq=round, persist=innocent) for id in IDS[1:]]
        turns.insert(50, a_turn("t0", "bad", persist=culprit))
        outcomes = await batches.commit(turns)
        assert outcomes.pop("t0") == ["RowsRejected"]
        assert set(map(tuple, outcomes.values())) == {("ok",)}
        assert innocent.sizes == [COUNT - 1]
        assert culprit.sizes == [1]


async def test_turns_that_are_kept_apart_keep_their_order(things: Database, batches: Batches) -> None:
    await batches.commit([a_turn("t0", "bad"), a_turn("t1", "bad"), a_turn("t2")])
    turns = [
        a_turn("t2", seq=1),
        a_turn("t0", seq=0),
        a_turn("t3", seq=0),
        a_turn("t0", seq=1),
        a_turn("t2", seq=2),
        a_turn("t1", seq=0),
        a_turn("t3", seq=1),
    ]
    assert await batches.commit(turns) == {
        "t0": ["ok", "ok"],
        "t1": ["ok"],
        "t2": ["ok", "ok"],
        "t3": ["ok", "ok"],
    }


def test_suspects_are_forgiven_and_are_never_too_many() -> None:
    now = 0.0
    suspects = Suspects(lambda: now)
    suspects.add(a_turn("a"))
    now = SUSPECT_SECONDS / 2
    suspects.add(a_turn("b"))
    now = SUSPECT_SECONDS
    suspects.forgive()
    assert a_turn("a") not in suspects
    assert a_turn("b") in suspects
    for number in range(MAX_SUSPECTS):
        suspects.add(a_turn(str(number)))
    assert len(suspects) == MAX_SUSPECTS
    assert a_turn("b") not in suspects


async def test_who_is_refused_again_and_again_does_not_fill_the_log(
    things: Database, batches: Batches
) -> None:
    with capture_logs() as lines:
        for _ in range(5):
            await batches.commit([a_turn("t0", "bad"), a_turn("t1", "bad")])
    told = [(line["id"], line["times"]) for line in lines if line["event"] == "a turn was rejected"]
    assert sorted(told) == [("t0", 1), ("t0", 2), ("t0", 4), ("t1", 1), ("t1", 2), ("t1", 4)]


def test_refusals_are_told_anew_after_an_hour() -> None:
    now = 0.0
    refusals = Refusals(lambda: now)
    with capture_logs() as lines:
        for _ in range(3):
            refusals.tell(a_turn("a"), RowsRejected("!"))
        now = COUNTED_SECONDS
        refusals.tell(a_turn("a"), RowsRejected("!"))
    assert [line["times"] for line in lines] == [1, 2, 1]


def test_who_was_erased_meanwhile_is_no_fault_unless_it_is_always_so() -> None:
    refusals = Refusals(lambda: 0.0)
    with capture_logs() as lines:
        for _ in range(4):
            refusals.tell(a_turn("a"), ReferenceGone("!"))
    assert [(line["log_level"], line["times"]) for line in lines] == [
        ("info", 1),
        ("info", 2),
        ("warning", 4),
    ]
    assert lines[0]["event"] == "what a turn refers to was deleted meanwhile"
