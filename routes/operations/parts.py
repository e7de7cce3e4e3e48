"""The parts of operations: the service's last hour in numbers, its actors, its clocks, and its certificate."""

import trio

from actors.operations.actors import LiveActors
from actors.operations.metrics import LiveMetrics
from routes.clocks import Clocks
from routes.edge.tls.certificate import ServerCertificate
from routes.joining import CLOCK_MAX_MS
from routes.part import Opening, Part

APART_MS = 5_000
"""Largest difference to the database's clock of a service that serves alone; beyond it, tokens of other machines begin
to be refused."""


async def _open_metrics(opening: Opening) -> LiveMetrics:
    return LiveMetrics(opening.clock.now_ms())


async def _open_actors(_opening: Opening) -> LiveActors:
    return LiveActors()


async def _open_clocks(opening: Opening) -> Clocks:
    most_ms = APART_MS if opening.config.nats_url is None else CLOCK_MAX_MS
    return Clocks(opening.database, opening.clock, most_ms=most_ms)


async def _open_certificate(opening: Opening) -> ServerCertificate | None:
    config = opening.config
    if config.tls_bind is None or config.tls_cert is None or config.tls_key is None:
        return None
    return await trio.to_thread.run_sync(ServerCertificate, config.tls_cert, config.tls_key)


LIVE_METRICS = Part(name="live metrics", open=_open_metrics)
"""Samples of metrics of the last hour."""

LIVE_ACTORS = Part(name="live actors", open=_open_actors)
"""The live view of actors that need attention most."""

CLOCKS = Part(name="clocks", open=_open_clocks)
"""How the clocks of the service, the machine and the database differ."""

CERTIFICATE = Part(name="certificate", open=_open_certificate)
"""The certificate of the addresses with TLS; None if there is no such address."""
