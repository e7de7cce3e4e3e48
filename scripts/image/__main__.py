"""`scripts/try-image`: runs the image as docs/install.md says, has two clients talk, and times each step."""

import argparse
import os
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException

from partyline.client import ClientError
from scripts.image.engine import Engine, EngineFault
from scripts.image.talk import MESSAGES, talk

READY_SECONDS = 120.0
POLL_SECONDS = 0.1


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/try-image",
        description="Build the container image, run it as docs/install.md says, and have two clients talk; stop it, "
        "start it again, and have them go on. The container and its volume are removed in the end.",
        epilog="Exit status 0: they talked, nothing could be written but the data, and all was there after the stop.",
    )
    it.add_argument("--engine", default="docker", help="docker or podman (default %(default)s)")
    it.add_argument("--base", help="an image with Python 3.11 or 3.12, in place of the Dockerfile's")
    it.add_argument("--database-url", help="a PostgreSQL that the container reaches, in place of its own")
    it.add_argument("--tag", default="partyline", help="of the image (default %(default)s)")
    return it


def try_image(engine: Engine, options: argparse.Namespace) -> None:
    """Build, run, talk, stop, start and talk again; prints a line for each.

    Args:
        engine: the container engine.
        options: the options of the command line.

    Raises:
        EngineFault: a step fails; the message says which. partyline.client.ClientError: the two clients cannot talk.
    """
    name, port = f"partyline-try-{os.getpid()}", free_port()
    settings = [f"PARTYLINE_DATABASE_URL={options.database_url}"] if options.database_url else []
    with step("image"):
        engine.build(options.tag, options.base)
    size = int(engine.said("image", "inspect", "--format", "{{.Size}}", options.tag))
    print(f"{'':14}{size / 1e6:8.0f} MB")
    try:
        with step("start"):
            engine.run(name, options.tag, port, settings)
            wait_ready(port)
        check_confined(engine, name)
        ids = (str(uuid.uuid4()), str(uuid.uuid4()))
        tokens = (token(engine, name, ids[0]), token(engine, name, ids[1]))
        with step("talk"):
            expect("messages", talk(f"http://127.0.0.1:{port}", tokens), 2 * MESSAGES)
        with step("stop"):
            engine.said("stop", name)
        expect("exit status", engine.said("inspect", "--format", "{{.State.ExitCode}}", name), "0")
        with step("start again"):
            engine.said("start", name)
            wait_ready(port)
        with step("talk again"):
            expect("messages", talk(f"http://127.0.0.1:{port}", tokens), 4 * MESSAGES)
    finally:
        engine.remove(name)


def check_confined(engine: Engine, name: str) -> None:
    """Check what a process in the container may do.

    Raises:
        EngineFault: it may do more than docs/install.md says, or the service's own check of itself fails.
    """
    expect("user", engine.inside(name, "id", "-u"), "10001")
    status = engine.inside(name, "cat", "/proc/self/status")
    expect("capabilities", "CapBnd:\t0000000000000000" in status, True)
    expect("new privileges", "NoNewPrivs:\t1" in status, True)
    root = engine.inside(name, "sh", "-c", "touch /opt/partyline/x 2>/dev/null || echo read-only")
    expect("root file system", root, "read-only")
    expect("health", engine.inside(name, "partyline", "health"), "ready")
    engine.inside(name, "partyline", "doctor")


def token(engine: Engine, name: str, user_id: str) -> str:
    """An access token for a new user, made in the container."""
    return engine.inside(name, "partyline", "token", "--name", "Trying", "--id", user_id)


def wait_ready(port: int) -> None:
    """Wait until the service says that it is ready.

    Raises:
        EngineFault: the service is not ready within `READY_SECONDS`.
    """
    give_up_at = time.monotonic() + READY_SECONDS
    while not is_ready(port):
        if time.monotonic() > give_up_at:
            raise EngineFault(f"the service is not ready after {READY_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)


def is_ready(port: int) -> bool:
    """Whether the service on a port of the loopback is ready now."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A TCP port of the loopback that nobody listens on at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def expect(about: str, found: object, wanted: object) -> None:
    """Compare what was found with what was expected.

    Raises:
        EngineFault: they differ.
    """
    if found != wanted:
        raise EngineFault(f"{about}: {found}, not {wanted}")


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print how long the block took, if it ends well."""
    begun = time.monotonic()
    yield
    print(f"{name:14}{time.monotonic() - begun:8.1f} s", flush=True)


def main() -> int:
    """Run what the command line says, and return the exit status."""
    options = parser().parse_args()
    try:
        try_image(Engine(options.engine), options)
    except (EngineFault, ClientError) as fault:
        print(f"try-image: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
