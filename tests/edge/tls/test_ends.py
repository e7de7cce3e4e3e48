"""TLS: where the server has said its last, its client hears so at once, and not only when it has lingered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from routes.edge.server.server import ServerSettings
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, echo
from tests.edge.certificate import Certificate
from tests.edge.raw import HANDSHAKE, Raw, raw
from tests.support.server import running

FOR_EVER = 1e9


@asynccontextmanager
async def connected(certificate: Certificate, app: Application, **bounds: float) -> AsyncIterator[Raw]:
    """A connection to a server that lingers for ever."""
    settings = ServerSettings(certificate=certificate.server, linger_seconds=FOR_EVER, **bounds)  # type: ignore[arg-type]
    async with (
        running(app, settings=settings) as base_url,
        raw(base_url, certificate.trusting()) as connection,
    ):
        yield connection


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /x HTTP/1.0\r\n\r\n", 200),
        (b"GET /x HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 200),
        (b"GET /x HTTP/1.1\r\n\r\n", 400),
        (b"GET /big HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", 200),
        (HANDSHAKE.replace(b"/live", b"/refused"), 401),
    ],
)
async def test_the_last_answer_is_followed_by_the_end(
    sent: bytes, status: int, certificate: Certificate, sockets: Sockets
) -> None:
    async with connected(certificate, Application(handler=echo, sockets=sockets)) as connection:
        await connection.send(sent)
        answered, headers, _ = await connection.read_response()
        assert (answered, headers["connection"].lower()) == (status, "close")
        assert await connection.read_to_end() == b""


async def test_who_asks_for_nothing_is_told_the_end(certificate: Certificate) -> None:
    async with connected(
        certificate, Application(), keep_alive_seconds=0.05, sweep_seconds=0.02
    ) as connection:
        await connection.send(b"GET /x HTTP/1.1\r\nHost: t\r\n\r\n")
        assert (await connection.read_response())[0] == 200
        assert await connection.read_to_end() == b""
