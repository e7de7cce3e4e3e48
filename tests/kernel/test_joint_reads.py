"""Reads made together: who shares one, what a read may miss, and readers who leave."""

import pytest
import trio
import trio.testing

from actors.kernel.joint_reads import AT_ONCE, MOST_TOGETHER, JointReads
from persistence.errors import DatabaseUnavailable


class Rows:
    """Numbers by their names; each read waits until it is let go on."""

    def __init__(self):
        self.asked = []
        self.gates = []

    async def read(self, names):
        self.asked.append(set(names))
        gate = trio.Event()
        self.gates.append(gate)
        await gate.wait()
        return {name: int(name) for name in names if name.isdecimal()}

    async def go_on(self):
        self.gates.pop(0).set()
        await trio.testing.wait_all_tasks_blocked()


class Readers:
    """Those who ask, and what each has got."""

    def __init__(self, reads, nursery):
        self.reads, self.nursery = reads, nursery
        self.got = {}

    async def ask(self, name):
        scope = trio.CancelScope()
        self.nursery.start_soon(self._ask, name, scope)
        await trio.testing.wait_all_tasks_blocked()
        return scope

    async def _ask(self, name, scope):
        with scope:
            try:
                self.got[name] = await self.reads.read(name)
            except DatabaseUnavailable:
                self.got[name] = "away"


@pytest.fixture
def rows():
    return Rows()


@pytest.fixture
def readers(rows, nursery):
    return Readers(JointReads(rows.read), nursery)


async def test_what_is_asked_while_reads_are_under_way_is_read_together(rows, readers):
    for name in "12345":
        await readers.ask(name)
    assert rows.asked == [{"1"}, {"2"}]
    await rows.go_on()
    assert (readers.got, rows.asked[AT_ONCE:]) == ({"1": 1}, [{"3", "4", "5"}])
    await rows.go_on()
    await rows.go_on()
    assert readers.got == {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}


async def test_whoever_asks_again_is_told_by_a_read_that_began_later(rows, readers):
    await readers.ask("1")
    await readers.ask("1")
    assert rows.asked == [{"1"}, {"1"}]


async def test_what_there_is_not_is_none(rows, readers):
    await readers.ask("nobody")
    await rows.go_on()
    assert readers.got == {"nobody": None}


async def test_a_read_has_a_bound(rows, readers):
    for number in range(AT_ONCE + MOST_TOGETHER + 1):
        await readers.ask(str(number))
    for _ in range(AT_ONCE):
        await rows.go_on()
    assert [len(names) for names in rows.asked] == [1] * AT_ONCE + [MOST_TOGETHER, 1]


async def test_whoever_reads_and_leaves_is_followed_by_one_who_waits(rows, readers):
    await readers.ask("1")
    await readers.ask("2")
    reading = await readers.ask("3")
    await readers.ask("4")
    await rows.go_on()
    assert rows.asked[2:] == [{"3", "4"}]
    reading.cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert rows.asked[3:] == [{"3", "4"}]
    for _ in range(3):
        await rows.go_on()
    assert readers.got == {"1": 1, "2": 2, "4": 4}


async def test_a_read_that_fails_is_raised(readers):
    async def away(_names):
        raise DatabaseUnavailable("away")

    readers.reads = JointReads(away)
    for name in "12":
        await readers.ask(name)
    assert readers.got == {"1": "away", "2": "away"}
