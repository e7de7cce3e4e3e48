"""`scripts/serve` makes the environment that what it is asked for needs."""

import os
import subprocess
from pathlib import Path
from shutil import copy

import pytest

from tests.contract.sources import ROOT


def checkout(folder: Path, extras: str) -> None:
    """A checkout whose environment has been made with some extras; its program prints its arguments."""
    for name in ("scripts/serve", "scripts/environment", "pyproject.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, folder / name)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "partyline"):
        (programs / name).write_text('#!/bin/sh\necho "$@"\n')
        (programs / name).chmod(0o755)
    made_from = subprocess.run(
        ["sh", "-c", 'echo "$(cksum <pyproject.toml) $PWD"'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    (programs.parent / f"made.{extras}").write_text(made_from.stdout)


@pytest.mark.parametrize(
    ("dotenv", "environment", "arguments", "extras"),
    [
        ("", {}, [], "fast"),
        ("", {}, ["--processes", "2"], "fast,nodes"),
        ("", {"PARTYLINE_PROCESSES": "2"}, [], "fast,nodes"),
        ("PARTYLINE_LOG=json\nPARTYLINE_PROCESSES=2\n", {}, [], "fast,nodes"),
        (" export PARTYLINE_PROCESSES = '2'\r\n", {}, [], "fast,nodes"),
        ("PARTYLINE_PROCESSES=2\n", {"PARTYLINE_PROCESSES": "1"}, [], "fast"),
        ("# PARTYLINE_PROCESSES=2\n", {}, [], "fast"),
        ("PARTYLINE_PROCESSES='1'\r\n", {}, [], "fast"),
    ],
)
def test_several_processes_bring_what_they_need(
    tmp_path: Path, dotenv: str, environment: dict[str, str], arguments: list[str], extras: str
) -> None:
    checkout(tmp_path, extras)
    if dotenv:
        (tmp_path / ".env").write_text(dotenv)
    started = subprocess.run(
        [tmp_path / "scripts" / "serve", *arguments],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHON": "/bin/false", **environment},  # nothing can be installed
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (started.returncode, started.stdout.split(), started.stderr) == (0, ["serve", *arguments], "")
