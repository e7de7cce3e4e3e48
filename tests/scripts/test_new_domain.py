"""`scripts/new-domain` writes what compiles, keeps the rules of the project, and passes its own test.

It is tried on a copy of the tree, so that a run that breaks leaves nothing behind.
"""

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
    """The tree without what a run leaves in it."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
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


@pytest.mark.slow
def test_new_domains_are_whole(checkout: Path):
    """One of each sort, in one copy: it is the type checker that takes its time."""
    written = [
        *write_domain(checkout, "game_badges", live=False),
        *write_domain(checkout, "orders", live=True),
    ]
    tidy(checkout, written)
    files = [str(path.relative_to(checkout)) for path in written if path.stem in ("game_badges", "orders")]
    tests = ["tests/test_game_badges.py", "tests/test_orders.py"]
    contract = [f"tests/contract/test_{name}.py" for name in ("layers", "invariants", "endpoints")]
    for tool in (
        ("ruff", "check", *files, *tests),
        ("ruff", "format", "--check", *files, *tests),
        ("mypy", "--cache-dir", str(ROOT / ".mypy_cache"), *files),
        ("pytest", "-q", "-p", "no:cacheprovider", *tests, *contract),
    ):
        done = _run(checkout, *tool)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_name_that_is_taken_is_refused(checkout: Path):
    before = sorted(path for path in checkout.rglob("*") if path.is_file())
    for name in ("chat", "users", "errors"):
        with pytest.raises(CannotWrite):
            write_domain(checkout, name, live=False)
    assert sorted(path for path in checkout.rglob("*") if path.is_file()) == before


@pytest.mark.parametrize("name", ["", "Badges", "1st", "a-b", "a__b", "../x", "a.b"])
def test_only_names_of_modules_are_taken(name: str):
    with pytest.raises(CannotWrite):
        names_of(name)


def test_the_spellings_of_a_name():
    names = names_of("game_orders")
    assert names.fill("@domain@ @thing@ @Thing@ @THING@ @wire@ @words@ @Things@ @an@") == (
        "game_orders game_order GameOrder GAME_ORDER gameOrder game order Game orders a"
    )
    assert names_of("orders").fill("@An@ @thing@") == "An order"
