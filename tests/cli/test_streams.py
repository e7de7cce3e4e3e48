"""Standard streams that are closed, or on a full disk: they cost what is printed there, and nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import structlog

from routes.announcing import announce
from routes.cli import streams
from routes.config.config import read_config
from routes.logs import configure_logging
from tests.support.process import PROGRAM, children_of, reachable_directory
from tests.support.waiting import PATIENCE_SECONDS, wait_until

SCRIPT = "import sys; from routes.cli.main import main; sys.exit(main(sys.argv[1:]))"

FULL = Path("/dev/full")


def _run(shell: str, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command with its streams led elsewhere by a shell."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        cwd=folder,
        check=False,
        timeout=PATIENCE_SECONDS,
        env={**os.environ, "PYTHONPATH": str(Path(streams.__file__).parents[2])},
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_does_its_work(closed: str, tmp_path: Path) -> None:
    done = _run(closed, tmp_path, "routes")
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    script = (
        "import os; from routes.cli.streams import open_missing; open_missing(); os.write(1, b'lost'); "
        "print('lost'); made = open('made', 'w'); assert made.fileno() > 2; assert os.get_inheritable(1)"
    )
    command = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(Path(streams.__file__).parents[2])}
    assert subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode == 0
    assert (tmp_path / "made").read_bytes() == b""


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1", "utf-8:strict"])
def test_what_an_encoding_does_not_have_is_spelled_out(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    monkeypatch.setenv("PARTYLINE_DATA_DIR", os.fsdecode(b"\xff"))
    done = _run("", tmp_path, "doctor")
    assert b"Traceback" not in done.stderr
    assert b"\\udcff will be made" in done.stdout
    assert ("→" if encoding.startswith("utf-8") else "\\u2192") in done.stdout.decode()


@pytest.mark.parametrize("command", ["routes", "config", "--version"])
def test_output_that_cannot_be_written_is_one_line(command: str, tmp_path: Path) -> None:
    done = _run(f">{FULL}", tmp_path, command)
    said = b"partyline: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("arguments", [["routes"], ["token", "--name", ""]])
def test_complaints_that_cannot_be_written_change_no_status(arguments: Sequence[str], tmp_path: Path) -> None:
    assert _run(f"2>{FULL}", tmp_path, *arguments).returncode == (0 if arguments == ["routes"] else 1)


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_log_that_cannot_be_written_stops_nobody_who_logs(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        monkeypatch.setattr(sys, "stdout", full)
        configure_logging(read_config({"PARTYLINE_LOG": form}))
        try:
            for _ in range(1000):
                structlog.get_logger().error("a line")
            announce("listens")
        finally:
            streams.let_go()


@pytest.mark.slow
async def test_a_server_outlives_whoever_read_its_log() -> None:
    """PostgreSQL is killed when nobody reads the log any more, so the task that starts it again has lines to write."""
    with reachable_directory() as folder:
        reading, writing = os.pipe()
        environment = {name: text for name, text in os.environ.items() if not name.startswith("PARTYLINE_")}
        environment |= {"PARTYLINE_DATA_DIR": str(folder / "data"), "PARTYLINE_BIND": "127.0.0.1:0"}
        served = subprocess.Popen(  # noqa: ASYNC220 — nobody else is there
            [str(PROGRAM), "serve"], cwd=folder, env=environment, stdout=writing, stderr=writing
        )
        try:
            os.close(writing)
            said = ""
            with os.fdopen(reading) as told:
                while "listens on" not in said:
                    line = told.readline()
                    assert line, said
                    said += line
            ((postgres, _),) = before = children_of(served.pid)
            os.kill(postgres, signal.SIGKILL)

            async def is_back() -> bool:
                return served.poll() is not None or bool(children_of(served.pid) - before)

            await wait_until(is_back)
            assert served.poll() is None
            served.send_signal(signal.SIGTERM)
            assert served.wait(PATIENCE_SECONDS) == 0
        finally:
            served.kill()
            served.wait()
