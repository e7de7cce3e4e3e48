"""The reconciler: what has to be asked is asked until somebody answers, and nothing else is."""

import pytest
import trio

from actors.errors import NotFound, Overloaded
from persistence.errors import DatabaseUnavailable, OutcomeUnknown
from routes import reconciler
from routes.reconciler import Reconciler


class Rows:
    """What is asked; answers with these failures first."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def reconcile(self) -> None:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)


@pytest.mark.parametrize(
    ("failure", "unknown"),
    [(OutcomeUnknown("?"), True), (DatabaseUnavailable("!"), False), (NotFound("!"), False), (None, False)],
)
async def test_only_what_may_have_been_made_is_asked(failure: Exception | None, *, unknown: bool):
    open_, rows = Reconciler(), Rows()
    try:
        with open_.reconcile_if_unknown("one", rows.reconcile):
            if failure is not None:
                raise failure
    except Exception as raised:
        assert raised is failure
    assert len(open_) == int(unknown)
    await open_.reconcile()
    await open_.reconcile()
    assert (rows.asked, len(open_)) == (int(unknown), 0)


async def test_who_is_cut_short_leaves_something_to_ask():
    open_, rows = Reconciler(), Rows()
    with trio.CancelScope() as scope:
        scope.cancel()
        with open_.reconcile_if_unknown("one", rows.reconcile):
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert len(open_) == 1


async def test_it_is_asked_until_there_is_an_answer():
    open_ = Reconciler()
    busy, away, fine = Rows(Overloaded()), Rows(DatabaseUnavailable("!")), Rows()
    for name, rows in (("busy", busy), ("away", away), ("fine", fine)):
        open_.add(name, rows.reconcile)
    with pytest.raises(DatabaseUnavailable):
        await open_.reconcile()
    assert (busy.asked, away.asked, fine.asked, len(open_)) == (1, 1, 0, 3)
    await open_.reconcile()
    assert (busy.asked, away.asked, fine.asked, len(open_)) == (2, 2, 1, 0)


async def test_a_subject_that_comes_while_it_is_asked_is_asked_again():
    open_, later = Reconciler(), Rows()

    async def ask() -> None:
        open_.add("one", later.reconcile)

    open_.add("one", ask)
    await open_.reconcile()
    assert (later.asked, len(open_)) == (0, 1)
    await open_.reconcile()
    assert (later.asked, len(open_)) == (1, 0)


async def test_they_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reconciler, "MAX_OPEN", 2)
    open_, rows = Reconciler(), Rows()
    for name in ("one", "two", "three", "one"):
        open_.add(name, rows.reconcile)
    assert len(open_) == 2
