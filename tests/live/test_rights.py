"""Live: who runs streams is told when rights have moved, also when the store is away for a moment."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from secrets import token_bytes
from typing import TypeVar

import pytest
import trio

from actors.kernel.clock import SystemClock
from actors.users.users import Users
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable
from persistence.users.erasure import erase
from routes.edge.principal import Access
from routes.live.rights import Rights
from tests.support.waiting import patience

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
    """A stream; implements `RightsObserver`."""

    def __init__(self) -> None:
        self.told: list[Access] = []
        self._more = trio.Event()

    def recheck(self, access: Access) -> None:
        self.told.append(access)
        self._more.set()

    async def wait(self, count: int) -> None:
        """Until it was told so often."""
        with patience():
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


async def follow(rights: Rights, users: Users, *heard: tuple[str, Heard]) -> None:
    for user_id, one in heard:
        rights.follow(user_id, one, await users.access_of(user_id))


async def test_each_stream_of_the_user_is_told(rights: Rights, users: Users) -> None:
    first, second, other = Heard(), Heard(), Heard()
    await follow(rights, users, (ANN, first), (ANN, second), (BEN, other))
    rights.moved(ANN)
    await first.wait(1)
    await second.wait(1)
    assert other.told == []
    rights.moved("")
    await first.wait(2)
    await other.wait(1)


async def test_who_has_gone_is_told_nothing(rights: Rights, users: Users) -> None:
    gone, stays, here = Heard(), Heard(), Heard()
    await follow(rights, users, (ANN, gone), (ANN, stays), (BEN, here))
    rights.unfollow(ANN, gone)
    rights.moved(ANN)
    await stays.wait(1)
    rights.unfollow(ANN, stays)
    rights.moved(ANN)
    rights.moved(BEN)
    await here.wait(1)
    assert (gone.told, len(stays.told)) == ([], 1)


async def test_rights_that_moved_while_a_stream_was_opened_are_told_to_it(
    rights: Rights, users: Users
) -> None:
    known = await users.access_of(ANN)
    users.changed(ANN)
    late = Heard()
    rights.follow(ANN, late, known)  # nobody knows what they are now
    await late.wait(1)
    later = Heard()
    rights.follow(
        ANN, later, replace(known)
    )  # what they were when the stream was asked for is not what they are
    assert later.told == [users.peek_access(ANN)]


@pytest.mark.slow
async def test_a_store_that_is_away_is_asked_again(rights: Rights, users: Users, away: Away) -> None:
    heard = Heard()
    await follow(rights, users, (ANN, heard))
    away.failures = 2
    users.changed(ANN)
    await heard.wait(1)
    assert away.failures == 0
    assert heard.told[0].allows("social:chat.read")


async def test_streams_of_somebody_who_was_erased_lose_everything(
    rights: Rights, users: Users, database: Database
) -> None:
    heard = Heard()
    await follow(rights, users, (ANN, heard))
    await database.transact(partial(erase, even_if_held=False), ANN, 0)
    users.changed(ANN)
    await heard.wait(1)
    assert not any(heard.told[0].allows(node) for node in ("social:chat.read", "versions:read", "a", "a:b:c"))
