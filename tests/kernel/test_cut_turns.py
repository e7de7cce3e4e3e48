"""A turn ends before a letter that needs rows which the turn has changed, and once its letters have taken long; what
becomes of the letters behind."""

from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.errors import Overloaded
from actors.kernel.mailbox import Answer
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, Deposit, Entry, Recall, Wave, Withdraw, slow_kind
from tests.support.actors import ask_at_once

OLD = Recall(0)


# Each test names the clock itself: pytest-trio does not see it among what a fixture asks for.
@pytest.fixture
async def stage_with_old(autojump_clock: MockClock, stage: Stage) -> Stage:
    """Seven entries, two of them in rows alone."""
    for amount in range(7):
        await stage.ask(Deposit("ann", amount))
    return stage


async def test_what_is_carried_over_keeps_its_place(autojump_clock: MockClock, stage_with_old: Stage) -> None:
    stage, counters = stage_with_old, stage_with_old.system.counters
    before = counters.commits
    answers = await stage.ask_all(Deposit("ann", 1), OLD, Deposit("ann", 2), Recall(1), Withdraw("ann", 24))
    assert answers == [22, Entry("ann", 0), 24, Entry("ann", 1), 0]
    assert (counters.commits - before, counters.cuts) == (3, 2)


async def test_what_comes_meanwhile_goes_behind_what_is_carried_over(
    autojump_clock: MockClock, stage_with_old: Stage
) -> None:
    stage, told = stage_with_old, []

    def late(_: Answer) -> None:
        stage.system.post(KIND, "a", Deposit("ann", 100), lambda answer: told.append(answer.reply))

    stage.system.post(KIND, "a", Deposit("ann", 1), late)
    stage.system.post(KIND, "a", OLD, lambda answer: told.append(answer.reply))
    stage.system.post(KIND, "a", Withdraw("ann", 22), lambda answer: told.append(answer.reply))
    await trio.sleep(1)
    assert told == [Entry("ann", 0), 0, 100]


async def test_letters_that_need_nothing_that_was_changed_share_a_turn(
    autojump_clock: MockClock, stage_with_old: Stage
) -> None:
    stage, counters = stage_with_old, stage_with_old.system.counters
    before = counters.turns
    answers = await stage.ask_all(
        OLD, Wave("ann"), Recall(1), Deposit("ann", 1), Deposit("ann", 2), Wave("ann")
    )
    assert answers == [Entry("ann", 0), 21, Entry("ann", 1), 22, 24, 24]
    assert (counters.turns - before, counters.cuts) == (1, 0)


@pytest.mark.parametrize(
    ("fate", "first", "others"),
    [
        ("fails", DatabaseUnavailable, Entry),
        ("unknown_landed", OutcomeUnknown, DatabaseUnavailable),
        ("unknown_lost", OutcomeUnknown, DatabaseUnavailable),
        ("fenced", PersistenceError, PersistenceError),
    ],
)
async def test_everybody_is_answered_when_the_turn_in_front_fails(
    autojump_clock: MockClock, stage_with_old: Stage, fate: Any, first: type, others: type
) -> None:
    stage_with_old.simulation.script.append(fate)
    answers = await stage_with_old.ask_all(Deposit("ann", 1), OLD, Recall(1))
    assert isinstance(answers[0], first)
    # Nothing was decided on those behind, so that nobody is told that it may have been.
    assert all(
        isinstance(answer, others) and not isinstance(answer, OutcomeUnknown) for answer in answers[1:]
    )


async def test_a_caller_who_leaves_is_passed_over(autojump_clock: MockClock, stage_with_old: Stage) -> None:
    stage, told = stage_with_old, []
    async with trio.open_nursery() as nursery:
        leaving = trio.CancelScope()

        async def leave() -> None:
            with leaving:
                await stage.ask(Deposit("bob", 50))

        stage.system.post(KIND, "a", Deposit("ann", 1), lambda _: leaving.cancel())
        stage.system.post(KIND, "a", OLD, lambda answer: told.append(answer.reply))
        nursery.start_soon(leave)
    await trio.sleep(1)
    assert told == [Entry("ann", 0)]
    assert stage.system.peek(KIND, "a").total == 22


async def test_a_deadline_that_passes_while_a_letter_is_carried_over_refuses_it(
    autojump_clock: MockClock,
    stage_with_old: Stage,
) -> None:
    stage = stage_with_old
    stage.simulation.delay_seconds = (6.0, 6.0)
    answers = await stage.ask_all(Deposit("ann", 1), OLD)
    assert isinstance(answers[0], OutcomeUnknown)
    assert isinstance(answers[1], Overloaded)


async def test_only_the_culprit_fails_when_what_was_cut_off_is_rejected(
    autojump_clock: MockClock, stage_with_old: Stage
) -> None:
    answers = await stage_with_old.ask_all(Deposit("ann", 1), Deposit("ann", 13), OLD, Deposit("ann", 2))
    assert [type(answer).__name__ for answer in answers] == ["int", "RowsRejected", "Entry", "int"]
    assert stage_with_old.system.peek(KIND, "a").total == 24


async def test_no_actor_retires_with_a_letter_that_is_carried_over(
    autojump_clock: MockClock, stage_with_old: Stage
) -> None:
    stage = stage_with_old
    told: dict[int, Answer] = {}
    for place, command in enumerate([Deposit("ann", 1), OLD, Deposit("ann", 2), Recall(1)]):
        stage.system.post(KIND, "a", command, partial(told.__setitem__, place))
    await stage.system.drain()
    assert [told[place].reply for place in range(4)] == [22, Entry("ann", 0), 24, Entry("ann", 1)]


async def test_nothing_that_was_read_is_seen_by_the_next_letter(
    autojump_clock: MockClock, stage_with_old: Stage
) -> None:
    await stage_with_old.ask(OLD)
    assert stage_with_old.system.peek(KIND, "a").recalled is None


async def test_a_turn_ends_once_its_letters_have_taken_long(autojump_clock: MockClock, stage: Stage) -> None:
    """Each letter is decided in 4 ms, so that the fourth finds 12 ms gone. What is refused takes as long."""
    counters = stage.system.counters
    commands = (Deposit("ann", 1), Withdraw("ann", 99), *(Deposit("ann", 1) for _ in range(5)))
    answers = await ask_at_once(stage.system, slow_kind(autojump_clock, 0.004), "a", commands)
    assert [type(answer.error or answer.reply).__name__ for answer in answers] == [
        "int",
        "Conflict",
        *["int"] * 5,
    ]
    assert stage.system.peek(KIND, "a").total == 6
    assert (counters.turns, counters.commits, counters.cuts) == (3, 3, 2)


async def test_a_letter_that_takes_longest_has_a_turn_of_its_own(
    autojump_clock: MockClock, stage: Stage
) -> None:
    counters = stage.system.counters
    answers = await ask_at_once(
        stage.system, slow_kind(autojump_clock, 1), "a", [Deposit("ann", 1) for _ in range(3)]
    )
    assert [answer.reply for answer in answers] == [1, 2, 3]
    assert (counters.turns, counters.cuts) == (3, 2)
