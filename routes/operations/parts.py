"""The parts of operations: the service's last hour in numbers, its actors, and its certificate."""

import trio

from actors.operations.actors import LiveActors
from actors.operations.metrics import LiveMetrics
from routes.edge.tls.certificate import ServerCertificate
from routes.part import Opening, Part


async def _open_metrics(opening: Opening) -> LiveMetrics:
    return LiveMetrics(opening.clock.now_ms())


async def _open_actors(_opening: Opening) -> LiveActors:
    return LiveActors()


async def _open_certificate(opening: Opening) -> ServerCertificate | None:
    config = opening.config
    if config.tls_bind is None or config.tls_cert is None or config.tls_key is None:
        return None
    return await trio.to_thread.run_sync(ServerCertificate, config.tls_cert, config.tls_key)


LIVE_METRICS = Part(name="live metrics", open=_open_metrics)
"""Samples of metrics of the last hour."""

LIVE_ACTORS = Part(name="live actors", open=_open_actors)
"""The live view of actors that need attention most."""

CERTIFICATE = Part(name="certificate", open=_open_certificate)
"""The certificate of the addresses with TLS; None if there is no such address."""
