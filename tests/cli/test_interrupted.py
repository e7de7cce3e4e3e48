"""Ctrl-C while a command or a start is under way."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routes.cli.main import main
from tests.support.process import PROGRAM, reachable_directory
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


@contextmanager
def _serving(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """A server that starts, whose output is all in one pipe."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PARTYLINE_")}
    environment |= {"PARTYLINE_DATA_DIR": str(folder / "data"), "PARTYLINE_BIND": "127.0.0.1:0"}
    with subprocess.Popen(
        [str(PROGRAM), "serve"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as served:
        try:
            yield served
        finally:
            served.kill()


def _told(served: "subprocess.Popen[str]", word: str) -> str:
    """What it prints, up to a line with a word in it."""
    assert served.stdout is not None
    said = ""
    while word not in said:
        line = served.stdout.readline()
        assert line, said
        said += line
    return said


@pytest.mark.parametrize("moment", ["made a database", "starting PostgreSQL", "migrated"])
def test_a_start_ends_without_a_traceback_and_can_be_repeated(moment: str) -> None:
    with reachable_directory() as folder:
        with _serving(folder) as served:
            _told(served, moment)
            served.send_signal(signal.SIGINT)
            rest, _ = served.communicate(timeout=PATIENCE_SECONDS)
            assert served.returncode == 128 + signal.SIGINT
            assert "Traceback" not in rest
        with _serving(folder) as served:
            assert "outlived" not in _told(served, "listens on")


def test_a_bug_beside_it_is_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise BaseExceptionGroup("", [KeyboardInterrupt(), ZeroDivisionError()])

    monkeypatch.setattr("routes.cli.main._routes", interrupted)
    with pytest.raises(BaseExceptionGroup):
        main(["routes"])
