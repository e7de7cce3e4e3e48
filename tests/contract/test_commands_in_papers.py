"""Commands in the papers are taken by the programs that they name, and links between the papers lead somewhere."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from routes.cli.main import main as partyline
from scripts.game_server.__main__ import main as agent
from scripts.gateway_node.__main__ import main as gateway
from scripts.geoip.__main__ import main as fetch_geoip
from scripts.upstreams.__main__ import main as upstream
from scripts.voice_node.__main__ import main as voice
from tests.contract.sources import ROOT

PROGRAMS: dict[str, Callable[[], object]] = {
    "partyline": partyline,
    "partyline-agent": agent,
    "partyline-gateway": gateway,
    "partyline-fetch-geoip": fetch_geoip,
    "partyline-voice": voice,
    "scripts/agent": agent,
    "scripts/gateway": gateway,
    "scripts/fetch-geoip": fetch_geoip,
    "scripts/upstream": upstream,
    "scripts/voice": voice,
}
PAPERS = [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"]
BEFORE = r"(?:^|[`;&|(] *|/bin/|exec \S+ |\w+=\S+ |\$ )"
COMMAND = re.compile(
    rf"{BEFORE}({'|'.join(sorted(PROGRAMS, key=len, reverse=True))})(?: ([^`;&|#)\n]*))?(?=[`;&|#)\n])",
    re.MULTILINE,
)
BY_THEMSELVES = {"--help", "--version"}


@pytest.fixture
def helps(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What `PROGRAM [SUBCOMMAND …] --help` prints, "" where it is no command."""

    @cache
    def asked(program: str, *words: str) -> str:
        monkeypatch.setattr(sys, "argv", [program, *words, "--help"])
        with pytest.raises(SystemExit) as ended:
            PROGRAMS[program]()
        said = capsys.readouterr().out
        return said if ended.value.code == 0 else ""

    return asked


def commands() -> Iterator[tuple[str, str, list[str]]]:
    """(paper, program, the words behind it) of every command that is printed."""
    for paper in PAPERS:
        text = re.sub(r"\\\n\s*", "", paper.read_text("utf-8"))
        for program, rest in COMMAND.findall(text):
            yield paper.name, program, rest.split()


def wrong(helps: Callable[..., str], program: str, words: list[str]) -> str | None:
    """What of a command its program does not take; None if it takes all."""
    said, path = helps(program), []
    for word in words:
        if word.startswith("-") or not re.search(r"\{[\w,-]+\}|COMMAND", said):
            break
        path.append(word)
        if not (said := helps(program, *path)):
            return word
    options = {word.partition("=")[0] for word in words if re.match(r"--\w", word)} - BY_THEMSELVES
    missing = {option for option in options if not re.search(rf"{option}\b", said)}
    return min(missing, default=None)


def test_commands_are_taken_by_their_programs(helps: Callable[..., str]) -> None:
    found = list(commands())
    assert {program for _, program, _ in found} == PROGRAMS.keys()
    faulty = [one for one in found if wrong(helps, one[1], one[2])]
    assert not faulty


def test_links_between_the_papers_lead_somewhere() -> None:
    broken = []
    for paper in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]):
        for target, anchor in re.findall(r"\]\((?!\w+:)([\w./-]*)(?:#([\w-]+))?\)", paper.read_text("utf-8")):
            place = paper.parent / target if target else paper
            if not place.exists() or (anchor and anchor not in anchors(place.read_text("utf-8"))):
                broken.append((paper.name, target, anchor))
    assert not broken


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a paper."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
