"""The command line in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE_SECONDS


def partyline(folder: Path, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
    environment |= {"PARTYLINE_DATA_DIR": str(folder), **settings}
    return subprocess.run(
        [str(Path(sys.executable).parent / "partyline"), *arguments],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
