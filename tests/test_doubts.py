"""Doubts: what has to be asked is asked until somebody answers, and nothing else is."""

import pytest
import trio

from actors.errors import NotFound, Overloaded
from persistence.errors import DatabaseUnavailable, OutcomeUnknown
from routes import doubts
from routes.doubts import Doubts


class Rows:
    """What is asked; answers with these failures first."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def settle(self) -> None:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)


@pytest.mark.parametrize(
    ("failure", "unknown"),
    [(OutcomeUnknown("?"), True), (DatabaseUnavailable("!"), False), (NotFound("!"), False), (None, False)],
)
async def test_only_what_may_have_been_made_is_asked(failure: Exception | None, *, unknown: bool):
    open_, rows = Doubts(), Rows()
    try:
        with open_.unless_known("one", rows.settle):
            if failure is not None:
                raise failure
    except Exception as raised:
        assert raised is failure
    assert len(open_) == int(unknown)
    await open_.settle()
    await open_.settle()
    assert (rows.asked, len(open_)) == (int(unknown), 0)


async def test_who_is_cut_short_leaves_a_doubt():
    open_, rows = Doubts(), Rows()
    with trio.CancelScope() as scope:
        scope.cancel()
        with open_.unless_known("one", rows.settle):
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert len(open_) == 1


async def test_it_is_asked_until_there_is_an_answer():
    open_ = Doubts()
    busy, away, fine = Rows(Overloaded()), Rows(DatabaseUnavailable("!")), Rows()
    for name, rows in (("busy", busy), ("away", away), ("fine", fine)):
        open_.add(name, rows.settle)
    with pytest.raises(DatabaseUnavailable):
        await open_.settle()
    assert (busy.asked, away.asked, fine.asked, len(open_)) == (1, 1, 0, 3)
    await open_.settle()
    assert (busy.asked, away.asked, fine.asked, len(open_)) == (2, 2, 1, 0)


async def test_a_doubt_that_comes_while_it_is_asked_is_asked_again():
    open_, later = Doubts(), Rows()

    async def ask() -> None:
        open_.add("one", later.settle)

    open_.add("one", ask)
    await open_.settle()
    assert (later.asked, len(open_)) == (0, 1)
    await open_.settle()
    assert (later.asked, len(open_)) == (1, 0)


async def test_they_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doubts, "MAX_OPEN", 2)
    open_, rows = Doubts(), Rows()
    for name in ("one", "two", "three", "one"):
        open_.add(name, rows.settle)
    assert len(open_) == 2
