"""Fixtures: users in memory over the real database, with a clock that steps and a store that can be away."""

import pytest
import trio

from actors.ids import new_object_id
from actors.users.units_rights import GrantChange, change_grant
from actors.users.users import Users
from persistence.errors import DatabaseUnavailable
from persistence.users.audit import Stamp

ANN = "00000000-0000-4000-8000-00000000000a"
BEN = "00000000-0000-4000-8000-00000000000b"
NOW_MS = 1_800_000_000_000
NOW_S = NOW_MS // 1000


class SteppedClock:
    def __init__(self):
        self.at_ms = NOW_MS

    def now_ms(self):
        return self.at_ms


class Numbers:
    """Bytes that never repeat."""

    def __init__(self):
        self.given = 0

    def __call__(self, count):
        self.given += 1
        return self.given.to_bytes(count)


class Gated:
    """A store whose reads wait at a gate after they were answered, and which can be away."""

    def __init__(self, database):
        self.database = database
        self.reads = 0
        self.away = False
        self.gate = None
        self.answered = trio.Event()

    async def read(self, unit):
        self.reads += 1
        if self.away:
            raise DatabaseUnavailable("away")
        answer = await self.database.read(unit)
        if self.gate is not None:
            self.answered.set()
            await self.gate.wait()
        return answer

    async def transact(self, unit):
        if self.away:
            raise DatabaseUnavailable("away")
        return await self.database.transact(unit)


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def numbers():
    return Numbers()


@pytest.fixture
def store(database):
    return Gated(database)


@pytest.fixture
async def users(store, clock, numbers):
    users = Users(store, clock, numbers, capacity=100)
    await users.open()
    return users


@pytest.fixture
def told(users):
    told = []
    users.on_access_change(told.append)
    return told


@pytest.fixture
def stamp(numbers):
    return lambda: Stamp(new_object_id(NOW_MS, numbers), NOW_MS, None, None)


@pytest.fixture
def grant(database, numbers, stamp):
    async def grant(user_id, node, *, negated=False, expires_at_ms=None, quantity=None):
        change = GrantChange(user_id, node, negated, expires_at_ms, quantity, new_object_id(NOW_MS, numbers))
        return await database.transact(change_grant, change, stamp())

    return grant
