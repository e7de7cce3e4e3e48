"""What the compared programs need of this machine: Node with two packages of npm, and a C compiler.

Where something is missing, its column stays empty and says why; our own figures need none of it.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

PEER = Path(__file__).resolve().parent / "peer"
INSTALL_SECONDS = 300
COMPILE_SECONDS = 60


class NotHere(Exception):
    """This machine lacks a program; the message is one line that says which."""


def node() -> str:
    """The path of Node; raises `NotHere`."""
    return _program("node")


def node_version() -> str | None:
    """The version that `node --version` prints; None without Node."""
    try:
        done = subprocess.run([node(), "--version"], capture_output=True, text=True, timeout=30, check=False)
    except NotHere:
        return None
    return done.stdout.strip() or None


def installed() -> Path:
    """The folder `node_modules` with what the Node server needs, installed by npm the first time.

    It lies in the user's cache, one for each content of `package.json`.

    Raises:
        NotHere: npm is not installed, or does not reach its registry.
    """
    npm, wanted = _program("npm"), (PEER / "package.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "partyline-bench" / hashlib.sha256(wanted).hexdigest()[:12]
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_bytes(wanted)
        command = [npm, "install", "--omit=optional", "--no-audit", "--no-fund"]
        _run(command, folder, INSTALL_SECONDS, "npm does not install ws and pg")
        (folder / "complete").touch()
    return folder / "node_modules"


def compiled(folder: Path) -> Path:
    """Compile the C program into `folder`; returns its path.

    Raises:
        NotHere: there is no C compiler, or it fails.
    """
    compiler = shutil.which("cc") or _program("gcc")
    program = folder / "limit"
    command = [compiler, "-O2", "-o", str(program), str(PEER / "limit.c")]
    _run(command, folder, COMPILE_SECONDS, "the C program does not compile")
    return program


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NotHere(f"no {name} on this machine")
    return found


def _run(command: list[str], folder: Path, seconds: int, failure: str) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotHere(f"{failure}: no end within {seconds} s") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotHere(f"{failure}: {''.join(last)[:200]}")
