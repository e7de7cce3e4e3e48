"""One node of a keeper: a process of `partyline serve`, started again whenever it ends.

    down ──start──▶ starting ──/ready says yes──▶ ready ◀──▶ silent (two misses, as a load balancer counts)
      ▲                                             │
      └──────────────── ends ◀── leaving ◀── renew ─┘

New connections go to nodes that are ready. A node that is renewed gets no more connections before it is told to stop. A
node that answers nothing for a minute is killed.
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
"""Time between two checks whether a node is ready."""

FIRST_LOOK_SECONDS = 0.1
"""Time between two checks while the node starts."""

MISSES = 2
"""A node is silent after this many checks in a row without an answer."""

STUCK_SECONDS = 60.0
"""A node that has answered before, and then not at all for this time, is killed: it would never end by itself."""

HANDSHAKE_SECONDS = 0.2
"""Time for connections that are being made to a node when it stops getting new ones."""

STOP_SECONDS = 35.0
"""After this time a node that was told to stop is killed; by itself it ends within thirty seconds."""

_BASE_URL = "PARTYLINE_BASE_URL"

_REHEARSAL = """
import os, sys
from routes.cli.main import main
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is wrong is said on standard error
status = main(["config"])
import routes.__main__
sys.exit(status)
"""
"""A program that reads the settings and imports the server, as a node does first. It uses only names that earlier
releases have too, since a renewal may also go back to one of those."""

FAULT_STATUS = 1
"""Exit status of a node's process that has said in one line why it cannot serve."""

log = structlog.get_logger()


class NodeFault(OperatorFault):
    """A node cannot start, and none has served before; its own message was printed before this one."""


class KeptNode:
    """A node and its process.

    Args:
        number: the node's number, from 1 on.
        own: the sockets that it listens on.
        settings: the settings that the keeper decides, from `settings_of`.
        base_url: the address by which clients reach the service, unless it is configured.
        changed: called when the node becomes ready, or stops being ready.
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
        """Start the node, and again whenever it ends, until cancelled; cancellation leaves it running. Call it in the
        main thread.

        Args:
            alone: whether no other node serves yet.

        Raises:
            NodeFault: while no node served, the node has ended with a fault, or no process can be made for it.
        """
        pauses = Pauses()
        while True:
            process = self._started(alone=alone)
            if process is not None:
                pauses.began()
                status = await self._watch_until_end(process)
                if self._is_leaving:
                    continue
                if alone and status == FAULT_STATUS and not self._was_ready:
                    raise NodeFault(f"node {self.number} did not start")
                log.error("node_ended", number=self.number, status=status)
            await trio.sleep(pauses.next())

    async def wait_ready(self) -> None:
        """Wait until the node is ready. Cancellation changes nothing."""
        while not self.is_ready:
            await self._turned.wait()

    async def rehearse(self) -> bool:
        """Whether the settings and code with which the node would start now can be loaded; the errors are printed.

        A load that takes longer than `STUCK_SECONDS` has failed. Call it in the main thread. Cancellation ends it.
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
        """Have the node give away its shards and end, and `keep` start it anew; returns once it has ended.

        Cancellation leaves the node ending.
        """
        self._is_leaving = True
        self._turn(is_ready=False)
        await trio.sleep(HANDSHAKE_SECONDS)
        await self.stop()

    async def stop(self) -> None:
        """End the node: by itself within `STOP_SECONDS`, or else by SIGKILL. Cancellation leaves it ending."""
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
        """The node's new process; None if this machine has no room for one now."""
        try:
            return self._start()
        except OSError as fault:
            if alone and not self._was_ready:
                raise NodeFault(f"node {self.number} cannot be started: {fault}") from None
            log.warning("node_not_started", number=self.number, why=str(fault))
            return None

    async def _watch_until_end(self, process: "subprocess.Popen[bytes]") -> int:
        """Check the node until its process ends; returns the exit status."""
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
            # Killed at once: what the node has acknowledged is in the database, which is out of reach without a keeper.
            at_our_end=signal.SIGKILL,
            environment=environment_of(self._settings, self._base_url),
            descriptors=self._own.descriptors,
        )
        log.info("node_started", number=self.number, pid=self._process.pid, port=self._own.port)
        return self._process

    async def _look(self) -> None:
        """Check whether the node is ready, as long as its present process lives."""
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
        own: the sockets that the node listens on.
        processes: how many nodes there are.
        folder: the node's data folder.
        shared_dir: the shared folder of all nodes.
        links_dir: the folder with the sockets by which the nodes of this keeper reach each other.
        database_url, nats_url: the addresses of the keeper's database and NATS.
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
    """The environment of a node, which only its user and root can read: the keeper's own, with `.env` as it is now.

    Args:
        settings: the settings from `settings_of`, which override all others.
        base_url: the address of the service, used if none is configured.
    """
    try:
        present = process_environment()
    except ConfigError:  # the node says in one line what is wrong with the file
        present = dict(os.environ)
    return {**present, _BASE_URL: present.get(_BASE_URL) or base_url, **settings}
