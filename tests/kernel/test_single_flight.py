"""One load for many: sharing, repeating what was made void, and leaders who leave."""

import pytest
import trio
import trio.testing

from actors.kernel.single_flight import REPEATS, SingleFlight
from persistence.errors import DatabaseUnavailable


class Loads:
    """Loads that are answered by hand.

    `answer(value)` lets the load that runs return; a value that is an exception is raised.
    """

    def __init__(self):
        self.count = 0
        self._answers, self._waiting = trio.open_memory_channel(10)

    def answer(self, value):
        self._answers.send_nowait(value)

    async def __call__(self):
        self.count += 1
        value = await self._waiting.receive()
        if isinstance(value, Exception):
            raise value
        return value


@pytest.fixture
def flights():
    return SingleFlight()


@pytest.fixture
def loads():
    return Loads()


async def settle():
    await trio.testing.wait_all_tasks_blocked()


async def test_many_share_one_load(flights, loads, nursery):
    got, kept = [], []

    async def ask():
        got.append(await flights.run("key", loads, kept.append))

    for _ in range(50):
        nursery.start_soon(ask)
    await settle()
    assert (loads.count, len(flights)) == (1, 1)
    loads.answer("value")
    await settle()
    assert got == ["value"] * 50
    assert kept == ["value"]
    assert (loads.count, len(flights)) == (1, 0)


async def test_keys_are_apart_and_nothing_is_remembered(flights, loads):
    for key in ("a", "b", "a"):
        loads.answer(key)
        assert await flights.run(key, loads) == key
    assert loads.count == 3


async def test_none_is_an_answer(flights, loads, nursery):
    got = []

    async def ask():
        got.append(await flights.run("key", loads))

    for _ in range(3):
        nursery.start_soon(ask)
    await settle()
    loads.answer(None)
    await settle()
    assert got == [None, None, None]
    assert loads.count == 1


@pytest.mark.parametrize("void", [lambda flights: flights.void("key"), lambda flights: flights.void_all()])
async def test_what_was_made_void_is_loaded_again(flights, loads, nursery, void):
    got, kept = [], []

    async def ask():
        got.append(await flights.run("key", loads, kept.append))

    nursery.start_soon(ask)
    nursery.start_soon(ask)
    await settle()
    void(flights)
    flights.void("another")
    loads.answer("old")
    await settle()
    assert got == []
    loads.answer("new")
    await settle()
    assert got == ["new", "new"]
    assert kept == ["new"]


async def test_what_never_holds_still_is_answered_but_not_kept(flights):
    kept, count = [], 0

    async def load():
        nonlocal count
        count += 1
        flights.void("key")
        await trio.lowlevel.checkpoint()
        return count

    assert await flights.run("key", load, kept.append) == REPEATS
    assert kept == []


async def test_an_error_of_persistence_is_everybodys(flights, loads, nursery):
    errors = []

    async def ask():
        with pytest.raises(DatabaseUnavailable) as raised:
            await flights.run("key", loads)
        errors.append(raised.value)

    for _ in range(3):
        nursery.start_soon(ask)
    await settle()
    loads.answer(DatabaseUnavailable("away"))
    await settle()
    assert len(errors) == 3
    assert loads.count == 1
    assert len(flights) == 0


async def test_after_another_error_the_waiters_try_for_themselves(flights, loads, nursery):
    got = []

    async def ask():
        try:
            got.append(await flights.run("key", loads))
        except KeyError:
            got.append("fault")

    for _ in range(2):
        nursery.start_soon(ask)
    await settle()
    loads.answer(KeyError())
    await settle()
    loads.answer("value")
    await settle()
    assert got == ["fault", "value"]


async def test_a_leader_who_leaves_hands_over(flights, loads, nursery):
    got = []
    leaving = trio.CancelScope()

    async def lead():
        with leaving:
            await flights.run("key", loads)

    async def follow():
        got.append(await flights.run("key", loads))

    nursery.start_soon(lead)
    await settle()
    for _ in range(3):
        nursery.start_soon(follow)
    await settle()
    leaving.cancel()
    await settle()
    assert loads.count == 2
    loads.answer("value")
    await settle()
    assert got == ["value"] * 3


async def test_a_follower_who_leaves_disturbs_nobody(flights, loads, nursery):
    got = []
    leaving = trio.CancelScope()

    async def lead():
        got.append(await flights.run("key", loads))

    async def follow():
        with leaving:
            await flights.run("key", loads)

    nursery.start_soon(lead)
    await settle()
    nursery.start_soon(follow)
    await settle()
    leaving.cancel()
    await settle()
    loads.answer("value")
    await settle()
    assert got == ["value"]
