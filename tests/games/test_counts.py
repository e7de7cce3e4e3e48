"""Who plays which game: after every step the counts are those of a fresh sum."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.games.counts import GameCounts
from actors.publications.statuses import Statuses
from persistence.games.games import GameRow, Listed
from persistence.publications.rows import StatusRow

FRESH_MS = 90_000
NOW_MS = 1_700_000_000_000

SERVERS = ("a", "b", "c")
NETWORKS = ("x", "y", None)
CATEGORIES = ("bedwars", "skywars", "chess", "", None)


def game(id: str, name: str = "A name") -> GameRow:
    return GameRow(id, name, b"[]")


def report(server: str, players: int, network: str | None = None, *, online: bool = True) -> StatusRow:
    return StatusRow(server, network, online, "", players, 100, NOW_MS)


@pytest.mark.parametrize(
    ("own", "networks", "counts_for"),
    [
        ("bedwars", "skywars", "bedwars"),
        ("", "skywars", "skywars"),
        (None, "skywars", "skywars"),
        ("chess", "skywars", None),
        (None, None, None),
        (None, "chess", None),
    ],
)
def test_a_server_counts_once(own: str | None, networks: str | None, counts_for: str | None) -> None:
    statuses = Statuses(FRESH_MS)
    counts = GameCounts(statuses, lambda: NOW_MS)
    counts.take_catalog([game("bedwars"), game("skywars")])
    statuses.report(report("a", 5, "x"), NOW_MS)
    counts.take(Listed("a", own))
    counts.take(Listed("x", networks))
    found = {id: (counts.of(id).players, counts.of(id).servers) for id in ("bedwars", "skywars", "chess")}
    assert found == {id: (5, 1) if id == counts_for else (0, 0) for id in found}


def test_only_numbers_that_change_are_told() -> None:
    told: list[int] = []
    statuses = Statuses(FRESH_MS)
    counts = GameCounts(statuses, lambda: NOW_MS, lambda: told.append(1))
    counts.take_catalog([game("bedwars")])
    counts.take(Listed("a", "bedwars"))
    statuses.report(report("a", 5), NOW_MS)
    assert len(told) == 2, "the catalog, and the first report"
    statuses.report(report("a", 5), NOW_MS)
    statuses.report(report("b", 7), NOW_MS)
    counts.take_catalog([game("bedwars")])
    assert len(told) == 2
    statuses.report(report("a", 6), NOW_MS)
    statuses.report(report("a", 6, online=False), NOW_MS)
    counts.take_catalog([game("bedwars", "Another name")])
    assert len(told) == 5
    assert counts.of("bedwars").at_ms == NOW_MS


class Against(RuleBasedStateMachine):
    """The counts against the rule said plainly."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOW_MS
        self.statuses = Statuses(FRESH_MS)
        self.counts = GameCounts(self.statuses, lambda: self.now_ms)
        self.games = {"bedwars", "skywars"}
        self.counts.take_catalog(map(game, self.games))
        self.reports: dict[str, StatusRow] = {}
        self.categories: dict[str, str | None] = {}

    @rule(
        server=st.sampled_from(SERVERS),
        network=st.sampled_from(NETWORKS),
        online=st.booleans(),
        players=st.integers(0, 30),
    )
    def push(self, server: str, network: str | None, online: bool, players: int) -> None:
        self.reports[server] = StatusRow(server, network, online, "", players, 100, self.now_ms)
        assert self.statuses.report(self.reports[server], self.now_ms)

    @rule(server=st.sampled_from(SERVERS), network=st.sampled_from(NETWORKS))
    def move(self, server: str, network: str | None) -> None:
        self.statuses.moved(server, network)
        if server in self.reports:
            old = self.reports[server]
            self.reports[server] = StatusRow(
                server, network, old.online, old.motd, old.players, 100, old.at_ms
            )

    @rule(id=st.sampled_from((*SERVERS, "x", "y")), category=st.sampled_from(CATEGORIES))
    def publish(self, id: str, category: str | None) -> None:
        self.categories[id] = category
        self.counts.take(Listed(id, category))

    @precondition(lambda self: self.reports)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        server = data.draw(st.sampled_from(sorted(self.reports)))
        self.statuses.forget(server)
        del self.reports[server]

    @rule(games=st.sets(st.sampled_from(("bedwars", "skywars", "chess"))))
    def import_games(self, games: set[str]) -> None:
        self.games = games
        self.counts.take_catalog(map(game, sorted(games)))

    @rule(ms=st.sampled_from([0, 1, 1_000, 89_000, 90_000, 90_001]))
    def wait(self, ms: int) -> None:
        self.now_ms += ms
        self.statuses._end(self.now_ms)  # as each flush does

    @invariant()
    def counts_are_right_to_the_unit(self) -> None:
        for id in ("bedwars", "skywars", "chess"):
            playing = [one for one in self.reports.values() if self._game_of(one) == id]
            count = self.counts.of(id)
            assert (count.players, count.servers) == (sum(one.players for one in playing), len(playing))

    def _game_of(self, report: StatusRow) -> str | None:
        if not report.online or self.now_ms - report.at_ms > FRESH_MS:
            return None
        own = self.categories.get(report.server_id)
        category = own or self.categories.get(report.network_id or "")
        return category if category in self.games else None


TestAgainst = Against.TestCase
TestAgainst.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
