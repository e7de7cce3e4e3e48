"""The server that is soaked: started as a user would, killed, and started again by whoever killed it."""

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
        folder: for its data and its log.
        port: the same at every start.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.starts = 0
        self._process: trio.Process | None = None

    @property
    def data_dir(self) -> Path:
        """`PARTYLINE_DATA_DIR`."""
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """What it is started with: no setting of ours, but these."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
        return inherited | {
            "PARTYLINE_BIND": f"127.0.0.1:{self.port}",
            "PARTYLINE_DATA_DIR": str(self.data_dir),
            # All users come from one address, and one process asks for all of them.
            "PARTYLINE_RATE_LIMITS": "off",
            "PARTYLINE_LOG": "json",
        }

    @property
    def pid(self) -> int:
        """Its process, 0 between two."""
        return self._process.pid if self._process is not None else 0

    async def start(self) -> None:
        """Start it, and wait until it is ready.

        Raises:
            NotServing: it ended, or was not ready within a minute. Cancelled, it may still be starting.
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
                start_new_session=True,  # Ctrl-C ends the soak, which then still has to ask it
            )
        await ready(self._process, self.port, log)
        self.starts += 1

    async def kill(self) -> None:
        """`kill -9`, wait until its PostgreSQL is gone as well, and start it again; raises what `start` raises."""
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
        """`kill -9` of PostgreSQL alone, and wait until the server has healed.

        Raises:
            NotServing: it has not within a minute.
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
        """What a command of `partyline` prints that is about this server."""
        made = await trio.run_process(
            [str(Path(sys.executable).parent / "partyline"), *arguments],
            capture_stdout=True,
            env=self.environment,
            cwd=self.folder,
        )
        return made.stdout.decode().strip()

    async def stop(self) -> None:
        """End it gently."""
        if self._process is not None:
            await stop(self._process)


@asynccontextmanager
async def soaked_server(folder: Path) -> AsyncIterator[SoakedServer]:
    """A server that is ready, with its data below `folder`, which is left; it ends with the block.

    Raises:
        NotServing: it did not start.
    """
    server = SoakedServer(folder, free_port())
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()
