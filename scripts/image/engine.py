"""A container engine by its command line: Docker, or Podman, which takes the same commands."""

import subprocess
import sys
from collections.abc import Sequence

CONFINED = (
    "--init", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",  # noqa: S108
    "--shm-size", "256m", "--ulimit", "nofile=65536", "--stop-timeout", "45",
)  # fmt: skip
"""The options with which docs/install.md confines a container."""

BUILD_SECONDS = 3600
COMMAND_SECONDS = 120


class EngineFault(Exception):
    """The engine, or a command in a container, has failed; the message is what it said."""


class Engine:
    """Commands of one engine.

    Args:
        program: `docker`, `podman`, or the path of either.
    """

    def __init__(self, program: str) -> None:
        self._program = program

    def build(self, tag: str, base: str | None) -> None:
        """Build the image from the working directory; what the engine says about it goes to stderr.

        Args:
            tag: the image's name.
            base: an image with Python 3.11 or 3.12 to build on; None for the one that the Dockerfile names.

        Raises:
            EngineFault: the image cannot be built.
        """
        # In Docker's format: OCI's, which is Podman's default, has no health check.
        form = ("--format", "docker") if self._program.rpartition("/")[2] == "podman" else ()
        based = () if base is None else ("--build-arg", f"PYTHON={base}")
        command = (self._program, "build", *form, *based, "--tag", tag, ".")
        try:
            built = subprocess.run(command, stdout=sys.stderr, check=False, timeout=BUILD_SECONDS)
        except FileNotFoundError:
            raise EngineFault(f"there is no {self._program} here") from None
        if built.returncode != 0:
            raise EngineFault(" ".join(command))

    def run(self, name: str, tag: str, port: int, settings: Sequence[str] = ()) -> None:
        """Start a container with a volume of the same name, reached at a port of the loopback.

        Args:
            name: the name of the container and its volume.
            tag: the image's name.
            port: the port of the host that leads to the service's 8080.
            settings: settings of the service, each `NAME=value`.

        Raises:
            EngineFault: the container does not start.
        """
        named = tuple(word for setting in settings for word in ("--env", setting))
        where = ("--publish", f"127.0.0.1:{port}:8080", "--volume", f"{name}:/data")
        self.said("run", "--detach", "--name", name, *CONFINED, *named, *where, tag)

    def inside(self, name: str, *command: str) -> str:
        """Run a command in the container; returns what it prints.

        Raises:
            EngineFault: the command ends with another status than 0.
        """
        return self.said("exec", name, *command)

    def said(self, *words: str) -> str:
        """Run a command of the engine; returns what it prints.

        Raises:
            EngineFault: there is no such program, or the command fails.
        """
        command = (self._program, *words)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS
            )
        except FileNotFoundError:
            raise EngineFault(f"there is no {self._program} here") from None
        if done.returncode != 0:
            raise EngineFault(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout.strip()

    def remove(self, name: str) -> None:
        """Remove a container and its volume; where they are not there, nothing happens."""
        for words in (("rm", "--force", name), ("volume", "rm", "--force", name)):
            command = (self._program, *words)
            subprocess.run(command, capture_output=True, check=False, timeout=COMMAND_SECONDS)
