"""The program in processes of their own, forked from one that has imported it: a quarter of the CPU of a start.

What runs is the same from `main` on. How the program is found, started and told what to do by a shell is for the tests
of the command line, which start it as a user does.
"""

import multiprocessing
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from tests.support.program import run

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.support.program"])


async def output_of(arguments: tuple[str, ...], environment: Mapping[str, str], input: str = "") -> str:
    """Run a command, which has to succeed; returns what it prints on stdout. Cancellation kills it.

    Args:
        arguments: the arguments of the command line.
        environment: all its environment variables.
        input: the text that it reads from stdin.
    """
    with TemporaryDirectory(prefix="partyline-test-") as name:
        folder = Path(name)
        output, errors = folder / "output", folder / "errors"
        command = Forked(
            arguments, environment=environment, folder=folder, output=output, errors=errors, input=input
        )
        try:
            assert await command.wait() == 0, errors.read_text()
        finally:
            command.kill()
        return output.read_text()


class Forked:
    """`partyline ARGUMENTS`, started at once.

    Args:
        arguments: the arguments of the command line.
        environment: all its environment variables.
        folder: its working folder.
        output: the file to whose end its stdout is written.
        errors: the file to whose end its stderr is written.
        input: the text that it reads from stdin.
        in_background: whether it is started with Ctrl-C ignored, as in the background of a script.
    """

    def __init__(
        self,
        arguments: tuple[str, ...],
        *,
        environment: Mapping[str, str],
        folder: Path,
        output: Path,
        errors: Path,
        input: str = "",
        in_background: bool = False,
    ) -> None:
        files = (str(output), str(errors))
        self._process = _context.Process(
            target=run,
            args=(arguments, dict(environment), str(folder), files, input),
            kwargs={"in_background": in_background},
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status; negative for a signal, None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same as `returncode`, by the name that `trio.Process` has."""
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the end of the process; returns the exit status. Cancellation leaves the process running."""
        while self.returncode is None:
            await trio.lowlevel.wait_readable(self._process.sentinel)
        assert self.returncode is not None
        return self.returncode
