"""Runs an ASGI application in this process on a free port, on our server or on stock Hypercorn."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Literal

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.run import worker_serve
from hypercorn.typing import ASGIFramework

from routes.edge.server.server import ServerSettings, serve
from routes.edge.transport.lateness import Lateness
from tests.support.waiting import PATIENCE_SECONDS

Edge = Literal["lean", "stock"]

EDGES: tuple[Edge, ...] = ("lean", "stock")


# Long deadlines, as a machine that stands still for a while must not make a test fail.
PATIENT = ServerSettings(
    head_seconds=PATIENCE_SECONDS, body_seconds=PATIENCE_SECONDS, keep_alive_seconds=PATIENCE_SECONDS
)


@asynccontextmanager
async def running(
    app: ASGIFramework, *, edge: Edge = "lean", settings: ServerSettings | None = None
) -> AsyncIterator[str]:
    """Serve an application while the block runs, then stop gracefully.

    Args:
        app: the application, with or without a lifespan.
        edge: `lean` for our server, `stock` for Hypercorn's own.
        settings: settings of our server, by default such that clients may take their time; the address is replaced by a
            free port of the loopback.

    Yields:
        The base URL, `http://127.0.0.1:port`.
    """
    async with trio.open_nursery() as nursery:
        stop = trio.Event()
        if edge == "lean":
            # Measurements are of one server: two at once would take each other's.
            own = settings or replace(PATIENT, lateness=Lateness())
            base_url = await nursery.start(_lean, app, own, stop)
        else:
            base_url = await nursery.start(_stock, app, stop)
        try:
            yield base_url
        finally:
            stop.set()
            # A deadline, so that a test which has failed does not wait for ever for connections that it has left open.
            nursery.cancel_scope.deadline = trio.current_time() + PATIENCE_SECONDS


async def _lean(
    app: ASGIFramework,
    settings: ServerSettings,
    stop: trio.Event,
    *,
    task_status: trio.TaskStatus[str],
) -> None:
    async def started(addresses: Sequence[str]) -> None:
        task_status.started(addresses[0])

    await serve(app, on_free_port(settings), stop=stop, started=started)


async def _stock(app: ASGIFramework, stop: trio.Event, *, task_status: trio.TaskStatus[str]) -> None:
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.errorlog = None
    config.graceful_timeout = 1.0
    # A long keep-alive, as a client may take its time between two requests.
    config.keep_alive_timeout = PATIENCE_SECONDS
    async with trio.open_nursery() as nursery:
        binds = await nursery.start(
            partial(worker_serve, ASGIWrapper(app), config, shutdown_trigger=stop.wait)
        )
        task_status.started(binds[0])


def on_free_port(settings: ServerSettings) -> ServerSettings:
    """The same settings, on a free port of the loopback."""
    free: tuple[str, ...] = ("127.0.0.1:0",)
    if settings.certificate is None:
        return replace(settings, bind=free)
    return replace(settings, bind=(), tls_bind=free)


def address_of(base_url: str) -> tuple[str, int]:
    """Host and port of a base URL."""
    host, port = base_url.rsplit("/", 1)[1].rsplit(":", 1)
    return host, int(port)
