"""The server process: starts, serves, and stops on a signal (contract §11, Stopping).

The first SIGTERM or SIGINT drains: `/ready` reports it, a node among others gives them what it owns, new connections
are refused, live sockets are told to reconnect elsewhere, requests in flight are finished, actors write their
snapshots, PostgreSQL is stopped. A second signal exits at once; what was acknowledged is committed, so nothing is lost
by that either. SIGHUP is the end of a terminal and drains as well, unless the server has a certificate: then it takes a
renewed one at once.
"""

import gc
import os
import signal
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn

import hypercorn.trio
import msgspec
import structlog
import trio

from actors.kernel.nodes.parting import part_with
from compiled.finding import PURE, standing
from routes.allocator import return_large_blocks
from routes.announcing import announce
from routes.application import create_app
from routes.cli.running import run_trio
from routes.clocks import require_time
from routes.config.config import Config
from routes.disk import archive_of
from routes.domains import DOMAINS
from routes.edge.address import Proxies
from routes.edge.binds import Bind, Descriptor
from routes.edge.server.server import serve
from routes.edge.transport.settings import ServerSettings
from routes.joining import bow_out
from routes.lifecycle import HARD_EXIT_CODE
from routes.open_files import make_room
from routes.operations.parts import CERTIFICATE
from routes.service import Service
from routes.startup import open_service
from routes.users.setup import announce_setup

log = structlog.get_logger()

GIVE_SECONDS = 5.0
"""How long a node that stops tries to give its shards to others; those that are left are free once it has stopped."""

COLLECTOR_THRESHOLDS = (50_000, 20, 50)
"""Thresholds for `gc.set_threshold`. By default Python's full collection runs each time the number of objects has grown
by a quarter: 0.4 s with 2,000 sockets, during which no request is answered. Nearly all our objects are freed by
reference counting, so it can run less often; reference cycles of closed connections are still found."""


def run(config: Config) -> None:
    """Serve until SIGTERM or SIGINT. Blocks; must be called in the main thread.

    Args:
        config: the configuration, as read from the environment.

    Raises: what `open_service` and `serve` raise when the service cannot start.
        ClockUnset: the machine's clock has not been set yet.
    """
    require_time(time.time())
    return_large_blocks()
    begin_collecting()
    # While it starts, a signal ends what is open so far in order; once it serves, `_obey_signals` hears of signals.
    run_trio(_run, _affordable(config))


def begin_collecting() -> None:
    """Start Python's garbage collector with rare collections; objects that exist by now are never looked through.

    Not even now: importing leaves 0.7 MB of garbage, and finding it took a tenth of a start.
    """
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    gc.enable()


def _affordable(config: Config) -> Config:
    """The configuration with `max_connections` lowered to what the limit of open files allows."""
    room = make_room(config.max_connections)
    if room < config.max_connections:
        log.warning(
            f"the limit of open files (ulimit -Hn) leaves room for {room} connections, not for "
            f"PARTYLINE_MAX_CONNECTIONS={config.max_connections}"
        )
    return msgspec.structs.replace(config, max_connections=room)


def cautions(config: Config) -> Iterator[str]:
    """Warnings about a valid configuration, one line each.

    Args:
        config: the configuration, as read from the environment.
    """
    if config.nats_url is not None and not config.is_kept:
        yield "PARTYLINE_NATS_URL: docs/cluster.md says what does not work across nodes yet"
    if config.edge == "stock":
        yield (
            "PARTYLINE_EDGE=stock is for comparison only: Hypercorn's own server lacks the bounds of the lean one, "
            "and a stranger can end it"
        )
    compiled = standing()
    if config.pure and compiled.modules:
        yield f"{PURE} has no effect in a file: compiled modules run; set it in the environment"
    elif compiled.hindrance is not None and not config.pure:
        yield f"the compiled modules are not used, all run from their source: {compiled.hindrance}"
    if config.wal_dir is not None and archive_of(config) is None:
        yield "PARTYLINE_WAL_DIR is for the embedded database: beside PARTYLINE_DATABASE_URL it has no effect"


async def _run(config: Config) -> None:
    async with open_service(config, DOMAINS) as service, trio.open_nursery() as nursery:
        parting = trio.Event()
        nursery.start_soon(_obey_signals, service, nursery, parting)
        nursery.start_soon(_drain_sockets, service)
        for caution in cautions(config):
            log.warning(caution)
        if config.edge == "stock":
            await _serve_stock(service)
        else:
            stop = trio.Event()
            nursery.start_soon(_stop_when_draining, service, stop)
            application, settings = create_app(service=service), _settings(service)
            await serve(application, settings, stop=stop, parting=parting, started=partial(_tell, service))
        nursery.cancel_scope.cancel()


async def _serve_stock(service: Service) -> None:
    """Serve with Hypercorn's own server, unchanged; only to compare ours with it."""
    await announce_setup(service)
    settings = _settings(service)
    config = settings.hypercorn()
    # Where it has a certificate, Hypercorn covers the first of the two lists with it.
    if settings.certificate is None:
        config.bind = list(settings.bind)
    else:
        config.bind, config.insecure_bind = list(settings.tls_bind), list(settings.bind)
    await hypercorn.trio.serve(
        create_app(service=service),
        config,
        shutdown_trigger=service.lifecycle.wait_draining,
        mode="asgi",
    )


def _settings(service: Service) -> ServerSettings:
    config = service.config
    proxies = Proxies(config.trusted_proxies, config.client_ip_header)
    return ServerSettings(
        bind=_written(config.bind),
        tls_bind=_written(config.tls_bind or ()),
        certificate=service.of(CERTIFICATE),
        max_connections=config.max_connections,
        deflate=config.ws_deflate,
        max_per_address=512 if config.rate_limits else None,
        trusted=proxies.trusts,
        unsent=service.unsent,
        lateness=service.lateness,
        limits=service.limits,
        clock=service.clock,
    )


def _written(binds: Sequence[Bind | Descriptor]) -> tuple[str, ...]:
    return tuple(f"fd://{one.number}" if isinstance(one, Descriptor) else str(one) for one in binds)


async def _tell(service: Service, addresses: Sequence[str]) -> None:
    """Print the addresses and the setup link. The link comes only now: a start that fails because its address is taken
    would leave a link that does not work."""
    await announce_setup(service)
    if not service.config.is_kept:  # else its keeper does, once for all
        announce(f"Partyline listens on {', '.join(addresses)}")


async def _stop_when_draining(service: Service, stop: trio.Event) -> None:
    await service.lifecycle.wait_draining()
    stop.set()


async def _drain_sockets(service: Service) -> None:
    await service.lifecycle.wait_draining()
    await service.sockets.drain()


async def _stop(service: Service, parting: trio.Event) -> None:
    """Give this node's shards to the other nodes, if there are any, while it still answers; then drain."""
    if service.node is not None:
        parting.set()
        await bow_out(service.node, partial(part_with, service.system), GIVE_SECONDS)
    service.lifecycle.drain()


async def _obey_signals(service: Service, nursery: trio.Nursery, parting: trio.Event) -> None:
    certificate, is_stopping = service.of(CERTIFICATE), False
    # These stay when the receiver has ended, while actors write their snapshots and PostgreSQL is stopped.
    for stops in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stops, _end_at_once)
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            if number == signal.SIGHUP and certificate is not None:
                await trio.to_thread.run_sync(certificate.renew)
                continue
            if is_stopping:
                _end_at_once()
            is_stopping = True
            log.info("stopping", signal=signal.Signals(number).name)
            nursery.start_soon(_stop, service, parting)


def _end_at_once(*_: object) -> NoReturn:
    os._exit(HARD_EXIT_CODE)
