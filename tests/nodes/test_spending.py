"""Rates of a caller who asks several nodes: over any length of time they are those of one node."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.kernel.nodes.link import Life
from routes.edge import policies
from routes.edge.buckets import OVERFLOW, OWED_MAX, Buckets
from routes.edge.limits import Limits
from routes.edge.policies import Policy
from routes.edge.spending import TOLD_OF, Spending, Spent
from routes.rates import CHAT_SEND as SEND
from routes.rates import REGISTER
from routes.spending import TELL_SECONDS, SharedRates
from tests.nodes.play import peers_of
from tests.support.bus import FOUL, SimulatedBus

READ = policies.USER_READ
LATER = Policy("of a later release", 10, 60)
NOW = 1_700_000_000_000


class _Clock:
    def now_ms(self) -> int:
        return NOW + round(trio.current_time() * 1000)


class _Node:
    """A node with rates, which tells the others."""

    def __init__(self, bus: SimulatedBus, name: str) -> None:
        self.limits = Limits()
        self.clock = _Clock()
        self.life = Life(name, 1)
        self.peers = peers_of(self.life, bus.end(name))
        self.rates = SharedRates(self.limits, self.peers, self.clock)
        bus.join(name, self.peers.links.take)
        self.peers.listen()

    def takes(self, caller: str, *, suffix: str = "") -> bool:
        return self.limits.take_for(SEND, caller, self.clock.now_ms(), suffix=suffix).allowed


@asynccontextmanager
async def _open_nodes(count: int, *, seed: int = 0) -> AsyncIterator[tuple[SimulatedBus, list[_Node]]]:
    async with trio.open_nursery() as nursery:
        bus = SimulatedBus(Random(seed))
        nursery.start_soon(bus.carry)
        nodes = [_Node(bus, f"n{number}") for number in range(count)]
        for node in nodes:
            for other in nodes:
                if other is not node:
                    node.peers.meet(other.life)
            nursery.start_soon(node.peers.links.keep)
            nursery.start_soon(node.rates.keep)
        yield bus, nodes
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("suffix", ["", "c1"])
async def test_who_asks_all_nodes_gets_no_more_than_of_one_but_for_the_first_moment(
    autojump_clock: MockClock, seed: int, suffix: str
) -> None:
    seconds, count = 30, 3
    async with _open_nodes(count, seed=seed) as (bus, nodes):
        bus.weather = FOUL
        passed = 0
        for _ in range(seconds * 20):
            passed += sum(node.takes("ann", suffix=suffix) for node in nodes)
            await trio.sleep(0.05)
        allowed = SEND.quota * (1 + seconds / SEND.window_seconds)
        untold = count * SEND.quota / TOLD_OF
        # Each node lets a burst through; all but one of them are owed, and paid with what comes after.
        assert allowed * 0.9 <= passed <= allowed + count * untold + 0.2 * (count - 1) * SEND.quota
        assert nodes[0].takes("bob", suffix=suffix)


async def test_who_asks_one_node_is_known_to_all_within_a_moment(autojump_clock: MockClock) -> None:
    async with _open_nodes(2) as (_, (a, b)):
        while a.takes("ann"):
            pass
        assert b.takes("ann")
        await trio.sleep(2 * TELL_SECONDS)
        assert not b.takes("ann")
        # What both owe together is there again after as long as it takes.
        await trio.sleep(SEND.window_seconds)
        assert a.takes("ann")
        assert b.takes("ann")


async def test_what_comes_too_late_is_there_again(autojump_clock: MockClock) -> None:
    async with _open_nodes(2) as (bus, (a, b)):
        await trio.sleep(1)
        bus.parted.add(frozenset(("n0", "n1")))
        while a.takes("ann"):
            pass
        await trio.sleep(SEND.window_seconds + 1)
        bus.parted.clear()
        await trio.sleep(2)
        assert b.limits.take(SEND, "ann", b.clock.now_ms()).remaining == SEND.quota - 1


async def test_nodes_are_not_told_of_who_spends_little(autojump_clock: MockClock) -> None:
    async with _open_nodes(2) as (_, (a, b)):
        for number in range(100):
            a.limits.take(READ, f"guest {number}", a.clock.now_ms())
        await trio.sleep(2 * TELL_SECONDS)
        assert len(b.limits) == 0


async def test_what_only_another_release_counts_is_passed_over(autojump_clock: MockClock) -> None:
    async with _open_nodes(2) as (_, (a, b)):
        for policy in (LATER, SEND):
            for _ in range(policy.quota):
                a.limits.take(policy, "ann", a.clock.now_ms())
        await trio.sleep(2 * TELL_SECONDS)
        assert len(b.limits) == 1
        assert b.limits.refusal(SEND, "ann", b.clock.now_ms()) is not None


def test_what_is_owed_is_bounded_and_answered_with_the_time_that_it_takes() -> None:
    limits = Limits()
    for _ in range(100):
        limits.owe(REGISTER, Spent("register", "192.0.2.1", "", 10, 10), NOW)
    refused = limits.take(REGISTER, "192.0.2.1", NOW)
    assert (refused.allowed, refused.remaining) == (False, 0)
    assert refused.retry_after_ms == (OWED_MAX * 10 + 1) * 360_000
    assert not limits.take(REGISTER, "192.0.2.1", NOW + refused.retry_after_ms - 1).allowed
    assert limits.take(REGISTER, "192.0.2.1", NOW + refused.retry_after_ms).allowed


@pytest.mark.parametrize(
    "spent",
    [
        Spent("register", "ann", "", 0, 1),
        Spent("register", "ann", "", 10, 0),
        Spent("register", "ann", "", 10, -5),
    ],
)
def test_what_says_nothing_changes_nothing(spent: Spent) -> None:
    limits = Limits()
    limits.owe(REGISTER, spent, NOW)
    assert len(limits) == 0


def test_what_others_spend_does_not_let_the_table_grow_and_is_not_forgotten_early() -> None:
    limits = Limits(max_buckets=50)
    for _ in range(3):
        limits.owe(SEND, Spent("chat-send", "ann", "", 30, 30), NOW)
    for number in range(1_000):
        limits.owe(SEND, Spent("chat-send", f"bob {number}", "", 30, 30), NOW + number)
    assert len(limits) <= 50 + OVERFLOW
    # Ann owes two buckets more than she had: theirs is full again before hers is.
    for number in range(1_000):
        limits.take(SEND, f"eve {number}", NOW + 11_001 + number)
    assert limits.refusal(SEND, "ann", NOW + 12_000) is not None


def test_callers_who_share_a_bucket_do_not_pay_for_what_one_of_them_spends_elsewhere() -> None:
    buckets = Buckets(SEND.window_seconds * 1000, max_buckets=1)
    full = SEND.quota * SEND.window_seconds * 1000
    buckets.of("ann", full, NOW)
    buckets.owe("bob", "", SEND.quota, SEND.quota, NOW)
    assert buckets.of("bob", full, NOW).level == full
    spending = Spending()
    for _ in range(SEND.quota):
        spending.note(buckets.of("bob", full, NOW), (SEND.name, "bob", ""), SEND.quota)
    assert spending.pop(10) == []


def test_what_is_due_is_bounded_and_told_once() -> None:
    limits = Limits()
    limits.spending = Spending(due_max=5)
    for number in range(8):
        limits.take(REGISTER, str(number), NOW)
    assert len(limits.spending) == 5
    assert limits.spending.pop(2) == [Spent("register", str(number), "", 10, 1) for number in range(2)]
    assert len(limits.spending.pop(9)) == 3
    # What found no place is told with what comes after it.
    limits.take(REGISTER, "7", NOW)
    assert limits.spending.pop(2) == [Spent("register", "7", "", 10, 2)]


@given(st.lists(st.tuples(st.integers(0, 3_000), st.booleans(), st.integers(1, 10)), max_size=60))
def test_a_bucket_that_owes_is_that_of_one_node(steps: list[tuple[int, bool, int]]) -> None:
    """What is spent elsewhere while there is enough leaves the bucket as if it had been spent here."""
    here, there, now_ms = Limits(), Limits(), NOW
    for gap_ms, elsewhere, tokens in steps:
        now_ms += gap_ms
        for _ in range(tokens):
            if there.take(SEND, "ann", now_ms).allowed:
                if elsewhere:
                    here.owe(SEND, Spent(SEND.name, "ann", "", SEND.quota, 1), now_ms)
                else:
                    assert here.take(SEND, "ann", now_ms).allowed
    assert here.take(SEND, "ann", now_ms) == there.take(SEND, "ann", now_ms)
