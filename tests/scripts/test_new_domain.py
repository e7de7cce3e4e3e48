"""`scripts/new-domain` writes what compiles, keeps the rules of the project, and passes its own test.

It is tried on a copy of the tree, so that a run that breaks leaves nothing behind.
"""

import difflib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.domain.__main__ import CannotWrite, names_of, tidy, write_domain
from tests.contract.sources import ROOT

COPIED = ("routes", "actors", "persistence", "tests", "scripts")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The tree, with the bytecode that a run has left in it: compiling a thousand files takes longer than the tests."""
    ignored = shutil.ignore_patterns(".*")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def _run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A tool in the copy, with the copy's packages before the installed ones."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _texts(checkout: Path) -> dict[str, str]:
    """{path: text} of all Python, SQL and tables."""
    return {
        path.relative_to(checkout).as_posix(): path.read_text(encoding="utf-8")
        for folder in COPIED
        for path in (checkout / folder).rglob("*")
        if path.suffix in (".py", ".sql", ".csv", ".md")
    }


def _added(before: str, after: str) -> list[str]:
    """The lines that a text has more than before; none may be gone."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    assert not [line for line in lines if line.startswith("- ")]
    return [line[2:].strip() for line in lines if line.startswith("+ ")]


@pytest.mark.parametrize(("name", "live"), [("game_badges", False), ("guestbook", True)])
def test_a_domain_adds_one_line_outside_of_its_folders(checkout: Path, name: str, live: bool) -> None:
    before = _texts(checkout)
    written = write_domain(checkout, name, live=live)
    tidy(checkout, written)
    after = _texts(checkout)
    changed = {path for path, text in after.items() if text != before.get(path)}
    assert {path.relative_to(checkout).as_posix() for path in written} == changed
    elsewhere = {
        path: _added(before.get(path, ""), text)
        for path, text in after.items()
        if text != before.get(path) and path.split("/")[1] != name and "/migrations/" not in path
    }
    [migration] = [text for path, text in after.items() if "/migrations/" in path and path not in before]
    assert migration.startswith("-- expands\n")
    record = name.upper()
    assert elsewhere == {"routes/domains.py": [f"from routes.{name}.domain import {record}", f"{record},"]}


@pytest.mark.drill
def test_new_domains_are_whole(checkout: Path):
    """One of each sort, in one copy: it is the type checker that takes its time."""
    written = [
        *write_domain(checkout, "game_badges", live=False),
        *write_domain(checkout, "guestbook", live=True),
    ]
    tidy(checkout, written)
    files = [str(path.relative_to(checkout)) for path in written if path.suffix == ".py"]
    typed = [
        file for file in files if file.split("/")[1] in ("game_badges", "guestbook") and "tests" not in file
    ]
    contract = [
        f"tests/contract/test_{name}.py"
        for name in ("layers", "endpoints", "parts", "changes", "docstrings", "bounds", "snapshots", "unused")
    ]
    repeated = "test_rows_are_read_and_a_repeat_makes_it_once"
    tables = [
        "tests/users/test_export_wire.py::test_whatever_refers_to_a_user_is_exported_or_left_out_for_a_reason",
        "tests/service/test_unknown_outcomes_of_rows_wire.py::test_no_domain_is_missing",
        "tests/census/test_nothing_grows_wire.py",
        *(
            f"tests/service/test_unknown_outcomes_of_rows_wire.py::{repeated}[{case}-{landed}]"
            for case in ("a_new_game_badge", "a_new_guestbook")
            for landed in (True, False)
        ),
    ]
    for tool in (
        ("ruff", "check", *files),
        ("ruff", "format", "--check", *files),
        ("mypy", "--cache-dir", str(ROOT / ".mypy_cache"), *typed),
        (
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/game_badges",
            "tests/guestbook",
            *contract,
            *tables,
        ),
    ):
        done = _run(checkout, *tool)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_name_that_is_taken_is_refused(checkout: Path):
    before = sorted(path for path in checkout.rglob("*") if path.is_file())
    for name in ("chat", "users", "errors"):
        with pytest.raises(CannotWrite):
            write_domain(checkout, name, live=False)
    assert sorted(path for path in checkout.rglob("*") if path.is_file()) == before


@pytest.mark.parametrize("name", ["", "Badges", "1st", "a-b", "a__b", "../x", "a.b", "class", "imports"])
def test_only_names_of_modules_are_taken(name: str):
    with pytest.raises(CannotWrite):
        names_of(name)


@pytest.mark.parametrize("thing", ["Story", "a-b", "class", "x" * 25])
def test_so_are_names_of_things(thing: str):
    with pytest.raises(CannotWrite):
        names_of("stories", thing)


def test_the_spellings_of_a_name():
    names = names_of("game_orders")
    assert names.fill("@domain@ @thing@ @Thing@ @THING@ @wire@ @words@ @Things@ @an@") == (
        "game_orders game_order GameOrder GAME_ORDER gameOrder game order Game orders a"
    )
    assert names_of("orders").fill("@An@ @thing@") == "An order"
    assert names_of("stories", "story").fill("@domain@ @thing@ @Thing@") == "stories story Story"
