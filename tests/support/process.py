"""A server in a process of its own, started as a user would start it, which tests kill, stop and start again."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import httpx2
import trio

from routes.edge.identity.outbound import trusted_authorities
from tests.support.forked import Forked, output_of
from tests.support.waiting import PATIENCE_SECONDS

POLL_SECONDS = 0.02

PROGRAM = Path(sys.executable).parent / "partyline"


@asynccontextmanager
async def server_process(**settings: str) -> AsyncIterator["ServerProcess"]:
    """A server that is ready; processes of it that are left at the end are killed, and its data removed.

    Args:
        settings: its settings, {field name: value}.
    """
    with reachable_directory() as folder:
        async with started(ServerProcess(folder, settings=settings)) as server:
            yield server


@asynccontextmanager
async def started(server: "ServerProcess") -> AsyncIterator["ServerProcess"]:
    """Start a server, and wait until it is ready; processes of it that are left at the end are killed."""
    try:
        await server.start()
        yield server
    finally:
        if server.process is not None and server.process.returncode is None:
            server.process.kill()
            with trio.CancelScope(shield=True):
                await server.process.wait()


@contextmanager
def reachable_directory() -> Iterator[Path]:
    """An empty directory that every user can reach, as the database's user must; removed afterwards."""
    folder = Path(mkdtemp(prefix="partyline-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A TCP port that nobody listens on at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _stat(pid: int) -> tuple[str, int, str] | None:
    """Name, parent and start time of a process; None when it is gone or only waits to be reaped."""
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    return None if fields[0] == "Z" else (name, int(fields[1]), fields[19])


def _processes() -> dict[int, tuple[str, int, str]]:
    found = {int(p.name): _stat(int(p.name)) for p in Path("/proc").iterdir() if p.name.isdigit()}
    return {pid: stat for pid, stat in found.items() if stat is not None}


def children_of(pid: int) -> set[tuple[int, str]]:
    """{(pid, start time)} of the processes that a process has started and that live."""
    return {(child, stat[2]) for child, stat in _processes().items() if stat[1] == pid}


def living(processes: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Those of `children_of` that have not ended."""
    return processes & {(pid, stat[2]) for pid, stat in _processes().items()}


@dataclass
class ServerProcess:
    """`partyline serve` on a loopback port, with its data below `folder`.

    Args:
        folder: holds `data/` and the log of all starts.
        port: the port that it listens at, the same at every start, so that clients find it again.
        settings: further settings beside those that every test needs, {field name: value}.
        program: the command line that is started.
    """

    folder: Path
    port: int = field(default_factory=free_port)
    settings: Mapping[str, str] = field(default_factory=dict)
    program: Path = PROGRAM
    process: Forked | trio.Process | None = None
    databases: set[tuple[int, str]] = field(default_factory=set)  # {(pid, start time)} of PostgreSQL

    @property
    def url(self) -> str:
        """The server's base address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        """The server's data folder (`PARTYLINE_DATA_DIR`)."""
        return self.folder / "data"

    @property
    def log(self) -> str:
        """The text that it has printed, over all starts."""
        return (self.folder / "log").read_text(errors="replace")

    async def start(self) -> None:
        """Start the server, and wait until `/ready` says so."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
        environment |= {
            "PARTYLINE_BIND": f"127.0.0.1:{self.port}",
            "PARTYLINE_DATA_DIR": str(self.data_dir),
            "PARTYLINE_RATE_LIMITS": "off",
            # No test uses the Internet: nothing listens at these addresses.
            "PARTYLINE_MODRINTH_URL": "http://127.0.0.1:1/v2",
            "PARTYLINE_CURSEFORGE_URL": "http://127.0.0.1:1/v1",
            # Long deadlines, as a machine that stands still for a while must not make a test fail.
            "PARTYLINE_REQUEST_SECONDS": str(PATIENCE_SECONDS),
            **{f"PARTYLINE_{name.upper()}": value for name, value in self.settings.items()},
        }
        self.process = await self._begin(environment)
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS, verify=trusted_authorities()) as client:
            with trio.move_on_after(PATIENCE_SECONDS):
                while self.process.poll() is None:
                    if await self._ready(client):
                        self.databases |= self._postgres()
                        return
                    await trio.sleep(POLL_SECONDS)
        raise AssertionError(f"the server did not get ready:\n{self.log[-2000:]}")

    async def _begin(self, environment: dict[str, str]) -> Forked | trio.Process:
        if self.program == PROGRAM:
            told = self.folder / "log"
            return Forked(("serve",), environment=environment, folder=self.folder, output=told, errors=told)
        with (self.folder / "log").open("ab") as log:
            return await trio.lowlevel.open_process(
                [str(self.program), "serve"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self.folder,
            )

    async def _ready(self, client: httpx2.AsyncClient) -> bool:
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", self.port)) != 0:  # polled often, so a cheap look comes first
                return False
        try:
            return (await client.get(f"{self.url}/ready")).status_code == 200
        except httpx2.TransportError:
            return False

    def _postgres(self) -> set[tuple[int, str]]:
        """PostgreSQL's processes below ours, or inside our data directory."""
        everything = _processes()
        ours = set()
        for pid, (name, parent, started) in everything.items():
            if not name.startswith("postgres"):
                continue
            above = parent
            while above in everything and everything[above][0].startswith("postgres"):
                above = everything[above][1]
            if (self.process is not None and above == self.process.pid) or self._inside(pid):
                ours.add((pid, started))
        return ours

    def _inside(self, pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(self.data_dir)
        except OSError:
            return False

    async def token(self, name: str, *options: str) -> str:
        """A user's token from `partyline token`, which works beside the running server.

        Args:
            name: the user's name.
            options: further options of that command.
        """
        return await self.command("token", "--name", name, *options)

    async def command(self, *arguments: str, stdin: str = "") -> str:
        """Run a command of `partyline` on this server's data, whether the server runs or not; returns what it
        prints."""
        environment = {
            "PATH": "/usr/bin:/bin",
            "PARTYLINE_DATA_DIR": str(self.data_dir),
            "PARTYLINE_DATABASE_URL": self.settings.get("database_url", ""),
        }
        if self.program == PROGRAM:
            return (await output_of(arguments, environment, stdin)).strip()
        made = await trio.run_process(
            [str(self.program), *arguments], stdin=stdin.encode(), capture_stdout=True, env=environment
        )
        return made.stdout.decode().strip()

    async def kill(self) -> None:
        """Kill the server (`kill -9`), and wait until its PostgreSQL has ended as well."""
        assert self.process is not None
        self.databases |= self._postgres()
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        left = self.databases
        with trio.move_on_after(PATIENCE_SECONDS):
            while left := self._left():  # noqa: ASYNC110  (nobody tells us of the end of a grandchild)
                await trio.sleep(POLL_SECONDS)
        assert not left, f"PostgreSQL outlived its server: {sorted(left)}"
        self.databases = set()

    def _left(self) -> set[tuple[int, str]]:
        alive = {(pid, stat[2]) for pid, stat in _processes().items()}
        return (self.databases & alive) | self._postgres()

    async def stop(self) -> int:
        """Stop the server by SIGTERM; returns the exit status. The server has 30 s to end (contract §11)."""
        assert self.process is not None
        self.process.terminate()
        with trio.CancelScope(shield=True), trio.move_on_after(PATIENCE_SECONDS):
            return await self.process.wait()
        self.process.kill()
        raise AssertionError(f"the server did not stop:\n{self.log[-2000:]}")


@asynccontextmanager
async def program(command: Sequence[str], **options: Any) -> AsyncIterator[trio.Process]:
    """Run a program for the block; it is killed at the end if it still runs.

    Args:
        command: the program's path and arguments.
        options: options of `trio.lowlevel.open_process`.
    """
    process = await trio.lowlevel.open_process(command, **options)
    try:
        yield process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
