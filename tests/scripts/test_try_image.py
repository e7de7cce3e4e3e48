"""What `scripts/try-image` runs is what docs/install.md says to type."""

import shlex
import subprocess
import sys

from scripts.image.engine import CONFINED
from tests.contract.sources import ROOT


def documented(command: str) -> list[str]:
    """The words of the command in docs/install.md that begins like this."""
    text = (ROOT / "docs" / "install.md").read_text().replace("\\\n", " ")
    (line,) = (line for line in text.splitlines() if line.startswith(command))
    return shlex.split(line)


def test_the_container_is_confined_as_documented() -> None:
    words = documented("docker run ")
    options = words[2 : words.index("--publish")]
    assert [word for word in options if word not in ("--detach", "--name", "partyline")] == list(CONFINED)


def test_an_engine_that_is_not_there_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.image", "--engine", "/nowhere/podman"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (
        1,
        "",
        "try-image: there is no /nowhere/podman here\n",
    )
