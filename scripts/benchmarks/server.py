"""A server for one benchmark: free port, empty data directory, no rate limits, on a CPU of its own."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import trio

from scripts.load import server_process

READY_SECONDS = 60.0
STOP_SECONDS = 35.0  # the server promises to end within 30 (contract §11)
_POLL_SECONDS = 0.1


class NotServing(Exception):
    """The server did not start; the message holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server of ours."""

    port: int
    pid: int
    data_dir: Path


def cpus() -> tuple[int | None, int | None]:
    """The CPU of the server, and that of everything else; (None, None) when there is only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    """Start a server and wait until it is ready; it is stopped and its data removed with the block.

    Raises:
        NotServing: it ended, or was not ready within a minute.
    """
    with tempfile.TemporaryDirectory(prefix="partyline-bench-") as folder:
        data_dir, port = Path(folder) / "data", _free_port()
        os.chmod(folder, 0o755)  # noqa: PTH101, S103  the database may run as another user, who must reach it
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
        environment |= {
            "PARTYLINE_BIND": f"127.0.0.1:{port}",
            "PARTYLINE_DATA_DIR": str(data_dir),
            "PARTYLINE_RATE_LIMITS": "off",
        }
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = await trio.lowlevel.open_process(
                [str(Path(sys.executable).parent / "partyline"), "serve"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
            )
        try:
            own, other = cpus()
            if own is not None:
                os.sched_setaffinity(process.pid, {own})
            await _ready(process, port, log)
            if other is not None:
                for database in server_process.databases(process.pid):
                    os.sched_setaffinity(database, {other})
            yield Server(port, process.pid, data_dir)
        finally:
            await _stop(process)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def _ready(process: trio.Process, port: int, log: Path) -> None:
    """Ask `/ready` until it says yes."""
    with trio.move_on_after(READY_SECONDS):
        while process.poll() is None:
            if await trio.to_thread.run_sync(_answers, port):
                return
            await trio.sleep(_POLL_SECONDS)
    text = await trio.Path(log).read_text(errors="replace")
    raise NotServing(f"the server did not get ready:\n{text[-1000:]}")


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/ready", timeout=2) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


async def _stop(process: trio.Process) -> None:
    with trio.CancelScope(shield=True), trio.move_on_after(STOP_SECONDS):
        process.terminate()
        await process.wait()
    if process.returncode is None:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
