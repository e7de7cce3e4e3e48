"""The papers say what is so: names in them exist, every dependency has its reason."""

import re
import tomllib

import pytest

from tests.contract.sources import LAYERS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAPERS = (
    "README.md",
    "ARCHITECTURE.md",
    "DECISIONS.md",
    *(f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md"))),
)


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_dependency_has_its_reason():
    extras = [one for group in PROJECT["optional-dependencies"].values() for one in group]
    named = {re.split(r"[<>=~! \[]", line, maxsplit=1)[0] for line in (*PROJECT["dependencies"], *extras)}
    rows = [line for line in _text("DECISIONS.md").splitlines() if line.startswith("| ")]
    reasons = " ".join(row.split("|")[1] for row in rows)
    missing = [name for name in sorted(named) if not re.search(rf"\b{re.escape(name)}\b", reasons)]
    assert not missing, missing


def test_the_version_has_its_entry():
    assert f"## [{PROJECT['version']}]" in _text("CHANGELOG.md")


def test_decisions_stand_below_the_areas_that_their_contents_name():
    """The contents name all areas in order, each decision stands below one, and no title is there twice."""
    text = _text("DECISIONS.md")
    contents = re.findall(r"^- \[(.+)\]\(#(.+)\)$", text, re.MULTILINE)
    areas = re.findall(r"^## (.+)$", text, re.MULTILINE)
    decisions = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert [area for area, _ in contents] == areas
    for area, anchor in contents:
        assert anchor == re.sub(r"[^\w -]", "", area.lower()).replace(" ", "-")
    assert all(
        part.lstrip().startswith("### ") for part in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:]
    )
    assert len({*decisions}) == len(decisions)


@pytest.mark.parametrize("paper", PAPERS)
def test_paths_in_the_papers_exist(paper: str):
    named = re.findall(
        r"`((?:routes|actors|persistence|tests|scripts|docs|deploy|partyline)/[\w./-]*)[^`]*`", _text(paper)
    )
    missing = [path for path in named if not (ROOT / path).exists()]
    assert not missing, missing


def test_modules_named_alone_exist():
    """`fanout.py` in the architecture is the name of some module."""
    modules = {path.name for layer in (*LAYERS, "partyline") for path in (ROOT / layer).rglob("*.py")}
    named = set(re.findall(r"`(\w+\.py)`", _text("ARCHITECTURE.md")))
    assert named <= modules, named - modules


@pytest.mark.parametrize("folder", [*LAYERS, "routes/edge", "actors/kernel", "actors/kernel/nodes"])
def test_modules_that_belong_to_no_domain_are_on_the_map(folder: str):
    """A domain has the same files everywhere; what lies beside the domains is found by the map alone."""
    named = set(re.findall(r"\b(\w+\.py)\b", _text("ARCHITECTURE.md")))
    modules = {path.name for path in (ROOT / folder).glob("*.py") if not path.name.startswith("__")}
    assert modules <= named, modules - named


def test_modules_named_beside_their_folder_lie_there():
    """The table of the edge's folders."""
    rows = re.findall(r"^ *\| `(\w+)/` \|(.*)\|$", _text("ARCHITECTURE.md"), re.MULTILINE)
    named = [
        ROOT / "routes/edge" / folder / name
        for folder, says in rows
        for name in re.findall(r"`(\w+\.py)`", says)
    ]
    assert named
    assert not [path for path in named if not path.exists()]


@pytest.mark.parametrize("paper", ["ARCHITECTURE.md", "DECISIONS.md", "BENCHMARKS.md"])
def test_what_a_class_is_said_to_have_it_has(paper: str):
    """`Rendering.event_key` is said where `Rendering` is defined."""
    named = set(re.findall(r"`([A-Z]\w+)\.(\w+)`", _text(paper)))
    texts = [path.read_text(encoding="utf-8") for layer in LAYERS for path in (ROOT / layer).rglob("*.py")]
    for owner, name in sorted(named):
        homes = [text for text in texts if re.search(rf"^class {owner}\b", text, re.MULTILINE)]
        assert not homes or any(re.search(rf"\b{name}\b", text) for text in homes), f"{owner}.{name}"


def test_the_license_is_the_one_that_is_named():
    assert PROJECT["license"] == "Apache-2.0"
    text = _text("LICENSE")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_every_script_explains_itself():
    """Each starts with the reason for it; what is not to be run is to be sourced."""
    for path in sorted((ROOT / "scripts").iterdir()):
        if path.is_file() and not path.suffix:
            lines = path.read_text(encoding="utf-8").splitlines()
            if path.stat().st_mode & 0o111:
                assert lines.pop(0) == "#!/bin/sh", path.name
            assert lines[0].startswith("# "), path.name
