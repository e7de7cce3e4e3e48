"""Ctrl-C and SIGTERM while a command or a start is under way."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routes.cli.main import main
from tests.support.forked import Forked, output_of
from tests.support.process import PROGRAM, reachable_directory
from tests.support.waiting import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.slow

LARGE_BYTES = 4 << 30  # of a file with nothing in it, which takes no room
MIDWAY_BYTES = 16 << 20


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


@pytest.mark.drill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["made a database", "starting PostgreSQL", "migrated"])
def test_a_start_ends_in_order_and_can_be_repeated(moment: str, number: signal.Signals) -> None:
    """As a system does that is stopped while its services start: SIGTERM, without a word about our tools."""
    ends = 128 + signal.SIGINT if number == signal.SIGINT else -signal.SIGTERM
    with reachable_directory() as folder:
        with _serving(folder) as served:
            _told(served, moment)
            served.send_signal(number)
            rest, _ = served.communicate(timeout=PATIENCE_SECONDS)
            assert served.returncode in {ends, 0}, rest  # 0: it had begun to serve by then
            assert "Traceback" not in rest
            assert "Warning" not in rest
        with _serving(folder) as served:
            assert "outlived" not in _told(served, "listens on")


@pytest.mark.parametrize("in_background", [False, True])
async def test_a_backup_that_is_told_to_end_leaves_nothing(
    in_background: bool, database_url: str, tmp_path: Path
) -> None:
    """What a timer has begun is ended by SIGTERM when the machine goes down; half a backup may be gigabytes."""
    backups, shared, printed = tmp_path / "backups", tmp_path / "shared", tmp_path / "printed"
    environment = {
        "PATH": "/usr/bin:/bin",
        "PARTYLINE_DATABASE_URL": database_url,
        "PARTYLINE_DATA_DIR": str(shared),
    }
    await output_of(("token", "--name", "Ann"), environment)
    blob = shared / "blobs" / "ab" / ("ab" * 32)
    blob.parent.mkdir(parents=True)
    with blob.open("wb") as file:
        file.truncate(LARGE_BYTES)
    backups.mkdir()
    command = Forked(
        ("backup", str(backups / "b")),
        environment=environment,
        folder=tmp_path,
        output=printed,
        errors=printed,
        in_background=in_background,
    )

    async def is_midway() -> bool:
        assert command.poll() is None, printed.read_text()
        return any(path.stat().st_size > MIDWAY_BYTES for path in backups.iterdir())

    try:
        await wait_until(is_midway)
        if in_background:
            command.send_signal(signal.SIGINT)
            so_far = next(backups.iterdir()).stat().st_size

            async def is_going_on() -> bool:
                assert command.poll() is None, printed.read_text()
                return next(backups.iterdir()).stat().st_size > so_far + MIDWAY_BYTES

            await wait_until(is_going_on)
        command.send_signal(signal.SIGTERM)
        assert await command.wait() == -signal.SIGTERM
    finally:
        command.kill()
    assert printed.read_text() == ""
    assert list(backups.iterdir()) == []


def test_a_bug_beside_it_is_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise BaseExceptionGroup("", [KeyboardInterrupt(), ZeroDivisionError()])

    monkeypatch.setattr("routes.cli.main._routes", interrupted)
    with pytest.raises(BaseExceptionGroup):
        main(["routes"])
