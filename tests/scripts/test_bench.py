"""The benchmarks' own parts: the compared programs serve the load, and the tables say what the rows say."""

import shutil
import subprocess

import pytest

from scripts.benchmarks import report
from scripts.benchmarks.__main__ import parser
from scripts.benchmarks.cases import CASES, plan, smaller
from scripts.benchmarks.measure import Row
from scripts.benchmarks.peers import PEER, NotHere
from scripts.benchmarks.servers import TITLES, serving
from scripts.benchmarks.staging import staged
from scripts.load import server_process
from scripts.load.plan import check
from scripts.load.run import Timing, carry_out
from scripts.load.workers import hire
from tests.support.waiting import PATIENCE_SECONDS

SHORT = Timing(warmup_seconds=0.1, interval_seconds=0.2)
FANOUT = {"users": 5, "conversations": 1, "members": 5, "senders": 2, "live": 5, "window": 2}


class TestCases:
    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_its_plan_can_be_carried_out_in_both_sizes(self, case):
        for one in (case, smaller(case)):
            check(plan(one.options, 1, "r"))
            check(plan(one.background or one.options, 1, "r"))

    def test_a_smaller_one_has_the_same_shape(self):
        for case in CASES:
            small = plan(smaller(case).options, 1, "r")
            assert (small.members > 2) == (plan(case.options, 1, "r").members > 2)


class TestPeers:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["c", "c-joined"])
    async def test_the_c_loop_delivers_each_message_once_and_in_order(self, name):
        if not (shutil.which("cc") or shutil.which("gcc")):
            pytest.skip("no C compiler on this machine")
        async with serving(name) as server, hire(1) as workers:
            stage = await staged(FANOUT, server)
            outcome = await carry_out(
                workers,
                stage.plan,
                SHORT,
                tokens=stage.tokens,
                conversations=stage.conversations,
                tick=lambda _seen: None,
                cpu_ns=lambda: server_process.cpu_ns(server.pid),
            )
        assert outcome.verdict.exact, outcome.verdict.examples
        interval = outcome.intervals[0]
        assert interval.acknowledged > 0
        assert interval.cpu_ns > 0
        assert interval.last.total > 0

    @pytest.mark.slow
    def test_the_node_server_is_javascript(self):
        program = shutil.which("node")
        if program is None:
            pytest.skip("no Node on this machine")
        subprocess.run([program, "--check", str(PEER / "server.js")], check=True, timeout=PATIENCE_SECONDS)

    async def test_what_is_missing_is_said(self, monkeypatch):
        monkeypatch.setenv("PATH", "")
        for name in ("node", "c"):
            with pytest.raises(NotHere, match="on this machine"):
                async with serving(name):
                    pass


def a_row(server: str, **fields: object) -> Row:
    return Row(case="fanout-1000", server=server, **fields)  # type: ignore[arg-type]


class TestReport:
    ROWS = (
        a_row("lean", cost=4.0, rate=210_000.0, p50_ms=3.0, last_p99_ms=11.5),
        a_row("stock", cost=70.0, rate=14_000.0, skipped=3),
        a_row("node", cost=6.0, rate=150_000.0, exact=False, note="out of order"),
        a_row("c", exact=True, note="no gcc on this machine"),
    )

    def test_costs_stand_beside_each_other_with_what_was_wanted(self):
        text = report.markdown(list(self.ROWS))
        assert (
            "| fan-out to 1,000, one sender | CPU µs a delivery | 4.00 | 70.0 | 6.00 | - | - | 1.50× "
            "| ≤ 5, ≥ 1.3×, last p99 ≤ 12 ms | yes, yes, yes |" in text
        )

    def test_a_rate_is_reached_when_a_full_core_reaches_it(self):
        text = report.markdown([a_row("lean", cost=4.0, rate=90_000.0)])
        assert "| fan-out to 1,000, one sender | 90,000 | - | - | - | - | 250,000 | 200,000 | yes |" in text

    def test_what_was_missed_is_not_called_reached(self):
        text = report.markdown([a_row("lean", cost=5.5, last_p99_ms=12.5), a_row("node", cost=6.0)])
        assert "| 1.09× | ≤ 5, ≥ 1.3×, last p99 ≤ 12 ms | no, no, no |" in text

    def test_what_could_not_be_measured_is_told(self):
        text = report.markdown(list(self.ROWS))
        assert "- fan-out to 1,000, one sender, C `send()`: no gcc on this machine" in text
        assert "| 3.00 | - | 11.5" in text
        assert text.count("| NO |") == 1

    def test_the_log_of_a_server_that_did_not_start_is_no_part_of_the_tables(self):
        text = report.markdown(
            [a_row("stock", note="the server did not get ready:\nTraceback of many lines\n")]
        )
        assert text.endswith("- fan-out to 1,000, one sender, stock: the server did not get ready")

    def test_the_tables_take_their_place_in_the_paper(self, tmp_path):
        paper = tmp_path / "PAPER.md"
        paper.write_text(f"before\n\n{report.BEGIN}\n\nold\n\n{report.END}\n\nafter\n")
        report.record("new", paper)
        assert paper.read_text() == f"before\n\n{report.BEGIN}\n\nnew\n\n{report.END}\n\nafter\n"

    def test_a_paper_without_the_place_is_left_alone(self, tmp_path):
        paper = tmp_path / "PAPER.md"
        paper.write_text("nothing")
        with pytest.raises(ValueError, match="lacks"):
            report.record("new", paper)
        assert paper.read_text() == "nothing"

    def test_our_paper_has_the_place(self):
        text = report.PAPER.read_text(encoding="utf-8")
        assert text.index(report.BEGIN) < text.index(report.END)
        for case in CASES:
            assert case.title in text


def test_every_server_can_be_asked_for():
    assert parser().parse_args(["--servers", *TITLES]).servers == list(TITLES)
