"""One node of a keeper: a process of `partyline serve`, started again whenever it ends.

    down ──start──▶ starting ──/ready says yes──▶ ready ◀──▶ silent (two misses, as a load balancer counts)
      ▲                                             │
      └──────────────── ends ◀── leaving ◀── renew ─┘

New connections go to nodes that are ready. One that is renewed gets none any more before it is told to stop. One that
answers nothing for a minute is killed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog
import trio

from persistence.embedded.bound import start_bound, wait_for_end
from routes.config.config import ConfigError
from routes.config.environment import process_environment
from routes.edge.faults import OperatorFault
from routes.keeper.listeners import Own
from routes.keeper.pauses import Pauses
from routes.keeper.readiness import Readiness, ask_ready

LOOK_SECONDS = 1.0
"""Between two looks whether a node is ready."""

FIRST_LOOK_SECONDS = 0.1
"""The same while it starts."""

MISSES = 2
"""So many looks in a row that fail make a node silent."""

STUCK_SECONDS = 60.0
"""A node that has answered, and then nothing at all for so long, is killed: it would never end by itself."""

HANDSHAKE_SECONDS = 0.2
"""For connections under way to a node that gets no new ones."""

STOP_SECONDS = 35.0
"""A node ends by itself within thirty; then it is killed."""

_BASE_URL = "PARTYLINE_BASE_URL"

_REHEARSAL = """
import os, sys
from routes.cli.main import main
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is wrong is said on standard error
status = main(["config"])
import routes.__main__
sys.exit(status)
"""
"""Reads the settings and imports the server, as a node does first; made of what earlier releases have as well, since a
renewal also leads back to those."""

FAULT_STATUS = 1
"""Of a process that has said in one line why it cannot serve."""

log = structlog.get_logger()


class NodeFault(OperatorFault):
    """A node cannot start, and none has served before; what it has said stands above."""


class KeptNode:
    """A node and its process.

    Args:
        number: from 1 on.
        own: what it listens on.
        settings: what the keeper decides, as from `settings_of`.
        base_url: how clients reach the service, unless a setting says it.
        changed: called when it becomes ready, or is no longer.
    """

    def __init__(
        self,
        number: int,
        own: Own,
        settings: Mapping[str, str],
        *,
        base_url: str,
        changed: Callable[[], None],
    ) -> None:
        self.number = number
        self._base_url = base_url
        self.is_ready = False
        self._own = own
        self._settings = settings
        self._changed = changed
        self._turned = trio.Event()
        self._was_ready = False
        self._is_leaving = False
        self._process: subprocess.Popen[bytes] | None = None

    async def keep(self, *, alone: bool = False) -> None:
        """Start it, and again whenever it ends, until cancelled, which leaves it running. In the main thread.

        Args:
            alone: nobody else serves yet.

        Raises:
            NodeFault: while nobody served, it has ended with a fault, or there can be no process for it.
        """
        pauses = Pauses()
        while True:
            process = self._started(alone=alone)
            if process is not None:
                pauses.began()
                status = await self._ended(process)
                if self._is_leaving:
                    continue
                if alone and status == FAULT_STATUS and not self._was_ready:
                    raise NodeFault(f"node {self.number} did not start")
                log.error("node_ended", number=self.number, status=status)
            await trio.sleep(pauses.next())

    async def wait_ready(self) -> None:
        """Wait until it is ready. Cancellation changes nothing."""
        while not self.is_ready:
            await self._turned.wait()

    async def rehearse(self) -> bool:
        """Whether what it would be started with now can be loaded; what cannot be is said on standard error.

        What takes longer than `STUCK_SECONDS` cannot be either. Call it in the main thread. Cancellation ends it.
        """
        try:
            process = start_bound(
                [sys.executable, "-P", "-c", _REHEARSAL],
                at_our_end=signal.SIGKILL,
                environment=environment_of(self._settings, self._base_url),
            )
        except OSError as fault:
            log.warning("node_not_started", number=self.number, why=str(fault))
            return False
        try:
            with trio.move_on_after(STUCK_SECONDS):
                return await wait_for_end(process) == 0
            log.error("node_not_loaded", number=self.number, within_seconds=STUCK_SECONDS)
            return False
        finally:
            process.kill()
            process.wait()

    async def renew(self) -> None:
        """Have it give away what it owns and end, and `keep` start it anew; returns once it has ended.

        Cancellation leaves it ending.
        """
        self._is_leaving = True
        self._turn(is_ready=False)
        await trio.sleep(HANDSHAKE_SECONDS)
        await self.stop()

    async def stop(self) -> None:
        """Have it end: within `STOP_SECONDS`, or it is killed. Cancellation leaves it ending."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        with trio.move_on_after(STOP_SECONDS):
            await wait_for_end(process)
            return
        self._kill("it did not end")
        await wait_for_end(process)

    def _kill(self, why: str) -> None:
        if self._process is not None:
            log.error("node_killed", number=self.number, why=why)
            self._process.kill()

    def _started(self, *, alone: bool) -> "subprocess.Popen[bytes] | None":
        """Its process; None where this machine has no room for one now."""
        try:
            return self._start()
        except OSError as fault:
            if alone and not self._was_ready:
                raise NodeFault(f"node {self.number} cannot be started: {fault}") from None
            log.warning("node_not_started", number=self.number, why=str(fault))
            return None

    async def _ended(self, process: "subprocess.Popen[bytes]") -> int:
        """Look after it until it ends; returns its exit status."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look)
            status = await wait_for_end(process)
            nursery.cancel_scope.cancel()
        self._turn(is_ready=False)
        return status

    def _start(self) -> "subprocess.Popen[bytes]":
        self._is_leaving = False
        # With -P nothing is imported from the working directory, where `.env` is.
        self._process = start_bound(
            [sys.executable, "-P", "-m", "routes.cli", "serve"],
            # At once: what it has acknowledged is in the database, and without its keeper it reaches nothing.
            at_our_end=signal.SIGKILL,
            environment=environment_of(self._settings, self._base_url),
            descriptors=self._own.descriptors,
        )
        log.info("node_started", number=self.number, pid=self._process.pid, port=self._own.port)
        return self._process

    async def _look(self) -> None:
        """Look whether it is ready, for as long as this process of it lives."""
        misses, answered_at = 0, None
        while True:
            said = await ask_ready(self._own.port)
            if said is not Readiness.SILENT:
                answered_at = trio.current_time()
            elif answered_at is not None and trio.current_time() - answered_at >= STUCK_SECONDS:
                self._kill("it does not answer")
            misses = 0 if said is Readiness.READY else misses + 1
            if misses == 0 or misses >= MISSES:
                self._turn(is_ready=misses == 0)
            await trio.sleep(FIRST_LOOK_SECONDS if answered_at is None else LOOK_SECONDS)

    def _turn(self, *, is_ready: bool) -> None:
        is_ready = is_ready and not self._is_leaving
        if is_ready is self.is_ready:
            return
        self.is_ready = is_ready
        self._was_ready = self._was_ready or is_ready
        log.info("node_ready" if is_ready else "node_not_ready", number=self.number)
        turned, self._turned = self._turned, trio.Event()
        turned.set()
        self._changed()


def settings_of(
    own: Own,
    *,
    processes: int,
    folder: Path,
    shared_dir: Path,
    links_dir: Path,
    database_url: str,
    nats_url: str,
) -> dict[str, str]:
    """The settings of a node that its keeper decides.

    Args:
        own: what it listens on.
        processes: how many nodes there are.
        folder: its data folder.
        shared_dir: of all nodes.
        links_dir: in which those of this keeper find each other.
        database_url, nats_url: of the keeper.
    """
    settings = {
        "PROCESSES": str(processes),
        "BIND": own.bind,
        "TLS_BIND": own.tls_bind,
        "DATA_DIR": str(folder.absolute()),
        "SHARED_DIR": str(shared_dir.absolute()),
        "LINKS_DIR": str(links_dir.absolute()),
        "DATABASE_URL": database_url,
        "NATS_URL": nats_url,
    }
    return {f"PARTYLINE_{name}": text for name, text in settings.items()}


def environment_of(settings: Mapping[str, str], base_url: str) -> dict[str, str]:
    """What a node is told in its environment, which only its user and root can read: ours as it is now, with `.env`.

    Args:
        settings: as from `settings_of`; these win.
        base_url: unless it is set.
    """
    try:
        present = process_environment()
    except ConfigError:  # the node says in one line what is wrong with the file
        present = dict(os.environ)
    return {**present, _BASE_URL: present.get(_BASE_URL) or base_url, **settings}
