"""What is made of the code is made once, and again when the code has changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from routes.cli.remembered import remembered


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder of code."""
    folder = tmp_path / "code"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "one.py").write_text("one")
    return folder


@pytest.fixture
def ask(tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Ask for a text that tells how often it has been made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = []

    def make() -> str:
        made.append("made")
        return f"é\n{len(made)}"

    return lambda: remembered("text", make, [sources])


def test_it_is_made_once(ask: Callable[[], str]) -> None:
    assert [ask(), ask(), ask()] == ["é\n1"] * 3


@pytest.mark.parametrize(
    "change",
    [
        lambda inner: (inner / "one.py").write_text("other"),
        lambda inner: os.utime(inner / "one.py", ns=(5, 5)),
        lambda inner: (inner / "two.py").write_text(""),
        lambda inner: (inner / "one.py").rename(inner / "two.py"),
    ],
)
def test_it_is_made_again_after_a_change(
    ask: Callable[[], str], sources: Path, change: Callable[[Path], object]
) -> None:
    ask()
    change(sources / "inner")
    assert [ask(), ask()] == ["é\n2"] * 2


def test_bytecode_is_no_change(ask: Callable[[], str], sources: Path) -> None:
    ask()
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "one.pyc").write_text("")
    assert ask() == "é\n1"


@pytest.mark.parametrize("kept", ["", "half", "\n", "\udcff"])
def test_what_is_kept_and_broken_is_made_again(ask: Callable[[], str], tmp_path: Path, kept: str) -> None:
    ask()
    (tmp_path / "cache" / "partyline" / "text").write_text(kept, errors="surrogateescape")
    assert [ask(), ask()] == ["é\n2"] * 2
    assert [path.name for path in (tmp_path / "cache" / "partyline").iterdir()] == ["text"]


def test_where_it_cannot_be_kept_it_is_made_each_time(ask: Callable[[], str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    assert [ask(), ask()] == ["é\n1", "é\n2"]


def test_who_has_no_home_has_it_made_each_time(
    ask: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)  # of whom /etc/passwd knows nothing
    assert [ask(), ask()] == ["é\n1", "é\n2"]
