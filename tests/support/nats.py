"""A real NATS server on loopback, from its wheel."""

import json
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import LOOK_SECONDS, PATIENCE_SECONDS

PROGRAM = Path(sysconfig.get_path("scripts")) / "nats-server"

PASSWORD = "password-for-tests"
"""The password of the user `test`; the server lets nobody else in."""


class NatsServer:
    """A server that can be stopped, frozen and started again at the same address.

    Args:
        folder: the folder for the file that says at which port it listens.
        settings: further lines of its configuration.
    """

    def __init__(self, folder: Path, settings: str = "") -> None:
        self._folder = folder
        self._settings = settings
        self._port = -1  # -1 has NATS choose a free port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The server's address, with user and password."""
        return f"nats://test:{PASSWORD}@127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start the server, and wait until it listens."""
        for old in self._folder.glob("*.ports"):
            old.unlink()
        config = self._folder / "server.conf"
        config.write_text(f'authorization {{ user: "test", password: "{PASSWORD}" }}\n{self._settings}')
        self._process = subprocess.Popen(
            [
                PROGRAM,
                "-c",
                config,
                "-a",
                "127.0.0.1",
                "-p",
                str(self._port),
                "--ports_file_dir",
                self._folder,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not (found := [path for path in self._folder.glob("*.ports") if path.stat().st_size]):
            assert self._process.poll() is None, "nats-server ended"
            assert time.monotonic() < give_up_at, "nats-server does not start"
            time.sleep(LOOK_SECONDS)
        address: str = json.loads(found[0].read_text())["nats"][0]
        self._port = int(address.rpartition(":")[2])

    def kill(self) -> None:
        """End the server without warning (SIGKILL)."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Suspend the server: connections stay open, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a suspended server go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def running_nats(settings: str = "") -> Iterator[NatsServer]:
    """A server, for the block.

    Args:
        settings: as for `NatsServer`.
    """
    folder = Path(tempfile.mkdtemp(prefix="partyline-test-"))
    server = NatsServer(folder, settings)
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)
