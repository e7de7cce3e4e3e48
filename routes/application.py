"""The ASGI application, for our own server and any other: `hypercorn -k trio 'routes:create_app()'`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from routes.config.config import Config, read_config
from routes.config.environment import process_environment
from routes.domains import DOMAINS, TABLE
from routes.edge.pipeline.dispatcher import Dispatcher
from routes.edge.server.quart_app import EdgeApp
from routes.logs import configure_logging
from routes.service import Service
from routes.startup import open_service
from routes.users.setup import announce_setup


def create_app(config: Config | None = None, service: Service | None = None) -> EdgeApp:
    """Make the application. Its lifespan opens the service before the first request and closes it after the last.

    Args:
        config: the configuration; None reads the environment and `.env`. Ignored when a service is given.
        service: an open service, which the application does not close; None lets the lifespan open one.

    Raises:
        ConfigError: the configuration read from the environment is not valid.
    """
    settings = service.config if service is not None else config or read_config(process_environment())

    @asynccontextmanager
    async def opened() -> AsyncIterator[Dispatcher]:
        if service is not None:
            yield edge_of(service)
            return
        configure_logging(settings)
        async with open_service(settings, DOMAINS) as own:
            await announce_setup(own)
            yield edge_of(own)

    return EdgeApp(TABLE, opened)


def edge_of(service: Service) -> Dispatcher:
    """The edge of an open service, which from now on also answers requests that other nodes pass on."""
    edge = service.seams.edge(service, TABLE)
    if service.node is not None:
        service.node.passing_on.serve(edge.answer_passed)
    return edge
