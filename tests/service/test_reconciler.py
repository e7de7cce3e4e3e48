"""The reconciler: what has to be asked is asked until somebody answers, and nothing else is."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest
import trio
from trio.testing import MockClock

from actors.errors import NotFound, Overloaded
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, HeadMoved, RowsRejected
from routes import reconciler
from routes.reconciler import Reconciler


class Rows:
    """What is asked; fails for a subject with these failures first."""

    def __init__(self, **failures: Exception) -> None:
        self.failures = failures
        self.asked: list[tuple[object, Sequence[object]]] = []

    async def reconcile(self, about: object, events: Sequence[object]) -> None:
        self.asked.append((about, events))
        if about in self.failures:
            raise self.failures.pop(str(about))

    @property
    def subjects(self) -> list[object]:
        return [about for about, _ in self.asked]


async def test_it_is_asked_until_there_is_an_answer():
    open_, rows = Reconciler(), Rows(busy=Overloaded(), away=DatabaseUnavailable("!"))
    for about in ("busy", "away", "fine"):
        open_.add(about)
    with pytest.raises(DatabaseUnavailable):
        await open_.reconcile(rows.reconcile)
    assert (rows.subjects, len(open_)) == (["busy", "away"], 3)
    await open_.reconcile(rows.reconcile)
    # What could not be read in time holds up the others once.
    assert (rows.subjects[2:], len(open_)) == (["busy", "fine", "away"], 0)


@pytest.mark.parametrize(
    "failure",
    [
        Fault(),
        NotFound(),
        RowsRejected("!"),
        HeadMoved("!"),
        KeyError("!"),
        ExceptionGroup("!", [KeyError()]),
    ],
)
async def test_a_subject_that_fails_hinders_no_other(failure: Exception):
    open_, rows = Reconciler(), Rows(broken=failure)
    for about in ("broken", "fine"):
        open_.add(about)
    await open_.reconcile(rows.reconcile)
    assert (rows.subjects, len(open_)) == (["broken", "fine"], 1)
    await open_.reconcile(rows.reconcile)
    assert (rows.subjects[2:], len(open_)) == (["broken"], 0)


async def test_a_subject_that_always_fails_is_asked_about_more_rarely(autojump_clock: MockClock):
    open_, asked_at = Reconciler(), list[float]()

    async def ask(_about: object, _events: object) -> None:
        asked_at.append(trio.current_time())
        raise KeyError("!")

    open_.add("broken")
    for _ in range(300):
        await open_.reconcile(ask)
        await trio.sleep(1)
    pauses = [round(later - at) for at, later in pairwise(asked_at)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    # A new change of it is no reason to wait.
    open_.add("broken")
    await open_.reconcile(ask)
    assert len(asked_at) == len(pauses) + 2


class Tokens(NamedTuple):
    user_id: str


class Erasure(NamedTuple):
    user_id: str


async def test_subjects_of_two_kinds_are_two():
    open_, rows = Reconciler(), Rows()
    open_.add(Tokens("ann"))
    open_.add(Erasure("ann"))
    open_.add(Tokens("ann"))
    assert len(open_) == 2
    await open_.reconcile(rows.reconcile)
    assert [type(about) for about in rows.subjects] == [Tokens, Erasure]
    assert len(open_) == 0


async def test_a_subject_that_comes_while_it_is_asked_is_asked_again():
    open_, later = Reconciler(), Rows()

    async def ask(about: object, _events: object) -> None:
        open_.add(str(about))

    open_.add("one")
    await open_.reconcile(ask)
    assert len(open_) == 1
    await open_.reconcile(later.reconcile)
    assert (later.subjects, len(open_)) == (["one"], 0)


async def test_the_events_of_all_changes_of_a_subject_are_known():
    """A unit that was still running when its caller gave up says only later what happens."""
    open_, rows, running = Reconciler(), Rows(), list[object]()
    open_.add("one", ["first"])
    open_.add("one", running)
    running.append("second")
    await open_.reconcile(rows.reconcile)
    assert rows.asked == [("one", ["first", "second"])]


async def test_they_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reconciler, "MAX_OPEN", 2)
    monkeypatch.setattr(reconciler, "MAX_CHANGES", 2)
    open_, rows = Reconciler(), Rows()
    for about in ("one", "two", "three", "one", "one"):
        open_.add(about, [about])
    assert len(open_) == 2
    await open_.reconcile(rows.reconcile)
    assert rows.asked == [("one", ["one", "one"]), ("two", ["two"])]
