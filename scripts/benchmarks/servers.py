"""The servers that are compared: each on a free port, with an empty database, on a CPU of its own.

PostgreSQL and the load share the other CPU, so that the work of the server is measured apart. Our two modes and the
Node server have the same PostgreSQL with the same settings; the C program keeps nothing.
"""

import os
import resource
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.error import URLError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import trio

from persistence.embedded.postgres import embedded_postgres
from scripts.benchmarks.nodes import ports_in_a_row, wait_shared
from scripts.benchmarks.peers import PEER, compiled, installed, node
from scripts.load import server_process
from scripts.load.tokens import Sign, by_own_key, by_secret
from scripts.load.workers import prefer

Name = Literal["lean", "stock", "node", "c", "c-joined"]
TITLES: dict[Name, str] = {
    "lean": "lean",
    "stock": "stock",
    "node": "Node `ws`",
    "c": "C `send()`",
    "c-joined": "C, joined",
}

READY_SECONDS = 60.0
NICENESS = -15  # of all that is measured, where root runs it: other work on this machine then waits
STOP_SECONDS = 35.0  # our server promises to end within 30 s (contract §11)
_POLL_SECONDS = 0.1


class NotServing(Exception):
    """The server did not start; the message holds the end of its log."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server.

    Args:
        port: the port of 127.0.0.1 that it listens at.
        pid: the root of its process tree, in which PostgreSQL is not counted.
        sign: makes tokens that it accepts.
        data_dir: the data folder of our server; None for the others.
    """

    port: int
    pid: int
    sign: Sign
    data_dir: Path | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Code of ours that a server is to run.

    Args:
        code: the root of a checkout.
        hash_seed: Python's hash seed; with the same one the hash tables of two servers do not differ by chance.
        cpu: the CPU of the server and of its PostgreSQL; None for any.
        processes: how many nodes serve as one, below a keeper and with a NATS; 1 for a server alone.
        freezes: whether the server, and not its load alone, stands still while others are measured. Nodes must not:
            they would take each other for dead.
    """

    code: Path
    hash_seed: int
    cpu: int | None
    processes: int = 1
    freezes: bool = True


class Rank(NamedTuple):
    """The CPUs and the niceness of a server.

    Args:
        cpu: the number of the server's CPU; None for any.
        database_cpu: the number of its PostgreSQL's CPU; None for any.
        niceness: that of both, where it may be set; None for that of this process.
    """

    cpu: int | None
    database_cpu: int | None
    niceness: int | None


@cache
def cpus() -> tuple[int | None, int | None]:
    """(CPU of the server, CPU of everything else); (None, None) when there is only one.

    Computed once, before this process is moved to one of them.
    """
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


@cache
def contended_cpu() -> int:
    """The CPU that servers share which are measured in turns; computed once, as `cpus`."""
    return max(os.sched_getaffinity(0))


@asynccontextmanager
async def serving(name: Name, state: State | None = None) -> AsyncIterator[Server]:
    """Start a server and wait until it is ready; it is stopped and its data removed with the block.

    Args:
        name: which of the compared servers.
        state: which code of ours runs, and on which CPU; by default the working tree's, on a CPU of its own, with
            precedence over other processes.

    Raises:
        NotHere: this machine lacks what the server needs.
        NotServing: the server has ended, or was not ready within a minute.
        NotShared: not each of several nodes had its share within two minutes.
    """
    with tempfile.TemporaryDirectory(prefix="partyline-bench-") as place:
        folder = Path(place)
        await trio.Path(folder).chmod(0o755)  # the database may run as another user, who must reach it
        if name in ("lean", "stock"):
            async with _ours(folder, name, state) as server:
                yield server
            return
        start = {"node": _node, "c": _c, "c-joined": _c}[name]
        async with start(folder, name) as server:
            yield server


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def ready(process: trio.Process, port: int, log: Path) -> None:
    """Ask `/ready` until the server is ready.

    Args:
        process: the server's process.
        port: the port of 127.0.0.1 that it listens at.
        log: the file with what the process prints.

    Raises:
        NotServing: the process has ended, or a minute has passed.
    """
    with trio.move_on_after(READY_SECONDS):
        while process.poll() is None:
            if await trio.to_thread.run_sync(answers, port):
                return
            await trio.sleep(_POLL_SECONDS)
    text = await trio.Path(log).read_text(errors="replace")
    raise NotServing(f"the server did not get ready:\n{text[-1000:]}")


def answers(port: int) -> bool:
    """Whether a server on a port of 127.0.0.1 says that it is ready; waits two seconds at most, in a thread."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/ready", timeout=2) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


async def stop(process: trio.Process) -> None:
    """End a server gently, and after 35 s by force."""
    with trio.CancelScope(shield=True), trio.move_on_after(STOP_SECONDS):
        process.terminate()
        await process.wait()
    if process.returncode is None:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def make_room(own: int | None) -> None:
    """Allow as many open files as this machine lets us, and leave a CPU to the servers, if there is another.

    Args:
        own: the CPU of the servers; None for any.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    others = os.sched_getaffinity(0) - {own}
    if own is not None and others:
        os.sched_setaffinity(0, others)


@asynccontextmanager
async def _ours(folder: Path, name: Name, state: State | None) -> AsyncIterator[Server]:
    port = free_port()
    own = {
        **({} if state is None else {"PYTHONPATH": str(state.code), "PYTHONHASHSEED": str(state.hash_seed)}),
        "PARTYLINE_BIND": f"127.0.0.1:{port}",
        "PARTYLINE_DATA_DIR": str(folder / "data"),
        "PARTYLINE_RATE_LIMITS": "off",
        "PARTYLINE_EDGE": name,
    }
    nodes = range(0) if state is None or state.processes == 1 else ports_in_a_row(state.processes)
    if nodes:
        own |= {"PARTYLINE_PROCESSES": str(len(nodes)), "PARTYLINE_NODE_PORT": str(nodes.start)}
    command = [str(Path(sys.executable).parent / "partyline"), "serve"]
    rank = Rank(*cpus(), NICENESS) if state is None else Rank(state.cpu, state.cpu, None)
    async with _running(command, own, folder, port, rank) as pid:
        await wait_shared(nodes)
        if state is not None and nodes:  # also the nodes that have started after the first was ready
            _pin(server_process.tree(pid), state.cpu, None)
        yield Server(port, pid, by_own_key(folder / "data"), folder / "data")


@asynccontextmanager
async def _node(folder: Path, name: Name) -> AsyncIterator[Server]:
    del name
    program, modules = node(), await trio.to_thread.run_sync(installed)
    port, secret = free_port(), secrets.token_hex(32)
    async with embedded_postgres(folder / "data") as url:
        place = parse_qs(urlsplit(url).query)
        own = {
            "PORT": str(port),
            "TOKEN_SECRET": secret,
            "NODE_ENV": "production",
            "NODE_PATH": str(modules),
            "PGHOST": place["host"][0],
            "PGPORT": place["port"][0],
            "PGUSER": urlsplit(url).username or "",
            "PGDATABASE": "postgres",
        }
        _pin(server_process.databases(os.getpid()), cpus()[1])
        async with _running([program, str(PEER / "server.js")], own, folder, port) as pid:
            yield Server(port, pid, by_secret(secret, None, None))


@asynccontextmanager
async def _c(folder: Path, name: Name) -> AsyncIterator[Server]:
    port, program = free_port(), await trio.to_thread.run_sync(compiled, folder)
    joined = ["joined"] if name == "c-joined" else []
    async with _running([str(program), str(port), *joined], {}, folder, port) as pid:
        yield Server(port, pid, by_secret(secrets.token_hex(32), None, None))


@asynccontextmanager
async def _running(
    command: list[str], own: dict[str, str], folder: Path, port: int, rank: Rank | None = None
) -> AsyncIterator[int]:
    """Run a program that serves, its log in `folder`; yields its process id when it is ready."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PARTYLINE_")}
    log = folder / "log"
    with log.open("wb") as output:
        process = await trio.lowlevel.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**inherited, **own},
            cwd=folder,
        )
    try:
        rank = rank or Rank(*cpus(), NICENESS)
        _pin([process.pid], rank.cpu, rank.niceness)
        await ready(process, port, log)
        _pin(server_process.tree(process.pid), rank.cpu, rank.niceness)  # also the threads that it has by now
        _pin(server_process.databases(process.pid), rank.database_cpu, rank.niceness)
        yield process.pid
    finally:
        await stop(process)


def _pin(processes: list[int], cpu: int | None, niceness: int | None = NICENESS) -> None:
    """Keep processes, with all their threads, to one CPU and before others there; children inherit both."""
    for process in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # a process may end while we look
            for thread in (Path("/proc") / str(process) / "task").iterdir():
                if niceness is not None:
                    prefer(int(thread.name), niceness)
                if cpu is not None:
                    os.sched_setaffinity(int(thread.name), {cpu})
