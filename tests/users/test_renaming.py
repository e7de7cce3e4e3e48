"""New names reach those who show them also when the database is away at that moment."""

from types import SimpleNamespace
from typing import cast

import pytest
import trio
from trio.testing import MockClock

from persistence.errors import DatabaseUnavailable, PersistenceError, QueueFull, RowsRejected
from routes.insisting import TRIES
from routes.service import Service
from routes.users.renaming import following_renames


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
    listeners = []
    users = SimpleNamespace(on_rename=listeners.append)
    passing = Passing(failure, times)
    task = following_renames(cast("Service", SimpleNamespace(of=lambda _part: users)), "names", passing.on)
    for user_id, name in (("a", "Ann"), ("b", "Ben")):
        listeners[0](user_id, name)
    nursery.start_soon(task.run)
    await trio.sleep(2 * TRIES)
    assert passing.passed == passed
    nursery.cancel_scope.cancel()
