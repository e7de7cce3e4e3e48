"""HTTP/2 as its frames show it: connections without a request, responses that break off, and the end of a server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import pytest
import trio
import trio.testing
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from structlog.typing import EventDict

from routes.edge.outgoing import PIECE_BYTES
from routes.edge.server.parser import MAX_FIELDS
from routes.edge.server.server import ServerSettings, serve
from tests.edge.apps import Application
from tests.edge.certificate import Certificate
from tests.edge.tls.http2_client import ROOM_BYTES, connected
from tests.support.server import on_free_port, running
from tests.support.waiting import patience

PIECES = 40


class Breaking(Application):
    """Sends the beginning of a response, and fails."""

    async def _answer(
        self, method: str, path: str, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        raise ValueError("the application is broken")


class Waiting(Application):
    """Begins each response, and goes on with it when it may."""

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "http":
            self.arrived.set()
            await self.go.wait()
        await super().__call__(scope, receive, send)


class Streaming(Application):
    """Sends a response of many pieces, and counts those that were taken off it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    async def _answer(
        self, method: str, path: str, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(PIECES):
            await send({"type": "http.response.body", "body": bytes(PIECE_BYTES), "more_body": True})
            self.taken += 1
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@asynccontextmanager
async def stoppable(
    app: Application, certificate: Certificate
) -> AsyncIterator[tuple[str, trio.Event, trio.Event]]:
    """A server with its address, and what says that it parts, and that it stops."""
    stop, parting = trio.Event(), trio.Event()

    async def run(*, task_status: trio.TaskStatus[str]) -> None:
        async def started(addresses: Sequence[str]) -> None:
            task_status.started(addresses[0])

        settings = on_free_port(ServerSettings(certificate=certificate.server))
        await serve(app, settings, stop=stop, parting=parting, started=started)

    with patience():
        async with trio.open_nursery() as nursery:
            yield await nursery.start(run), parting, stop
            stop.set()


@pytest.mark.parametrize("asks", [False, True])
async def test_a_connection_without_a_request_is_idle_whatever_else_it_carries(
    asks: bool, certificate: Certificate
) -> None:
    settings = ServerSettings(certificate=certificate.server, keep_alive_seconds=0.1, sweep_seconds=0.01)
    async with (
        running(Application(), settings=settings) as base_url,
        connected(base_url, certificate) as client,
    ):
        if asks:
            await client.ask(1, b"/x")
            await client.hear(h2.events.StreamEnded)
        client.h2.ping(b"12345678")
        await client.flush()
        await client.hear(h2.events.ConnectionTerminated)


async def test_who_asks_nothing_when_a_server_stops_is_told(certificate: Certificate) -> None:
    async with (
        stoppable(Application(), certificate) as (url, _, stop),
        connected(url, certificate) as client,
    ):
        await client.ask(1, b"/x")
        await client.hear(h2.events.StreamEnded)
        stop.set()
        heard = await client.hear(h2.events.ConnectionTerminated)
    (parted,) = [event for event in heard if isinstance(event, h2.events.ConnectionTerminated)]
    assert (parted.error_code, parted.last_stream_id) == (h2.errors.ErrorCodes.NO_ERROR, 1)


@pytest.mark.parametrize(
    ("target", "method"),
    [(b"/\xff", b"GET"), (b"/x", b"G\xffT"), (b"x", b"GET"), (b"/x#y", b"GET"), (b"*", b"GET")],
)
async def test_what_is_no_request_is_reset_and_the_others_are_answered(
    target: bytes, method: bytes, certificate: Certificate
) -> None:
    async with (
        running(Application(), settings=ServerSettings(certificate=certificate.server)) as base_url,
        connected(base_url, certificate) as client,
    ):
        await client.ask(1, target, method)
        heard = await client.hear(h2.events.StreamReset)
        assert [one.error_code for one in heard if isinstance(one, h2.events.StreamReset)] == [
            h2.errors.ErrorCodes.PROTOCOL_ERROR
        ]
        await client.ask(3, b"/x")
        await client.hear(h2.events.StreamEnded)


async def test_a_request_has_no_more_fields_than_over_http_1(certificate: Certificate) -> None:
    async with (
        running(Application(), settings=ServerSettings(certificate=certificate.server)) as base_url,
        connected(base_url, certificate) as client,
    ):
        for number, count, answer in (
            (1, MAX_FIELDS, h2.events.StreamEnded),
            (3, MAX_FIELDS + 1, h2.events.StreamReset),
            (5, 0, h2.events.StreamEnded),
        ):
            await client.ask(number, b"/x", more=[(b"a", b"")] * count)
            heard = await client.hear(answer)
            assert [one.stream_id for one in heard if isinstance(one, answer)] == [number]
        told = client.h2.remote_settings.max_header_list_size
        assert told is not None
        await client.ask(7, b"/x", more=[(b"a", b"")] * (told // 33 + 1))
        (ended,) = [one for one in await client.hear() if isinstance(one, h2.events.ConnectionTerminated)]
        assert ended.error_code is h2.errors.ErrorCodes.ENHANCE_YOUR_CALM


async def test_priorities_are_ignored_however_many_there_are(certificate: Certificate) -> None:
    async with (
        running(Application(), settings=ServerSettings(certificate=certificate.server)) as base_url,
        connected(base_url, certificate) as client,
    ):
        for number in range(1_100):
            client.h2.prioritize(3 + 2 * number, weight=5, depends_on=5 + 2 * number)
        await client.ask(1, b"/x")
        await client.hear(h2.events.StreamEnded)


async def test_a_response_that_breaks_off_is_reset(certificate: Certificate, faults: list[EventDict]) -> None:
    settings = ServerSettings(certificate=certificate.server)
    async with (
        running(Breaking(), settings=settings) as base_url,
        connected(base_url, certificate) as client,
    ):
        await client.ask(1, b"/x")
        heard = await client.hear(h2.events.StreamReset)
    assert not any(isinstance(event, h2.events.StreamEnded) for event in heard)
    faults.clear()


@pytest.mark.parametrize("window_bytes", [0, 1, 10_000])
async def test_a_response_that_a_client_does_not_take_waits_where_it_is_made(
    window_bytes: int, certificate: Certificate
) -> None:
    app = Streaming()
    async with (
        running(app, settings=ServerSettings(certificate=certificate.server)) as base_url,
        connected(base_url, certificate) as client,
    ):
        await client.narrow(window_bytes)
        await client.ask(1, b"/x")
        await client.hear(h2.events.ResponseReceived)
        for _ in range(PIECES):  # each is looked at by the sending task, which makes no room
            client.h2.increment_flow_control_window(1, 1)
            client.h2.ping(b"12345678")
            await client.flush()
            await client.hear(h2.events.PingAckReceived)
        assert app.taken <= 1
        client.h2.increment_flow_control_window(ROOM_BYTES, 1)
        await client.flush()
        heard = await client.hear(h2.events.StreamEnded)
    assert app.taken == PIECES
    assert not any(isinstance(event, h2.events.StreamReset) for event in heard)


@pytest.mark.parametrize(("path", "size"), [(b"/streamed", 11), (b"/big", 8_000_000)])
async def test_while_a_server_parts_what_comes_is_answered_whole_before_the_connection_ends(
    path: bytes, size: int, certificate: Certificate
) -> None:
    async with (
        stoppable(Application(), certificate) as (url, parting, _),
        connected(url, certificate) as client,
    ):
        await client.ask(1, b"/x")
        await client.hear(h2.events.StreamEnded)
        parting.set()
        await trio.testing.wait_all_tasks_blocked()
        await client.ask(3, path)
        heard = await client.hear(h2.events.ConnectionTerminated)
    assert sum(len(event.data) for event in heard if isinstance(event, h2.events.DataReceived)) == size
    assert any(isinstance(event, h2.events.StreamEnded) for event in heard)
    assert not any(isinstance(event, h2.events.StreamReset) for event in heard)


async def test_what_is_asked_when_a_server_stops_is_answered_whole(certificate: Certificate) -> None:
    app = Waiting()
    async with (
        stoppable(app, certificate) as (url, _, stop),
        connected(url, certificate) as client,
    ):
        await client.ask(1, b"/streamed")
        await app.arrived.wait()
        stop.set()
        await trio.testing.wait_all_tasks_blocked()
        app.go.set()
        heard = await client.hear(h2.events.ConnectionTerminated)
    assert any(isinstance(event, h2.events.StreamEnded) for event in heard)
