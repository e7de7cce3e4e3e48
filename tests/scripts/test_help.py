"""Who asks a script for help gets an answer, and nothing is made, installed or changed for that."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.sources import ROOT

SCRIPTS = [
    path.name for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and os.access(path, os.X_OK)
]


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_needs_no_environment(asked: str, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    for name in (*SCRIPTS, "environment"):
        (folder / name).write_bytes((ROOT / "scripts" / name).read_bytes())
        (folder / name).chmod(0o755)
    assert "compile" in SCRIPTS
    for name in SCRIPTS:
        told = subprocess.run(
            [folder / name, asked],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHON": "/bin/false"},  # nothing can be installed
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (told.returncode, told.stderr) == (0, ""), name
        assert len(told.stdout.splitlines()) >= 2, name
    assert list(tmp_path.iterdir()) == [folder]
    assert len(list(folder.iterdir())) == len(SCRIPTS) + 1
