"""Programs of Node, installed once from npm into `.interop`."""

import json
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(".interop")

INSTALL_SECONDS = 300
RUN_SECONDS = 120


class NoNode(Exception):
    """Programs of Node cannot run here; the message says why, in a few words."""


class Differs(Exception):
    """A program has found something else than the service has said; the message says what."""


def expect(what: str, found: object, expected: object) -> None:
    """Check that a program has found what was expected.

    Args:
        what: names the thing that is compared, for the message.

    Raises:
        Differs: they are not equal.
    """
    if found != expected:
        raise Differs(f"{what}: {found!r:.500} and not {expected!r:.500}")


def install(*packages: str) -> None:
    """Install packages from npm, each `name@version`, unless they are there.

    Raises:
        NoNode: there is no Node or npm, or the registry does not answer.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise NoNode(f"{program} is not installed")
    FOLDER.mkdir(exist_ok=True)
    if all(_is_there(package) for package in packages):
        return
    command = [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(FOLDER),
        *packages,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoNode("npm does not come to an end") from None
    if done.returncode:
        raise NoNode(f"npm cannot install {', '.join(packages)}")


def run(script: Path, *arguments: str) -> object:
    """Run a script that prints JSON; returns that. Blocks, so it is called in a worker thread.

    Args:
        script: the path of a CommonJS script.
        arguments: the script's arguments.

    Raises:
        Differs: the script failed.
    """
    done = subprocess.run(
        ["node", str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
        env=environment(),
    )
    if done.returncode:
        raise Differs(done.stderr.strip())
    return json.loads(done.stdout)


def environment() -> dict[str, str]:
    """The environment variables with which a script finds the installed packages."""
    return {"NODE_PATH": str((FOLDER / "node_modules").resolve()), "PATH": _path()}


def _is_there(package: str) -> bool:
    name, _, version = package.rpartition("@")
    try:
        manifest = json.loads((FOLDER / "node_modules" / name / "package.json").read_text("utf-8"))
    except OSError:
        return False
    return bool(manifest["version"] == version)


def _path() -> str:
    return str(Path(shutil.which("node") or "").parent)
