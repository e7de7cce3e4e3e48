"""Asking an owner: turns, their outcomes, and what callers are told."""

import dataclasses
from functools import partial

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.errors import Conflict, NotFound, Overloaded
from actors.kernel.mailbox import Answer
from actors.kernel.supervisor import Fault
from persistence.errors import (
    DatabaseUnavailable,
    Fenced,
    OutcomeUnknown,
    QueueFull,
    RowsRejected,
)
from persistence.journal.turn import Receipt
from tests.kernel.conftest import Stage, open_stage
from tests.kernel.ledger import (
    KIND,
    Deposit,
    Entry,
    Explode,
    Ledger,
    Promote,
    Read,
    Recall,
    Wave,
    Withdraw,
)
from tests.support.simulation import Simulation


async def test_an_answer_comes_after_the_commit(autojump_clock: MockClock, stage: Stage) -> None:
    assert await stage.ask(Deposit("ann", 5)) == 5
    assert stage.simulation.rows["ledger", "a"].total == 5
    assert stage.simulation.heads["ledger", "a"].seq == 1
    assert stage.system.peek(KIND, "a").total == 5
    assert stage.system.peek(KIND, "b") is None


async def test_what_waits_together_commits_together(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    answers = await stage.ask_all(*[Deposit("ann", 1)] * 64)
    assert sorted(answers) == list(range(2, 66))
    assert stage.system.counters.commits == 2


async def test_a_refusal_changes_nothing(autojump_clock: MockClock, stage: Stage) -> None:
    answers = await stage.ask_all(Deposit("ann", 3), Withdraw("bob", 9), Withdraw("bob", 3))
    assert answers[0] == 3
    assert isinstance(answers[1], Conflict)
    assert answers[1].meta == {"total": 3}
    assert answers[2] == 0


@pytest.mark.parametrize("where", ["decide", "apply", "answer"])
async def test_a_fault_is_its_callers_alone(
    autojump_clock: MockClock, stage: Stage, log: list[dict[str, object]], where: str
) -> None:
    answers = await stage.ask_all(Deposit("ann", 1), Explode(where), Deposit("ann", 1))
    assert answers[0] == 1
    assert isinstance(answers[1], Fault)
    assert answers[2] == 2
    assert stage.system.statistics()[0].restarts == 0
    assert [(entry["event"], entry["kind"], entry["id"]) for entry in log] == [
        ("kernel_fault", "ledger", "a")
    ]


async def test_no_such_owner(autojump_clock: MockClock, stage: Stage) -> None:
    with pytest.raises(NotFound):
        await stage.ask(Deposit("ann", 1), id="none")
    assert stage.system.statistics() == []


async def test_a_missing_entry_is_fetched_inside_the_turn(autojump_clock: MockClock, stage: Stage) -> None:
    for amount in range(1, 11):
        await stage.ask(Deposit("ann", amount))
    assert await stage.ask(Recall(1)) == Entry("ann", 2)
    assert await stage.ask(Recall(9)) == Entry("ann", 10)
    assert stage.simulation.reads.count("fetch") == 1


async def test_a_fetch_that_fails_fails_its_letter_only(autojump_clock: MockClock, stage: Stage) -> None:
    for amount in range(1, 11):
        await stage.ask(Deposit("ann", amount))
    stage.simulation.away = True
    with pytest.raises(DatabaseUnavailable):
        await stage.ask(Recall(1))
    assert await stage.ask(Wave("ann")) == 55


async def test_what_is_not_durable_never_meets_the_writer(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Wave("ann"))
    assert stage.system.counters.commits == 0
    await stage.ask(Read("ann"))
    assert stage.system.counters.commits == 1
    assert stage.simulation.heads["ledger", "a"].seq == 0


async def test_a_receipt_commits_even_without_events(autojump_clock: MockClock, stage: Stage) -> None:
    def receipt(reply: object) -> Receipt:
        return Receipt(b"k", b"f", 200, str(reply).encode(), 99)

    await stage.ask(Deposit("ann", 5))
    await stage.ask(Recall(0), receipt=receipt)
    assert stage.simulation.receipts[b"k"].reply == str(Entry("ann", 5)).encode()


async def test_definite_failures_change_nothing_and_stop_nobody(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append("fails")
    with pytest.raises(DatabaseUnavailable):
        await stage.ask(Deposit("ann", 1))
    stage.simulation.full = True
    with pytest.raises(QueueFull):
        await stage.ask(Deposit("ann", 1))
    stage.simulation.full = False
    assert await stage.ask(Deposit("ann", 1)) == 2
    assert stage.system.statistics()[0].restarts == 0


async def test_only_the_culprit_of_a_rejected_turn_fails(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 0))
    answers = await stage.ask_all(
        Deposit("ann", 1), Deposit("bob", 13), Withdraw("ann", 50), Deposit("ann", 2)
    )
    assert (answers[0], answers[3]) == (1, 3)
    assert isinstance(answers[1], RowsRejected)
    assert isinstance(answers[2], Conflict)


@pytest.mark.parametrize(
    ("fate", "error", "total"),
    [("unknown_landed", OutcomeUnknown, 3), ("unknown_lost", OutcomeUnknown, 2), ("fenced", Fenced, 2)],
)
async def test_a_lost_outcome_is_read_again(
    stage: Stage, fate: object, error: type[Exception], total: int
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append(fate)  # type: ignore[arg-type]
    with pytest.raises(error):
        await stage.ask(Deposit("ann", 1))
    assert stage.system.peek(KIND, "a") is None
    assert await stage.ask(Deposit("ann", 1)) == total


async def test_a_full_mailbox_refuses_at_once(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    told: list[Answer] = []
    for _ in range(256):
        stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
    assert told == []
    stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
    assert isinstance(told[0].error, Overloaded)
    assert stage.system.tell(KIND, "a", Wave("ann"))
    assert stage.system.tell(KIND, "a", Wave("ann"))
    assert stage.system.statistics()[0].mailbox == 257
    await trio.sleep(1)
    assert [answer.reply for answer in told[1:]] == list(range(2, 258))


async def test_telling_wakes_nobody(autojump_clock: MockClock, stage: Stage) -> None:
    assert not stage.system.tell(KIND, "a", Wave("ann"))
    assert stage.system.statistics() == []


async def test_callers_are_told_before_their_time_is_up(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.delay_seconds = (7, 7)
    started = trio.current_time()
    answers = await stage.ask_all(Deposit("ann", 1), Deposit("ann", 1))
    assert [type(answer) for answer in answers] == [OutcomeUnknown, OutcomeUnknown]
    assert 4.5 <= trio.current_time() - started <= 5
    assert stage.system.counters.overdue == 2
    # The turn goes on without its callers.
    await trio.sleep(3)
    assert stage.system.peek(KIND, "a").total == 3


async def test_a_letter_whose_time_passed_in_the_mailbox_is_not_decided(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.delay_seconds = (7, 7)
    told: list[Answer] = []
    stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
    await trio.testing.wait_all_tasks_blocked()
    stage.system.post(KIND, "a", Deposit("ann", 100), told.append)
    await trio.sleep(6)
    assert isinstance(told[0].error, OutcomeUnknown)
    assert isinstance(told[1].error, Overloaded)
    await trio.sleep(10)
    assert stage.system.peek(KIND, "a").total == 2


async def test_a_turn_dated_ahead_is_in_time_for_its_callers(autojump_clock: MockClock, stage: Stage) -> None:
    """The node of the turn before had a clock so far ahead that this one's turns are dated later than it is here."""
    head = stage.simulation.heads["ledger", "a"]
    ahead_ms = stage.clock.now_ms() + 8_000
    stage.simulation.heads["ledger", "a"] = dataclasses.replace(head, updated_at_ms=ahead_ms)
    assert await stage.ask(Deposit("ann", 1)) == 1
    assert stage.simulation.heads["ledger", "a"].updated_at_ms == ahead_ms


async def test_a_caller_that_leaves_early_is_not_decided(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.delay_seconds = (1, 1)
    told: list[Answer] = []
    stage.system.post(KIND, "a", Deposit("ann", 1), told.append)
    await trio.testing.wait_all_tasks_blocked()
    with trio.move_on_after(0.1):
        await stage.ask(Deposit("ann", 100))
    await trio.sleep(5)
    assert stage.system.peek(KIND, "a").total == 2


async def test_a_turn_goes_on_without_its_caller(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.delay_seconds = (1, 1)
    with trio.move_on_after(0.1):
        await stage.ask(Deposit("ann", 1))
    await trio.sleep(5)
    assert stage.system.peek(KIND, "a").total == 2


async def test_a_caller_whose_answer_raises_harms_nobody(autojump_clock: MockClock, stage: Stage) -> None:
    def broken(answer: Answer) -> None:
        raise ZeroDivisionError

    stage.system.post(KIND, "a", Deposit("ann", 1), broken)
    assert await stage.ask(Deposit("ann", 1)) == 2


async def test_rows_that_were_refused_are_tried_again_in_doubt(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    """Only once in a life: after that the rules look closer anyway."""
    doubts: list[Ledger] = []

    def distrust(state: Ledger) -> Ledger:
        if state.rang:
            return state
        doubts.append(state)
        return replace(state, rang=1)

    kind = dataclasses.replace(KIND, lookups=dataclasses.replace(KIND.lookups, distrust=distrust))
    async with open_stage(simulation) as stage:
        ask = partial(stage.system.ask, kind, "a")
        await ask(Deposit("ann", 1))
        before = len(simulation.batches)
        for _ in range(2):
            with pytest.raises(RowsRejected):
                await ask(Deposit("ann", 13))
        assert len(doubts) == 1
        assert len(simulation.batches) - before == 3
        assert await ask(Deposit("ann", 1)) == 2
        assert stage.system.peek(kind, "a").rang == 1


async def test_never_ask_inside_a_turn(autojump_clock: MockClock, stage: Stage) -> None:
    told: list[Exception] = []

    class Nosy:
        """A sink-like caller that asks from the actor's own task."""

        def __call__(self, answer: Answer) -> None:
            coroutine = stage.ask(Deposit("ann", 1))
            try:
                coroutine.send(None)
            except RuntimeError as error:
                told.append(error)

    stage.system.post(KIND, "a", Promote("ann"), Nosy())
    await stage.ask(Deposit("ann", 1))
    assert "inside a turn" in str(told[0])
