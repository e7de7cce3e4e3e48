"""Which modules run compiled: all or none, and none whose source is another one than was compiled."""

import importlib
import os
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path

import pytest

from compiled.finding import OBJECTS, Finder, Manifest, digest_of, hindrance, read_manifest, standing
from routes.cli.doctor import modules
from routes.cli.interpreter import Build, is_optimised
from scripts.compiling.groups import GROUPS

COMPILED = [name for group in GROUPS.values() for name in group]


def test_what_runs_is_what_was_asked_for():
    """`scripts/test --compiled` runs shared objects, and `scripts/test` none."""
    running = [
        name for name in COMPILED if isinstance(importlib.import_module(name).__loader__, ExtensionFileLoader)
    ]
    assert running == (COMPILED if os.environ.get("COMPILED") == "1" else [])
    assert standing().modules == tuple(sorted(running))


@pytest.fixture
def made(tmp_path: Path) -> Manifest:
    """What stands beside the objects of two sources, of which one was compiled."""
    (tmp_path / "rule.py").write_text("LIMIT = 3\n")
    (tmp_path / "base.py").write_text("LEAST = 1\n")
    (tmp_path / OBJECTS).mkdir(parents=True)
    (tmp_path / OBJECTS / "rule.so").touch()
    sources = {name: digest_of(tmp_path / name) or "" for name in ("rule.py", "base.py")}
    return Manifest(EXTENSION_SUFFIXES[0], sources, {"rule": "rule.so"})


def test_nothing_hinders_what_is_whole(tmp_path: Path, made: Manifest):
    (tmp_path / "rule.py").touch()
    assert hindrance(made, tmp_path) is None


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda root: (root / "rule.py").write_text("LIMIT = 4\n"), "rule.py has changed since"),
        (lambda root: (root / "base.py").write_text("LEAST = 2\n"), "base.py has changed since"),
        (lambda root: (root / "base.py").unlink(), "base.py has changed since"),
        (lambda root: (root / OBJECTS / "rule.so").unlink(), "rule.so is missing"),
    ],
    ids=["a source", "a source that it imports", "no source", "no object"],
)
def test_compiled_modules_are_not_used_once_a_file_differs(tmp_path: Path, made: Manifest, spoil, why: str):
    spoil(tmp_path)
    assert hindrance(made, tmp_path) == why


def test_objects_of_another_python_are_not_used(tmp_path: Path, made: Manifest):
    assert hindrance(made._replace(interpreter=".cpython-38-x.so"), tmp_path) == (
        "made for another Python (cpython-38-x.so)"
    )


@pytest.mark.parametrize("written", ["", "[]", '{"objects": {}}', '{"a": 1}'])
def test_a_manifest_that_cannot_be_read_is_none(tmp_path: Path, written: str):
    (tmp_path / "manifest.json").write_text(written)
    assert read_manifest(tmp_path) is None


def test_the_finder_knows_nothing_else(tmp_path: Path):
    finder = Finder({"rule": tmp_path / "rule.so"})
    assert finder.find_spec("rules") is None
    spec = finder.find_spec("rule")
    assert spec is not None
    assert spec.origin == str(tmp_path / "rule.so")


def test_the_doctor_says_what_runs():
    seen = standing()
    assert modules(seen._replace(modules=(), hindrance=None)).cure is None
    one_stale = modules(seen._replace(modules=(), hindrance="a.py has changed since"))
    assert "a.py has changed since" in str(one_stale)
    assert not one_stale.ill
    assert modules(seen._replace(modules=("a.b", "a.c", "d.e"), hindrance=None)).says == (
        "3 run compiled: 2 of a, 1 of d"
    )


PLAIN = Build("", "-O3", wants_library=False, uses_library=False)


@pytest.mark.parametrize(
    ("build", "optimised"),
    [
        (PLAIN, False),
        (PLAIN._replace(arguments="'--enable-shared'", wants_library=True, uses_library=True), False),
        (PLAIN._replace(arguments="'--enable-shared'", wants_library=True), True),
        (PLAIN._replace(arguments="'--enable-optimizations'"), True),
        (PLAIN._replace(arguments="'--with-lto=full'", wants_library=True, uses_library=True), True),
        (PLAIN._replace(flags="-O2 -flto=auto"), True),
    ],
    ids=["from source", "from source, as a library", "Debian", "with a profile", "with LTO", "flags"],
)
def test_an_optimised_interpreter(build: Build, optimised: bool):
    assert is_optimised(build) is optimised
