"""New names reach those who show them also when the database is away at that moment."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from persistence.errors import DatabaseUnavailable, PersistenceError, QueueFull, RowsRejected
from routes.insisting import TRIES
from routes.jobs import BackgroundTask
from routes.service import Service
from routes.users.renaming import RENAMES_WAITING, following_renames


class Passing:
    """What passes names on, and fails for the first one.

    Attributes:
        tries: the names that it was called with.
        passed: those that were passed on.
    """

    def __init__(self, failure: PersistenceError, times: int) -> None:
        self.tries: list[str] = []
        self.passed: list[str] = []
        self._failure, self._times = failure, times

    async def on(self, _user_id: str, name: str) -> None:
        self.tries.append(name)
        if name == "Ann" and len(self.tries) <= self._times:
            raise self._failure
        self.passed.append(name)


def following(passing: Passing) -> tuple[Callable[[str, str], None], BackgroundTask]:
    """What is called with each new name, and the task that passes them on."""
    listeners: list[Callable[[str, str], None]] = []
    users = SimpleNamespace(on_rename=listeners.append)
    task = following_renames(cast("Service", SimpleNamespace(of=lambda _part: users)), "names", passing.on)
    return listeners[0], task


@pytest.mark.parametrize(
    ("failure", "times", "passed"),
    [
        (DatabaseUnavailable("!"), 3, ["Ann", "Ben"]),
        (QueueFull("!"), TRIES - 1, ["Ann", "Ben"]),
        (DatabaseUnavailable("!"), TRIES, ["Ben"]),
        (RowsRejected("!"), 1, ["Ben"]),
    ],
)
async def test_a_name_waits_for_the_database(
    autojump_clock: MockClock, nursery: trio.Nursery, failure: PersistenceError, times: int, passed: list[str]
) -> None:
    passing = Passing(failure, times)
    renamed, task = following(passing)
    for user_id, name in (("a", "Ann"), ("b", "Ben")):
        renamed(user_id, name)
    nursery.start_soon(task.run)
    await trio.sleep(2 * TRIES)
    assert passing.passed == passed
    nursery.cancel_scope.cancel()


async def test_the_newest_name_of_a_user_who_waits_is_never_the_one_that_is_dropped(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    passing = Passing(DatabaseUnavailable("!"), 0)
    renamed, task = following(passing)
    for number in range(RENAMES_WAITING):
        renamed(str(number), f"Player{number}")
    renamed("7", "Seven")
    renamed("late", "Late")
    nursery.start_soon(task.run)
    await trio.sleep(1)
    assert (passing.passed[7], len(passing.passed)) == ("Seven", RENAMES_WAITING)
    renamed("late", "Later")
    await trio.sleep(1)
    assert passing.passed[-1] == "Later"
    nursery.cancel_scope.cancel()
