"""What waits for clients that do not read: bounded in bytes, by connection, address and process."""

import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import pytest
import trio
import trio.testing

from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.outgoing import PIECE_BYTES
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.dispatch import Edge
from routes.edge.principal import PUBLIC
from routes.edge.reply import Encoded
from routes.edge.server.quart_app import EdgeApp
from routes.edge.server.server import ServerSettings
from routes.edge.unsent import SharedBytes, Unsent, held_bytes
from routes.edge.websocket.backlog import OFFERS_MAX_BYTES
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import LARGE_BYTES, Application
from tests.edge.certificate import Certificate
from tests.edge.held import Held
from tests.edge.parts import Parts
from tests.edge.raw import HANDSHAKE, Raw, alive, raw
from tests.support.server import address_of, running
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from routes.service import Service

OUR_ANSWER = SharedBytes(bytes(LARGE_BYTES))
MINE = b"GET /mine HTTP/1.1\r\nHost: t\r\n\r\n"
OURS = MINE.replace(b"/mine", b"/ours")


@asynccontextmanager
async def slow(base_url: str, trusting: ssl.SSLContext | None = None) -> AsyncIterator[Raw]:
    """A client whose system takes next to nothing before it is read; over TLS when `trusting` something."""
    host, port = address_of(base_url)
    sock = trio.socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    async with trio.SocketStream(sock) as stream:
        await sock.connect((host, port))
        if trusting is None:
            yield Raw(stream)
            return
        secure = trio.SSLStream(stream, trusting, server_hostname=host, https_compatible=True)
        yield Raw(secure)
        await trio.aclose_forcefully(secure)


def hasten(client: Raw) -> None:
    """Let the client's system take what comes, so that the rest of the test is short."""
    assert isinstance(client.stream, trio.SocketStream)
    client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)


async def until_waiting(unsent: Unsent, connections: int) -> None:
    while unsent.slow < connections:
        await trio.testing.wait_all_tasks_blocked()


async def test_one_connection_has_one_response_waiting_however_much_it_asks_for() -> None:
    unsent, app = Unsent(), Application()
    async with running(app, settings=ServerSettings(unsent=unsent)) as base_url:
        async with slow(base_url) as client:
            await client.send(MINE * 10)
            await until_waiting(unsent, 1)
            assert (app.made, unsent.total_bytes) == (1, LARGE_BYTES)
            hasten(client)
            for _ in range(10):
                assert (await client.read_response())[0] == 200
        assert unsent.refused == 0
        await alive(base_url)
    assert (unsent.total_bytes, unsent.slow) == (0, 0)


async def test_no_address_fills_memory_with_responses_that_it_does_not_read() -> None:
    unsent, app = Unsent(max_address_bytes=2 * LARGE_BYTES), Application()
    async with running(app, settings=ServerSettings(unsent=unsent)) as base_url:  # noqa: SIM117
        async with slow(base_url) as first, slow(base_url) as second, slow(base_url) as third:
            await first.send(MINE)
            await second.send(MINE)
            await until_waiting(unsent, 2)
            assert unsent.total_bytes == 2 * LARGE_BYTES
            # In its turn and on the same connection: whoever pipelines can tell what was refused.
            await third.send(MINE + MINE)
            for _ in range(2):
                status, headers, body = await third.read_response()
                assert (status, headers["retry-after"]) == (503, "1")
                assert b'"code":"OVERLOADED"' in body
            assert (app.made, unsent.refused, unsent.slow) == (2, 2, 2)
            hasten(first)
            await first.read_response()
            hasten(third)
            await third.send(MINE)
            assert (await third.read_response())[0] == 200
    assert unsent.total_bytes == 0


async def test_the_process_refuses_what_would_not_fit_and_nothing_else() -> None:
    unsent, app = Unsent(max_bytes=LARGE_BYTES + 1), Application()
    async with running(app, settings=ServerSettings(unsent=unsent)) as base_url, slow(base_url) as first:
        await first.send(MINE)
        await until_waiting(unsent, 1)
        async with slow(base_url) as second:
            await second.send(MINE)
            assert (await second.read_response())[0] == 503
        assert unsent.total_bytes == LARGE_BYTES
        assert await alive(base_url)


async def test_what_everybody_is_sent_from_one_place_counts_for_nobody() -> None:
    unsent = Unsent(max_address_bytes=1)
    async with running(Application(), settings=ServerSettings(unsent=unsent)) as base_url:  # noqa: SIM117
        async with slow(base_url) as first, slow(base_url) as second:
            for client in (first, second):
                await client.send(OURS)
            await until_waiting(unsent, 2)
            assert unsent.total_bytes == 0
            for client in (first, second):
                hasten(client)
                status, _, body = await client.read_response()
                assert (status, len(body)) == (200, LARGE_BYTES)


async def test_a_trickle_does_not_keep_a_response_for_ever(mock_clock: trio.testing.MockClock) -> None:
    """Something within a minute is not enough: a thousandth of the least pace ends with the grace."""
    unsent = Unsent()
    settings = ServerSettings(unsent=unsent, stall_seconds=60, take_bytes_per_second=1_000_000)
    async with running(Application(), settings=settings) as base_url, slow(base_url) as client:
        await client.send(MINE)
        await until_waiting(unsent, 1)
        for _ in range(59):
            await client.read(100)
            mock_clock.jump(1)
            await trio.testing.wait_all_tasks_blocked()
        assert unsent.slow == 1
        await client.read(100)
        mock_clock.jump(2)
        while unsent.slow:
            await trio.testing.wait_all_tasks_blocked()
        assert unsent.total_bytes == 0


async def test_who_takes_enough_may_take_long(mock_clock: trio.testing.MockClock) -> None:
    unsent = Unsent()
    settings = ServerSettings(unsent=unsent, stall_seconds=10, take_bytes_per_second=LARGE_BYTES // 1000)
    async with running(Application(), settings=settings) as base_url, slow(base_url) as client:
        await client.send(MINE)
        await until_waiting(unsent, 1)
        for _ in range(16):
            await client.read(LARGE_BYTES // 20)
            mock_clock.jump(9)
            await trio.testing.wait_all_tasks_blocked()
        while (await client.stream.receive_some(65536)) and unsent.slow:
            pass
        assert unsent.total_bytes == 0


async def test_slow_sockets_are_owed_what_does_not_fit(sockets: Sockets) -> None:
    """Beyond the process's bound nothing is queued for a socket that does not read; it is not closed for it."""
    unsent, held = Unsent(max_bytes=4_000_000), Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, settings=ServerSettings(unsent=unsent)) as base_url, slow(base_url) as client:
        await client.send(HANDSHAKE)
        await client.read_response()
        stuck = await held.socket()
        fill(stuck)
        assert 0 < unsent.total_bytes <= 2 * OFFERS_MAX_BYTES
        unsent.tab("203.0.113.1").add(3_000_000)
        assert not stuck.offer(prepare("y"))
        assert not stuck.closed
        unsent.tab("203.0.113.1").add(-3_000_000)


def fill(live: LiveSocket) -> None:
    """Offer until no more is taken."""
    while live.offer(prepare("x" * 60_000)):
        pass


async def test_above_its_bound_the_process_cuts_the_slowest() -> None:
    unsent = Unsent(max_bytes=2 * LARGE_BYTES)
    settings = ServerSettings(unsent=unsent, sweep_seconds=0.01)
    async with running(Application(), settings=settings) as base_url, slow(base_url) as first:
        await first.send(MINE)
        await until_waiting(unsent, 1)
        async with slow(base_url) as second:
            await second.send(MINE)
            await until_waiting(unsent, 2)
            unsent.tab(None).add(1)
            assert len(await first.read_to_end()) < LARGE_BYTES
            assert (unsent.cut, unsent.slow, unsent.total_bytes) == (1, 1, LARGE_BYTES + 1)
            hasten(second)
            assert (await second.read_response())[0] == 200
        unsent.tab(None).add(-1)


def test_a_part_counts_as_long_as_it_holds_the_whole() -> None:
    whole = bytes(1000)
    assert held_bytes(whole) == held_bytes(memoryview(whole)[990:]) == 1000
    assert held_bytes(memoryview(SharedBytes(whole))[990:]) == 0


def test_addresses_leave_nothing_behind() -> None:
    unsent = Unsent()
    tab = unsent.tab("192.0.2.1")
    tab.add(5)
    assert unsent.tab("192.0.2.1") is tab
    tab.add(-5)
    del tab
    assert not unsent._tabs


@pytest.mark.parametrize("count", [0, 1])
def test_spent_is_to_the_byte(count: int) -> None:
    tab = Unsent(max_bytes=100, max_address_bytes=10).tab("192.0.2.1")
    tab.add(9 + count)
    assert tab.spent is bool(count)
    assert tab.fits(1) is not bool(count)


@endpoint("GET", "/v1/bulk", needs=PUBLIC)
async def bulk(call: Call) -> Encoded[dict[str, str]]:
    """Makes a large answer."""
    return Encoded(bytes(LARGE_BYTES))


async def test_over_tls_no_address_fills_memory_with_responses_that_it_does_not_read(
    certificate: Certificate,
) -> None:
    """There the application itself writes down what waits; a server that it does not know takes it off its hands."""
    parts = Parts(unsent=Unsent(max_address_bytes=LARGE_BYTES))
    table = RouteTable.of([Mount("bulk", (sys.modules[__name__],))])
    app = EdgeApp(table, partial(_opened, parts, table))
    settings = ServerSettings(certificate=certificate.server, linger_seconds=0.2)
    request = b"GET /v1/bulk HTTP/1.1\r\nHost: t\r\n\r\n"
    trusting = certificate.trusting()
    async with (
        running(app, settings=settings) as base_url,
        slow(base_url, trusting) as first,
        raw(base_url, trusting) as second,
    ):
        await first.send(request)
        await wait_until(lambda: _is(parts.unsent, LARGE_BYTES))
        await second.send(request)
        assert (await second.read_response())[0] == 503
        assert parts.unsent.refused == 1
        await trio.aclose_forcefully(first.stream)
        await wait_until(lambda: _is(parts.unsent, 0))


@endpoint("GET", "/v1/shared", needs=PUBLIC)
async def shared(call: Call) -> Encoded[dict[str, str]]:
    """What everybody is sent from one place."""
    return Encoded(OUR_ANSWER)


async def test_over_tls_an_address_has_a_piece_of_each_response_that_it_does_not_read_and_so_many_of_them(
    certificate: Certificate,
) -> None:
    """However the bytes are shared: what is framed and encrypted is a copy."""
    parts = Parts(unsent=Unsent(max_address_bytes=4 * PIECE_BYTES))
    table = RouteTable.of([Mount("bulk", (sys.modules[__name__],))])
    app = EdgeApp(table, partial(_opened, parts, table))
    settings = ServerSettings(certificate=certificate.server, linger_seconds=0.2)
    request = b"GET /v1/shared HTTP/1.1\r\nHost: t\r\n\r\n"
    trusting = certificate.trusting()
    async with (
        running(app, settings=settings) as base_url,
        slow(base_url, trusting) as first,
        slow(base_url, trusting) as second,
        raw(base_url, trusting) as third,
    ):
        for number, client in enumerate((first, second), start=1):
            await client.send(request)
            await wait_until(lambda number=number: _is(parts.unsent, number * 2 * PIECE_BYTES))
        await third.send(request)
        assert (await third.read_response())[0] == 503
        for client in (first, second):
            await trio.aclose_forcefully(client.stream)
        await wait_until(lambda: _is(parts.unsent, 0))


async def _is(unsent: Unsent, count: int) -> bool:
    return unsent.total_bytes == count


@asynccontextmanager
async def _opened(parts: Parts, table: RouteTable) -> AsyncIterator[Edge]:
    yield Edge(cast("Service", parts), table)
