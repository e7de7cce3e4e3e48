"""TLS: Hypercorn's send path under our connection; HTTP/1.1, HTTP/2 and a live socket over a queue."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx2
import pytest
import trio

from routes.edge.server.server import ServerSettings, serve
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, echo
from tests.edge.certificate import Certificate
from tests.support.server import address_of, on_free_port, running
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.websocket import Client


@pytest.fixture
def settings(certificate: Certificate) -> ServerSettings:
    return ServerSettings(certificate=certificate.server)


@pytest.mark.parametrize("http2", [False, True])
async def test_requests_over_tls_share_a_connection(
    http2: bool, certificate: Certificate, settings: ServerSettings
) -> None:
    async with (
        running(Application(), settings=settings) as base_url,
        httpx2.AsyncClient(verify=certificate.trusting(), http2=http2, timeout=PATIENCE_SECONDS) as client,
    ):
        assert base_url.startswith("https://")
        for _ in range(2):
            response = await client.post(base_url + "/x", content=b"x" * 100_000)
            assert (response.http_version, response.text) == (
                "HTTP/2" if http2 else "HTTP/1.1",
                "POST /x 100000",
            )
        assert (await client.post(base_url + "/unread", content=b"abc")).status_code == 401


@pytest.mark.parametrize("http2", [False, True])
async def test_stopping_waits_for_nobody_who_is_idle(
    http2: bool, certificate: Certificate, settings: ServerSettings
) -> None:
    stop, bound, ended = trio.Event(), [], trio.Event()
    patient = on_free_port(replace(settings, linger_seconds=1e9, drain_seconds=1e9))
    async with trio.open_nursery() as nursery:

        async def serving(*, task_status: trio.TaskStatus[None]) -> None:
            async def started(addresses: Sequence[str]) -> None:
                bound.extend(addresses)
                task_status.started()

            with patience():
                await serve(Application(), patient, stop=stop, started=started)
            ended.set()

        await nursery.start(serving)
        async with (
            httpx2.AsyncClient(
                verify=certificate.trusting(), http2=http2, timeout=PATIENCE_SECONDS
            ) as client,
            await trio.open_tcp_stream(*address_of(bound[0])),
        ):
            assert (await client.post(bound[0] + "/x", content=b"x")).status_code == 200
            stop.set()
            with patience():
                await ended.wait()


@pytest.mark.parametrize("http2", [False, True])
async def test_who_rests_gives_way_where_all_room_is_taken(
    http2: bool, certificate: Certificate, settings: ServerSettings
) -> None:
    scarce = replace(settings, max_connections=1)
    async with running(Application(), settings=scarce) as base_url, AsyncExitStack() as open_ones:
        for _ in range(3):
            client = httpx2.AsyncClient(verify=certificate.trusting(), http2=http2, timeout=PATIENCE_SECONDS)
            await open_ones.enter_async_context(client)
            assert (await client.post(base_url + "/x", content=b"x")).status_code == 200


async def test_a_live_socket(certificate: Certificate, settings: ServerSettings, sockets: Sockets) -> None:
    app = Application(handler=echo, sockets=sockets)
    async with running(app, settings=settings) as base_url:
        stream = await trio.open_ssl_over_tcp_stream(
            *address_of(base_url), ssl_context=certificate.trusting(), https_compatible=True
        )
        client = Client(stream)
        await client.shake_hands("/live", "127.0.0.1", headers=[], subprotocols=[])
        for number in range(20):
            await client.send_text(f"{number} " + "x" * 10_000)
        for number in range(20):
            assert (await client.receive_json()).startswith(f"{number} ")
        (socket,) = sockets
        socket.close(4503, "DRAINING")
        assert (await client.wait_closed()).code == 4503
        await trio.aclose_forcefully(stream)


async def test_whoever_does_not_shake_hands_is_dropped(settings: ServerSettings) -> None:
    async with running(Application(), settings=settings) as base_url:
        stream = await trio.open_tcp_stream(*address_of(base_url))
        async with stream:
            await stream.send_all(b"GET / HTTP/1.1\r\nHost: t\r\n\r\n")
            with patience():
                while await stream.receive_some(1000):
                    continue
