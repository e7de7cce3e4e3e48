"""The Autobahn fuzzing client against our server, where it is installed; what it found stands in docs/autobahn.md.

What it checks of the protocol is checked without it too, case by case, in `test_frame_reader.py` and
`test_websocket.py`.
"""

import shutil
from pathlib import Path

import pytest

from tests.edge.autobahn import AGENTS, VERSION, Agent, Verdict, deviations, fuzz, page

ROOT = Path(__file__).parents[3]

QUICK: dict[Agent, list[str]] = {
    "asgi": [*(f"{number}.*" for number in range(1, 8)), "9.3.1", "10.*"],
    "live": ["1.1.*", *(f"{number}.*" for number in range(2, 8)), "9.3.1", "12.1.1", "12.1.11", "13.2.1"],
}
"""Every rule, and a little of size and of compression; `scripts/autobahn` runs all cases."""

INSTALLED = shutil.which("wstest", path=str(ROOT / ".autobahn" / "bin")) or shutil.which("wstest")


@pytest.mark.slow
@pytest.mark.skipif(
    INSTALLED is None,
    reason="Autobahn's wstest is not installed: scripts/autobahn --install makes .autobahn from PyPI, given Python 2.7",
)
@pytest.mark.parametrize("agent", AGENTS)
async def test_the_fuzzing_client_finds_nothing(tmp_path: Path, agent: Agent) -> None:
    assert INSTALLED is not None
    report = await fuzz(Path(INSTALLED), agent, QUICK[agent], tmp_path)
    assert report, "no case was run"
    assert deviations(agent, report) == {}


def test_only_what_is_accepted_may_deviate() -> None:
    fine, failed = Verdict("OK", "OK"), Verdict("FAILED", "FAILED")
    assert deviations("live", {"1.1.1": fine, "1.2.1": failed}) == {}
    assert deviations("live", {"1.1.1": failed}) == {"1.1.1": failed}
    # Another verdict than the accepted one is news.
    assert deviations("asgi", {"3.2": Verdict("NON-STRICT", "OK"), "3.3": failed}) == {"3.3": failed}


def test_cases_that_fared_alike_share_a_line() -> None:
    fine, failed = Verdict("OK", "OK"), Verdict("FAILED", "UNCLEAN")
    told = page({"asgi": {"1.1.1": fine, "1.1.2": fine, "1.2.1": fine}, "live": {"1.2.1": failed}})
    assert "| 1.1.1–1.1.2 | OK |  |\n| 1.2.1 | OK | FAILED, closing UNCLEAN |" in told


def test_the_result_in_the_repository_is_of_this_version() -> None:
    assert f"({VERSION})" in (ROOT / "docs" / "autobahn.md").read_text()
