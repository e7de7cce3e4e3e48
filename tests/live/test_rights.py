"""Live: who runs streams is told when rights have moved, also when the store is away for a moment."""

from collections.abc import AsyncIterator, Awaitable, Callable
from secrets import token_bytes
from typing import TypeVar

import pytest
import trio

from actors.kernel.clock import SystemClock
from actors.users import Users
from persistence.bridge import Database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from routes.edge.principal import Access
from routes.live.rights import Rights

Result = TypeVar("Result")

ANN = "00000000-0000-4000-8000-0000000000aa"
BEN = "00000000-0000-4000-8000-0000000000bb"


class Away:
    """A database that does not answer as often as it is told."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.failures = 0

    async def read(self, unit: Callable[[Connection], Awaitable[Result]], /) -> Result:
        if self.failures:
            self.failures -= 1
            raise DatabaseUnavailable("away")
        return await self._database.read(unit)

    async def transact(self, unit: Callable[[Connection], Awaitable[Result]], /) -> Result:
        return await self._database.transact(unit)


class Heard:
    """A stream's listener."""

    def __init__(self) -> None:
        self.told: list[Access] = []
        self._more = trio.Event()

    def __call__(self, access: Access) -> None:
        self.told.append(access)
        self._more.set()

    async def wait(self, count: int) -> None:
        """Until it was told so often."""
        with trio.fail_after(10):
            while len(self.told) < count:
                self._more = trio.Event()
                await self._more.wait()


@pytest.fixture
async def away(database: Database) -> Away:
    return Away(database)


@pytest.fixture
async def users(away: Away) -> Users:
    users = Users(away, SystemClock(), token_bytes)
    await users.open()
    for user_id in (ANN, BEN):
        await users.arrive(user_id, "Somebody", 0)
    return users


@pytest.fixture
async def rights(users: Users, nursery: trio.Nursery) -> AsyncIterator[Rights]:
    rights = Rights(users)
    users.on_access_change(rights.moved)
    nursery.start_soon(rights.keep)
    yield rights


async def test_each_stream_of_the_user_is_told(rights: Rights) -> None:
    first, second, other = Heard(), Heard(), Heard()
    with rights.followed(ANN, first), rights.followed(ANN, second), rights.followed(BEN, other):
        rights.moved(ANN)
        await first.wait(1)
        await second.wait(1)
        assert other.told == []
        rights.moved("")
        await first.wait(2)
        await other.wait(1)


async def test_who_has_gone_is_told_nothing(rights: Rights) -> None:
    gone, here = Heard(), Heard()
    with rights.followed(ANN, gone):
        pass
    with rights.followed(BEN, here):
        rights.moved(ANN)
        rights.moved(BEN)
        await here.wait(1)
    assert gone.told == []


@pytest.mark.slow
async def test_a_store_that_is_away_is_asked_again(rights: Rights, users: Users, away: Away) -> None:
    heard = Heard()
    with rights.followed(ANN, heard):
        away.failures = 2
        users.changed(ANN)
        await heard.wait(1)
    assert away.failures == 0
    assert heard.told[0].allows("social:chat.read")
