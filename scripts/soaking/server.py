"""The server that is soaked: started as a user would start it, killed, and started again after each kill."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio

from scripts.benchmarks.servers import NotServing, answers, free_port, ready, stop
from scripts.load import server_process

LOOK_SECONDS = 0.05
HEALING_SECONDS = 60.0


class SoakedServer:
    """`partyline serve` on a port of its own.

    Args:
        folder: the folder for its data and its log.
        port: the port that it listens at, the same at every start.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.starts = 0
        self._process: trio.Process | None = None

    @property
    def data_dir(self) -> Path:
        """The server's data folder (`PARTYLINE_DATA_DIR`)."""
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """The environment that it is started with, without any setting of this process but these."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
        return inherited | {
            "PARTYLINE_BIND": f"127.0.0.1:{self.port}",
            "PARTYLINE_DATA_DIR": str(self.data_dir),
            # All users come from one address, as one process makes the requests of all.
            "PARTYLINE_RATE_LIMITS": "off",
            "PARTYLINE_LOG": "json",
        }

    @property
    def pid(self) -> int:
        """The server's process id; 0 while it does not run."""
        return self._process.pid if self._process is not None else 0

    async def start(self) -> None:
        """Start the server, and wait until it is ready.

        Raises:
            NotServing: the server has ended, or was not ready within a minute. Cancelled, it may still be starting.
        """
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = await trio.lowlevel.open_process(
                [str(Path(sys.executable).parent / "partyline"), "serve"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.environment,
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C must not reach it: the soak still asks it for the judgement
            )
        await ready(self._process, self.port, log)
        self.starts += 1

    async def kill(self) -> None:
        """Kill the server (`kill -9`), wait until its PostgreSQL has ended as well, and start it again; raises what
        `start` raises."""
        process = self._process
        if process is None:
            return
        left = server_process.databases(process.pid)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        with trio.move_on_after(HEALING_SECONDS):
            while any(_is_there(one) for one in left):  # noqa: ASYNC110  (nobody tells us)
                await trio.sleep(LOOK_SECONDS)
        await self.start()

    async def kill_database(self) -> None:
        """Kill PostgreSQL alone (`kill -9`), and wait until the server has healed.

        Raises:
            NotServing: the server has not healed within a minute.
        """
        databases = server_process.databases(self.pid)
        if databases:
            with suppress(ProcessLookupError):
                os.kill(databases[0], signal.SIGKILL)  # the postmaster: the others are below it
        await trio.sleep(1.0)  # it takes the server a moment to notice
        with trio.move_on_after(HEALING_SECONDS):
            while not await trio.to_thread.run_sync(answers, self.port):  # noqa: ASYNC110  (nobody tells us)
                await trio.sleep(LOOK_SECONDS)
            return
        raise NotServing("the server did not heal after its database was killed")

    async def command(self, *arguments: str) -> str:
        """Run a command of `partyline` for this server; returns what it prints."""
        made = await trio.run_process(
            [str(Path(sys.executable).parent / "partyline"), *arguments],
            capture_stdout=True,
            env=self.environment,
            cwd=self.folder,
        )
        return made.stdout.decode().strip()

    async def stop(self) -> None:
        """End the server gently."""
        if self._process is not None:
            await stop(self._process)


@asynccontextmanager
async def soaked_server(folder: Path) -> AsyncIterator[SoakedServer]:
    """Run a server for the block, ready from its beginning on. Its data lie below `folder`, and stay.

    Raises:
        NotServing: the server did not start.
    """
    server = SoakedServer(folder, free_port())
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()
