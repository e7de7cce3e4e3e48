"""What servers report to one node is known on the others, and no more of it waits than one report a server."""

from actors.publications.statuses import Statuses
from actors.publications.telling import TOLD_AT_ONCE, Telling
from persistence.publications.rows import Target
from tests.publications.play import FRESH_MS, NET, NOW_MS, report


class _Node:
    def __init__(self) -> None:
        self.statuses = Statuses(FRESH_MS)
        self.takes = True
        self.now_ms = NOW_MS
        self.said: list[tuple[str, bytes]] = []
        self.telling = Telling(self.statuses, self._offer, lambda: self.now_ms)

    def _offer(self, node: str, body: bytes) -> bool:
        if self.takes:
            self.said.append((node, body))
        return self.takes

    def tell(self, **others: "_Node") -> int:
        """Tell them; returns how many messages that took."""
        self.telling.tell()
        for name, body in self.said:
            if name in others:
                others[name].telling.heard("a", body)
        count = len(self.said)
        self.said.clear()
        return count


def test_the_sum_of_a_network_is_the_same_on_all_nodes() -> None:
    a, b = _Node(), _Node()
    a.telling.met("b")
    b.telling.met("a")
    for number in range(3):
        a.statuses.report(report(f"a{number}", 3), NOW_MS)
        b.statuses.report(report(f"b{number}", 4), NOW_MS)
    assert (a.tell(b=b), b.tell(a=a)) == (1, 1)
    assert a.statuses.of(NET, NOW_MS) == b.statuses.of(NET, NOW_MS)
    assert a.statuses.of(NET, NOW_MS).players == 21
    # What was heard is not told again.
    assert (a.tell(b=b), b.tell(a=a)) == (0, 0)


def test_the_newest_report_counts_wherever_it_came_in() -> None:
    a, b = _Node(), _Node()
    a.telling.met("b")
    a.statuses.report(report("s", 3, ago_ms=2_000), NOW_MS)
    b.statuses.report(report("s", 5, ago_ms=1_000), NOW_MS)
    a.tell(b=b)
    assert b.statuses.of(Target("server", "s"), NOW_MS).players == 5
    a.statuses.report(report("s", 7), NOW_MS)
    a.tell(b=b)
    assert b.statuses.of(Target("server", "s"), NOW_MS).players == 7


def test_a_node_that_takes_nothing_is_told_the_newest_later() -> None:
    a, b, c = _Node(), _Node(), _Node()
    a.telling.met("b")
    a.takes = False
    for players in range(10):
        for number in range(TOLD_AT_ONCE + 1):
            a.statuses.report(report(f"s{number}", players), NOW_MS)
        assert a.tell(b=b) == 0
    a.takes = True
    a.telling.met("c")
    assert a.tell(b=b, c=c) == 4
    for node in (b, c):
        assert len(node.statuses) == TOLD_AT_ONCE + 1
        assert node.statuses.of(Target("server", "s7"), NOW_MS).players == 9


def test_a_report_that_comes_late_is_known_everywhere_for_what_is_left_of_it() -> None:
    a, b = _Node(), _Node()
    a.telling.met("b")
    a.statuses.report(report("s", 3, ago_ms=FRESH_MS + 1), NOW_MS)
    assert a.tell(b=b) == 1
    assert b.statuses.report_of("s") == a.statuses.report_of("s")
    assert b.statuses.of(Target("server", "s"), NOW_MS) == a.statuses.of(Target("server", "s"), NOW_MS)


def test_what_counts_no_more_is_told_to_nobody_who_comes() -> None:
    a, b = _Node(), _Node()
    a.statuses.report(report("old"), NOW_MS)
    a.now_ms += FRESH_MS + 1
    a.statuses.report(report("new", ago_ms=-FRESH_MS - 1), a.now_ms)
    a.telling.met("b")
    b.now_ms = a.now_ms
    assert a.tell(b=b) == 1
    assert len(b.statuses) == 1
    a.telling.parted("b")
    a.statuses.report(report("new", ago_ms=-FRESH_MS - 1), a.now_ms)
    assert a.tell(b=b) == 0
