"""Node, for what of the console runs without a browser."""

import subprocess
from shutil import which

from tests.contract.sources import ROOT

CLIENT = ROOT / "routes/console/static/client"
"""The folder of the client module."""


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
