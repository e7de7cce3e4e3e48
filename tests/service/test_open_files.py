"""Connections are held against the limit of open files."""

import resource
import subprocess
import sys

import pytest

from routes.open_files import SPARE, affordable, make_room, wanted_limit

FREE = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "room"),
    [
        (1024, 524_288, 20_000 + SPARE, 20_000),
        (1024, FREE, 20_000 + SPARE, 20_000),
        (FREE, FREE, FREE, 20_000),
        (100_000, 524_288, 100_000, 20_000),
        (1024, 4096, 4096, 4096 - SPARE),
        (256, 256, 256, 1),
    ],
)
def test_no_more_connections_than_files(soft: int, hard: int, wanted: int, room: int) -> None:
    limit = wanted_limit(20_000, soft, hard)
    assert (limit, affordable(20_000, limit)) == (wanted, room)


def test_the_limit_is_raised_and_what_is_missing_is_told() -> None:
    """In a process of its own: a hard limit cannot be taken back."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (600, 1000))\n"
        "from routes.config.config import read_config\n"
        "from routes.process import _affordable\n"
        "print(_affordable(read_config({})).max_connections, resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{1000 - SPARE} (1000, 1000)"
    assert "leaves room for 488 connections, not for PARTYLINE_MAX_CONNECTIONS=20000" in done.stdout


def test_this_process_has_room_for_itself() -> None:
    assert make_room(1) == 1
