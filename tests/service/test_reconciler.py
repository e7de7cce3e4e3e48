"""The reconciler: what has to be asked is asked until somebody answers, and nothing else is."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from actors.errors import Overloaded
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable
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
    assert (rows.subjects[2:], len(open_)) == (["busy", "fine", "away"], 0)


async def test_one_that_fails_each_time_holds_up_no_other():
    """Be it a mistake of ours, an actor that cannot be loaded, or rows that cannot be read in time."""
    open_, rows = Reconciler(), Rows()
    for about in ("broken", "slow", "fine"):
        open_.add(about)
    for _ in range(3):
        rows.failures = {"broken": ValueError("!"), "slow": DatabaseUnavailable("!")}
        with pytest.raises((ValueError, DatabaseUnavailable)):
            await open_.reconcile(rows.reconcile)
    assert (rows.subjects, len(open_)) == (["broken", "slow", "fine", "broken"], 2)


async def test_a_subject_whose_actor_fails_hinders_no_other():
    open_, rows = Reconciler(), Rows(broken=Fault())
    for about in ("broken", "fine"):
        open_.add(about)
    await open_.reconcile(rows.reconcile)
    assert (rows.subjects, len(open_)) == (["broken", "fine"], 1)
    await open_.reconcile(rows.reconcile)
    assert (rows.subjects[2:], len(open_)) == (["broken"], 0)


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
