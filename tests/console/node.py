"""Node, for what of the console runs without a browser."""

import subprocess
from pathlib import Path
from shutil import copy, copytree, which

import pytest
import trio

from tests.contract.sources import ROOT
from tests.support.waiting import patience

CLIENT = ROOT / "routes/console/static/client"
"""The folder of the client module."""

BY_HAND = Path(__file__).parent / "by_hand.js"
"""What programs import as `./by_hand.mjs`: sockets and time that they have in hand."""


def node() -> list[str] | None:
    """How Node is called so that it has WebSockets: from 22 on as it is, 20 and 21 with a flag."""
    path = which("node")
    if path is None:
        return None
    version = int(
        subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        .stdout[1:]
        .split(".")[0]
    )
    return None if version < 20 else [path] if version >= 22 else [path, "--experimental-websocket"]


async def run_beside_client(folder: Path, program: str, *arguments: str) -> str:
    """Run a program in Node, in a folder with the client; returns what it says. Without Node the test is skipped."""
    command = node()
    if command is None:
        pytest.skip("no Node with WebSockets here: apt-get install nodejs (20 or newer)")
    copytree(CLIENT, folder / "client")
    (folder / "client/package.json").write_text('{"type": "module"}')
    copy(BY_HAND, folder / "by_hand.mjs")
    (folder / "program.mjs").write_text(program)
    with patience():
        done = await trio.run_process(
            [*command, "program.mjs", *arguments],
            cwd=folder,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    said = done.stdout.decode()
    assert done.returncode == 0, said + done.stderr.decode()
    return said
