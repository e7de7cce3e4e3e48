"""What servers say of themselves: which report counts, for how long, and what a network's come to."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.publications.statuses import MAX_PLAYERS, SILENT, Status, Statuses
from persistence.errors import DatabaseUnavailable
from persistence.publications.rows import Rank, StatusRow, Target
from tests.publications.play import FRESH_MS, NET, NOW_MS, report


def told(*reports: StatusRow) -> Statuses:
    """Statuses that have heard all of this, each as it was said."""
    known = Statuses(FRESH_MS)
    for one in reports:
        known.report(one, one.at_ms)
    return known


@pytest.mark.parametrize(
    ("age_s", "fresh"), [(0, True), (89, True), (90, True), (90.001, False), (91, False)]
)
def test_a_report_counts_for_ninety_seconds(age_s: float, fresh: bool) -> None:
    """At exactly ninety it still does; then nobody is online, and the MOTD and its time stay."""
    known = told(report(motd="Hello"))
    now_ms = NOW_MS + round(age_s * 1000)
    server = Status(fresh, "Hello", 3 * fresh, 20 * fresh, NOW_MS, int(fresh), 1)
    network = Status(fresh, "Hello" * fresh, 3 * fresh, 20 * fresh, NOW_MS, int(fresh), 1)
    assert known.of(Target("server", "a"), now_ms) == server
    assert known.of(NET, now_ms) == network


def test_age_is_from_the_older_of_said_and_heard() -> None:
    """What comes late is as old as it says; what comes from the future is as old as its arrival."""
    late, early = told(), told()
    assert late.report(report(ago_ms=60_000), NOW_MS)
    assert early.report(report(ago_ms=-3_600_000), NOW_MS)
    assert late.of(NET, NOW_MS + 31_000).fresh == 0
    assert early.of(NET, NOW_MS + 90_000).at_ms == NOW_MS
    assert early.of(NET, NOW_MS + 91_000).fresh == 0


def test_older_is_ignored_and_the_same_moment_is_not() -> None:
    known = told(report(players=5))
    assert not known.report(report(players=1, ago_ms=1), NOW_MS)
    assert known.of(NET, NOW_MS).players == 5
    assert known.report(report(players=2), NOW_MS)
    assert known.of(NET, NOW_MS).players == 2
    assert not known.report(report(players=9, ago_ms=5), NOW_MS + 100), "older than the clamped one"


@pytest.mark.parametrize(
    ("players", "capacity", "shown"),
    [
        (21, 20, (20, 20)),
        (-1, 20, (0, 20)),
        (5, 0, (0, 0)),
        (5, -5, (0, 0)),
        (2**62, 2**62, (MAX_PLAYERS, MAX_PLAYERS)),
        (-(2**62), 1, (0, 1)),
    ],
)
def test_counts_are_brought_into_bounds(players: int, capacity: int, shown: tuple[int, int]) -> None:
    status = told(report(players=players, capacity=capacity)).of(NET, NOW_MS)
    assert (status.players, status.capacity) == shown


def test_a_network_is_the_sum_of_its_fresh_reporters_that_are_online() -> None:
    """Offline ones and stale ones count as reporters alone; the newest MOTD that says anything stands."""
    known = told(
        report("old", 50, 60, ago_ms=90_001, motd="Ancient"),
        report("one", 3, 20, ago_ms=5_000, motd="One"),
        report("off", 9, 20, ago_ms=4_000, online=False, motd="Off"),
        report("two", 4, 30, ago_ms=2_000, motd=""),
        report("else", 100, 100, network="other", motd="Other"),
        report("none", 100, 100, network=None, motd="None"),
    )
    assert known.of(NET, NOW_MS) == Status(True, "Off", 7, 50, NOW_MS - 2_000, 3, 4)
    assert known.of(Target("network", "nowhere"), NOW_MS) == SILENT
    assert known.of(None, NOW_MS) == SILENT


def test_who_moves_counts_elsewhere_and_who_goes_nowhere() -> None:
    known = told(report("a", 3), report("b", 4))
    known.moved("a", "other")
    known.moved("stranger", "other")
    assert (known.of(NET, NOW_MS).players, known.of(Target("network", "other"), NOW_MS).players) == (4, 3)
    known.moved("a", None)
    assert known.of(Target("network", "other"), NOW_MS) == SILENT
    known.forget("b")
    known.forget("b")
    assert known.of(NET, NOW_MS) == SILENT
    assert len(known) == 1


def test_no_more_servers_are_remembered_than_there_is_room_for() -> None:
    known = Statuses(FRESH_MS, capacity=2)
    assert [known.report(report(one), NOW_MS) for one in ("a", "b", "c", "a")] == [True, True, False, True]
    known.forget("a")
    assert known.report(report("c"), NOW_MS)


class Rows:
    """A store that keeps what is written, and is away when it is told to be."""

    def __init__(self) -> None:
        self.reports: dict[str, StatusRow] = {}
        self.ranks: dict[str, Rank] = {}
        self.writes = 0
        self.away = False

    async def transact(
        self, unit: Callable[..., Coroutine[Any, Any, Any]], rows: Any, ranks: Any, _stale_ms: int
    ) -> None:
        """As `Store.transact`, of the one unit that there is."""
        if self.away:
            raise DatabaseUnavailable
        self.writes += 1
        self.reports |= {row.server_id: row for row in rows}
        self.ranks |= {rank.target_id: rank for rank in ranks}

    async def read(self, _unit: object, _after_ms: int) -> list[StatusRow]:
        """What was written."""
        return list(self.reports.values())


async def test_a_second_of_pushes_is_one_write() -> None:
    """Each server's newest, and where it and its network are sorted to; a second without pushes writes nothing."""
    rows: Any = Rows()
    known = told(report("a", 1), report("a", 2), report("b", 5))
    await known.flush(rows, NOW_MS)
    assert {id: row.players for id, row in rows.reports.items()} == {"a": 2, "b": 5}
    assert {id: rank.players for id, rank in rows.ranks.items()} == {"a": 2, "b": 5, "net": 7}
    await known.flush(rows, NOW_MS)
    assert rows.writes == 1


async def test_whose_report_stops_to_count_is_sorted_down() -> None:
    """Once, in the second after its end; a later report puts that off."""
    rows: Any = Rows()
    known = told(report("a", 1), report("b", 5))
    await known.flush(rows, NOW_MS)
    known.report(report("b", 6, ago_ms=-50_000), NOW_MS + 50_000)
    await known.flush(rows, NOW_MS + 90_000)
    assert rows.ranks["a"].players == 1
    await known.flush(rows, NOW_MS + 90_001)
    assert {id: rank.players for id, rank in rows.ranks.items()} == {"a": 0, "b": 6, "net": 6}
    await known.flush(rows, NOW_MS + 140_001)
    assert rows.ranks["net"].players == 0
    writes = rows.writes
    await known.flush(rows, NOW_MS + 1_000_000)
    assert rows.writes == writes


async def test_what_cannot_be_written_is_written_with_the_next() -> None:
    rows: Any = Rows()
    known = told(report("a", 1), report("b", 5), report("c", 9))
    rows.away = True
    with pytest.raises(DatabaseUnavailable):
        await known.flush(rows, NOW_MS)
    known.forget("c")
    known.report(report("a", 2), NOW_MS)
    rows.away = False
    await known.flush(rows, NOW_MS)
    assert {id: row.players for id, row in rows.reports.items()} == {"a": 2, "b": 5}


async def test_a_flush_returns_once_an_earlier_one_has_written() -> None:
    class SlowRows(Rows):
        async def transact(self, *unit: Any) -> None:
            await trio.testing.wait_all_tasks_blocked()
            await super().transact(*unit)

    rows: Any = SlowRows()
    known = told(report("a", 1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(known.flush, rows, NOW_MS)
        await trio.lowlevel.checkpoint()
        await known.flush(rows, NOW_MS)
        assert rows.reports.keys() == {"a"}


async def test_another_process_starts_where_this_one_was() -> None:
    rows: Any = Rows()
    known, later = told(report("a", 1, motd="Hi"), report("b", 5)), Statuses(FRESH_MS)
    await known.flush(rows, NOW_MS)
    await later.open(rows, NOW_MS)
    assert later.of(NET, NOW_MS) == known.of(NET, NOW_MS)
    later.forget_old(NOW_MS + 8 * 24 * 3_600_000)
    assert len(later) == 0


SERVERS = ("a", "b", "c", "d")
NETWORKS = ("x", "y", None)


class Against(RuleBasedStateMachine):
    """Statuses against the rule said plainly: after every step each network's is that of a fresh sum."""

    def __init__(self) -> None:
        super().__init__()
        self.known = Statuses(FRESH_MS)
        self.reports: dict[str, StatusRow] = {}
        self.now_ms = NOW_MS

    @rule(
        server=st.sampled_from(SERVERS),
        network=st.sampled_from(NETWORKS),
        online=st.booleans(),
        motd=st.sampled_from(["", "Hi", "Ho"]),
        players=st.integers(-5, 30),
        capacity=st.integers(-5, 25),
        ago_ms=st.integers(-100_000, 200_000),
    )
    def push(
        self,
        server: str,
        network: str | None,
        online: bool,
        motd: str,
        players: int,
        capacity: int,
        ago_ms: int,
    ) -> None:
        at_ms = min(self.now_ms, self.now_ms - ago_ms)
        before = self.reports.get(server)
        taken = before is None or at_ms >= before.at_ms
        row = StatusRow(server, network, online, motd, players, capacity, self.now_ms - ago_ms)
        assert self.known.report(row, self.now_ms) is taken
        if taken:
            places = max(capacity, 0)
            self.reports[server] = StatusRow(
                server, network, online, motd, min(max(players, 0), places), places, at_ms
            )

    @rule(server=st.sampled_from(SERVERS), network=st.sampled_from(NETWORKS))
    def move(self, server: str, network: str | None) -> None:
        self.known.moved(server, network)
        if server in self.reports:
            old = self.reports[server]
            self.reports[server] = StatusRow(
                server, network, old.online, old.motd, old.players, old.capacity, old.at_ms
            )

    @precondition(lambda self: self.reports)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        server = data.draw(st.sampled_from(sorted(self.reports)))
        self.known.forget(server)
        del self.reports[server]

    @rule(ms=st.sampled_from([0, 1, 1_000, 89_000, 90_000, 90_001]))
    def wait(self, ms: int) -> None:
        self.now_ms += ms

    @invariant()
    def networks_are_right_to_the_unit(self) -> None:
        for network in ("x", "y"):
            reports = [one for one in self.reports.values() if one.network_id == network]
            fresh = [one for one in reports if self.now_ms - one.at_ms <= FRESH_MS]
            online = [one for one in fresh if one.online]
            status = self.known.of(Target("network", network), self.now_ms)
            assert status.players == sum(one.players for one in online)
            assert status.capacity == sum(one.capacity for one in online)
            assert (status.online, status.fresh, status.total) == (bool(online), len(fresh), len(reports))
            assert status.at_ms == max((one.at_ms for one in reports), default=None)
            newest = max((one.at_ms for one in fresh if one.motd), default=None)
            said = {one.motd for one in fresh if one.motd and one.at_ms == newest}
            assert status.motd in (said or {""})


TestAgainst = Against.TestCase
TestAgainst.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
