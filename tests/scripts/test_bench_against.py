"""`scripts/bench --against` and `--nodes`: their arithmetic finds what was put in, and says when not to be believed."""

import math
import socket
import subprocess
from random import Random
from statistics import median

import pytest

from scripts.benchmarks.__main__ import MOST_NODES, check, parser
from scripts.benchmarks.against import Comparison
from scripts.benchmarks.cases import CASES
from scripts.benchmarks.contenders import UNITS
from scripts.benchmarks.nodes import ports_in_a_row
from scripts.benchmarks.ratios import _T, MOST_SESSIONS, Ratio, Round, compared, interval, trimmed_mean
from scripts.benchmarks.report_ratios import comparisons, of_nodes, ratio, session_line, verdict
from scripts.benchmarks.worktree import NoSuchState, name_of, worktree


def some_sessions(rng: Random, *, times: float, sessions: int = 4, rounds: int = 12) -> list[list[Round]]:
    """Rounds of a machine that others use: the weather changes by a half, a round by a tenth, one of ten is spoilt."""

    def cost(weather: float) -> float:
        return 100 * weather * math.exp(rng.gauss(0, 0.03)) * (3 if rng.random() < 0.03 else 1)

    found = []
    for _ in range(sessions):
        weathers = [rng.uniform(1, 1.5) for _ in range(rounds)]
        found.append([Round(times * cost(at), cost(at), cost(at)) for at in weathers])
    return found


class TestRatios:
    @pytest.mark.parametrize("times", [0.9, 0.97, 1.0, 1.03, 1.5])
    def test_the_interval_holds_what_was_put_in_about_as_often_as_it_says(self, times):
        rng = Random(f"ratios {times}")
        both = [compared(some_sessions(rng, times=times)) for _ in range(100)]
        assert 90 <= sum(new.low <= times <= new.high for new, _ in both) <= 99
        assert 90 <= sum(control.low <= 1 <= control.high for _, control in both) <= 99
        assert median(new.high / new.low for new, _ in both) < 1.06

    def test_both_servers_of_the_other_state_are_compared_with(self):
        new, control = compared([[Round(2.0, 1.0, 4.0)], [Round(2.0, 1.0, 4.0)]])
        assert new == pytest.approx((1.0, 1.0, 1.0))
        assert control == pytest.approx((4.0, 4.0, 4.0))

    def test_a_single_session_says_nothing_of_the_next(self):
        new, _ = compared([[Round(1.1, 1.0, 1.0)]])
        assert (new.low, new.high) == (0, math.inf)
        assert not new.excludes_one

    def test_students_interval(self):
        found = interval([math.log(1.0), math.log(1.1), math.log(1.21)])
        assert found.middle == pytest.approx(1.1)
        assert math.log(found.high / 1.1) == pytest.approx(4.303 * math.log(1.1) / math.sqrt(3))
        assert found.low * found.high == pytest.approx(1.1**2)

    def test_it_knows_every_number_of_sessions_that_may_be_asked_for(self):
        assert list(_T) == list(range(2, MOST_SESSIONS + 1))
        assert sorted(_T.values(), reverse=True) == list(_T.values())

    @pytest.mark.parametrize(
        ("values", "mean"),
        [
            ([1.0], 1.0),
            ([1.0, 2.0, 90.0], 31.0),
            ([-90.0, 1.0, 3.0, 90.0], 2.0),
            ([0, 0, 1, 2, 3, 9, 9, 9], 3.75),
        ],
    )
    def test_the_spoilt_rounds_are_left_out(self, values, mean):
        assert trimmed_mean(values) == pytest.approx(mean)


def a_comparison(new: Ratio, control: Ratio, fault: str = "") -> Comparison:
    rounds = [Round(99.0, 100.0, 102.0), Round(97.0, 100.0, 102.0)]
    return Comparison(case="rooms", sessions=[rounds], new=new, control=control, fault=fault)


SAME, LESS, MORE = Ratio(1.0, 0.99, 1.01), Ratio(0.9, 0.88, 0.92), Ratio(1.1, 1.08, 1.12)


class TestReport:
    @pytest.mark.parametrize(
        ("new", "control", "says"),
        [
            (LESS, SAME, "less"),
            (MORE, SAME, "MORE"),
            (SAME, SAME, "no difference seen"),
            (LESS, MORE, "not to be trusted: the control is not 1"),
        ],
    )
    def test_a_verdict_needs_a_control_that_holds(self, new, control, says):
        assert verdict(a_comparison(new, control)) == says

    def test_the_table(self):
        assert comparisons([a_comparison(LESS, SAME)]).splitlines()[-1] == (
            "| 1,000 rooms of two, 64 in flight | CPU µs a message | 101.00 | 98.00 | 0.900 [0.880, 0.920] | less "
            "| 1.000 [0.990, 1.010] |"
        )

    def test_what_clients_must_not_see_is_told(self):
        assert "| less; NOT EXACT: lost one |" in comparisons([a_comparison(LESS, SAME, "lost one")])

    def test_a_ratio_without_an_interval(self):
        assert ratio(Ratio(0.97, 0.0, math.inf)) == "0.970"
        assert session_line([Round(1.0, 2.0, 2.0)]) == "  costs 1.0 2.0 2.0, new 0.500, control 1.000"


class TestNodes:
    @pytest.mark.parametrize(
        ("times", "cells"),
        [
            (LESS, "0.900 [0.880, 0.920] | ≤ 1.25 | yes | 2.22 × |"),
            (MORE, "1.100 [1.080, 1.120] | ≤ 1.25 | yes | 1.82 × |"),
            (Ratio(1.6, 1.5, 1.7), "1.600 [1.500, 1.700] | ≤ 1.25 | NO | 1.25 × |"),
        ],
    )
    def test_the_table(self, times, cells):
        assert of_nodes([a_comparison(times, SAME)], 2).splitlines()[-1] == (
            f"| 1,000 rooms of two, 64 in flight | CPU µs a message | 101.00 | 98.00 | {cells} 1.000 [0.990, 1.010] |"
        )

    def test_what_clients_must_not_see_is_told(self):
        assert "| yes; NOT EXACT: lost one |" in of_nodes([a_comparison(LESS, SAME, "lost one")], 2)

    def test_what_is_measured_unless_asked_for(self):
        named = {case.name: case.times_one_node for case in CASES if case.times_one_node is not None}
        assert named == {"fanout-1000": 1.1, "rooms": 1.25, "post": 1.25, "idle": 1.05}

    def test_ports_in_a_row_are_free(self):
        ports = ports_in_a_row(3)
        assert len(ports) == 3
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", ports[-1]))


class TestOptions:
    @pytest.mark.parametrize(
        "options",
        [
            ["--against", "x", "--sessions", "0"],
            ["--against", "x", "--sessions", str(MOST_SESSIONS + 1)],
            ["--against", "x", "--rounds", "0"],
            ["--against", "x", "--record"],
            ["--against", "x", "--servers", "node"],
            ["--against", "x", "--only", "beside"],
            ["--record", "--quick"],
            ["--nodes", "1"],
            ["--nodes", str(MOST_NODES + 1)],
            ["--nodes", "2", "--against", "x"],
            ["--nodes", "2", "--record"],
            ["--nodes", "2", "--sessions", "0"],
            ["--nodes", "2", "--only", "beside"],
        ],
    )
    def test_what_does_not_go_together_is_refused(self, options):
        it = parser()
        with pytest.raises(SystemExit, match="2"):
            check(it, it.parse_args(options))

    def test_every_cost_of_a_unit_can_be_measured_in_turns(self):
        assert [case.name for case in CASES if case.unit not in UNITS] == ["beside"]


class TestWorktree:
    @pytest.fixture
    def root(self, tmp_path):
        def git(*arguments):
            own = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
            subprocess.run(
                ["git", *own, *arguments], cwd=tmp_path, check=True, capture_output=True, timeout=30
            )

        git("init", "--quiet")
        for text in ("old", "new"):
            (tmp_path / "file").write_text(text)
            git("add", "file")
            git("commit", "--quiet", "--message", text)
        return tmp_path

    def test_the_other_state_stands_beside_ours_until_the_end(self, root):
        with worktree("HEAD~1", root) as folder:
            assert (folder / "file").read_text() == "old"
            assert name_of(folder) != name_of(root)
        assert not folder.exists()
        assert (root / "file").read_text() == "new"

    def test_a_changed_state_is_marked(self, root):
        clean = name_of(root)
        (root / "file").write_text("newer")
        assert name_of(root) == f"{clean}+"

    def test_a_state_that_is_not_there(self, root):
        with pytest.raises(NoSuchState, match="nowhere"), worktree("nowhere", root):
            pass
