"""The four faults of Hypercorn 0.18 that a stranger can trigger, and their neighbours, over real sockets.

Proof that the cures do it: with `EDGE = "stock"` every test of this file fails, except where it says so.
"""

from contextlib import AbstractAsyncContextManager

import pytest
import trio
import trio.testing
from hypercorn.typing import ASGIFramework
from structlog.typing import EventDict

from routes.edge.listener import Listener
from routes.edge.server.server import ServerSettings
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application, echo
from tests.edge.certificate import Certificate
from tests.edge.raw import HANDSHAKE, Raw, alive, raw
from tests.support.server import Edge, running
from tests.support.waiting import patience
from tests.support.websocket import connect

EDGE: Edge = "lean"


class Wire:
    """Cleartext, which is ours alone, or TLS, where Hypercorn's parts are cured.

    Args:
        certificate: None for cleartext.

    Attributes:
        trusting: for the client, None for cleartext.
        greeting: with what a WebSocket may begin: Hypercorn pings at once.
    """

    def __init__(self, certificate: Certificate | None) -> None:
        self._certificate = certificate
        self.trusting = None if certificate is None else certificate.trusting()
        self.greeting = b"" if certificate is None else b"\x89\x00"

    def settings(self, **bounds: float) -> ServerSettings:
        if self._certificate is None:
            return ServerSettings(**bounds)  # type: ignore[arg-type]
        files = {"certificate": self._certificate.server}
        return ServerSettings(**bounds, **files)  # type: ignore[arg-type]

    def running(self, app: ASGIFramework, **bounds: float) -> AbstractAsyncContextManager[str]:
        return running(app, edge=EDGE, settings=self.settings(**bounds))

    def raw(self, base_url: str) -> AbstractAsyncContextManager[Raw]:
        return raw(base_url, self.trusting)

    async def alive(self, base_url: str) -> bool:
        return await alive(base_url, self.trusting)


@pytest.fixture(params=["cleartext", "TLS"])
def wire(request: pytest.FixtureRequest, certificate: Certificate) -> Wire:
    return Wire(certificate if request.param == "TLS" else None)


async def test_a_byte_after_the_handshake_is_kept_for_the_socket(sockets: Sockets, wire: Wire) -> None:
    """Fault 1. Stock answers 400 behind the application's back and then ends the process."""
    app = Application(handler=echo, sockets=sockets)
    async with wire.running(app) as base_url:
        async with wire.raw(base_url) as connection:
            await connection.send(HANDSHAKE.replace(b"/live", b"/later") + b"\x81")
            await app.arrived.wait()
            await connection.send(b"\x82\x00\x00\x00\x00hi")
            app.go.set()
            status, headers, _ = await connection.read_response()
            assert status == 101
            assert headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
            echoed = b'\x81\x04"hi"'
            received = await connection.read(len(wire.greeting + echoed))
            assert received in {wire.greeting + echoed, echoed + wire.greeting}
        assert await wire.alive(base_url)


async def test_garbage_after_a_refused_handshake(sockets: Sockets, wire: Wire) -> None:
    """Fault 1 again: the refusal arrives, the connection ends, the server lives."""
    app = Application(handler=echo, sockets=sockets)
    async with wire.running(app) as base_url:
        async with wire.raw(base_url) as connection:
            await connection.send(HANDSHAKE.replace(b"/live", b"/refused") + b"\x00" * 1000)
            status, headers, _ = await connection.read_response()
            assert (status, headers["connection"]) == (401, "close")
            assert await connection.read_to_end() == b""
        assert await wire.alive(base_url)


async def test_too_much_before_the_upgrade_ends_the_connection(sockets: Sockets, wire: Wire) -> None:
    app = Application(handler=echo, sockets=sockets)
    async with wire.running(app) as base_url:
        async with wire.raw(base_url) as connection:
            await connection.send(HANDSHAKE.replace(b"/live", b"/later") + b"\x00" * 100_000)
            await connection.read_to_end()
            app.go.set()
        assert await wire.alive(base_url)


async def test_a_handshake_header_that_is_not_ascii(sockets: Sockets, wire: Wire) -> None:
    """Fault 1, second half. Stock's process ends with a UnicodeDecodeError."""
    app = Application(handler=echo, sockets=sockets)
    for header in (
        b"Sec-WebSocket-Protocol: a\xff",
        b"Connection: upgrade, \xff",
        b"Sec-WebSocket-Key: \xff",
    ):
        async with wire.running(app) as base_url:
            async with wire.raw(base_url) as connection:
                broken = HANDSHAKE[:-2] + header + b"\r\n\r\n"
                await connection.send(broken)
                status, headers, body = await connection.read_response()
                assert (status, headers["content-type"]) == (400, "application/problem+json")
                assert b'"code":"BAD_REQUEST"' in body
                assert await connection.read_to_end() == b""
            assert await wire.alive(base_url)


async def test_data_after_the_closing_handshake(sockets: Sockets, wire: Wire) -> None:
    """A neighbour of fault 1: on stock wsproto's LocalProtocolError ends the process."""
    app = Application(handler=echo, sockets=sockets)
    async with wire.running(app) as base_url:
        async with wire.raw(base_url) as connection:
            close = b"\x88\x82\x00\x00\x00\x00\x03\xe8"
            await connection.send(HANDSHAKE + close + close + b"\x81\x80\x00\x00\x00\x00" * 50)
            status, _, _ = await connection.read_response()
            assert status == 101
            received = (await connection.read_to_end()).removeprefix(wire.greeting)
            assert received == b"\x88\x02\x03\xe8"
        assert await wire.alive(base_url)


async def test_compression_is_never_negotiated(sockets: Sockets, wire: Wire) -> None:
    """Fault 2. Stock answers with permessage-deflate, and inflates before it looks at the size."""
    app = Application(handler=echo, sockets=sockets)
    async with wire.running(app) as base_url, wire.raw(base_url) as connection:
        offer = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
        await connection.send(HANDSHAKE[:-2] + offer)
        status, headers, _ = await connection.read_response()
        assert status == 101
        assert "sec-websocket-extensions" not in headers
        # A frame that claims to be compressed breaks the protocol (RFC 6455 §5.2).
        await connection.send(b"\xc1\x80\x00\x00\x00\x00")
        received = (await connection.read_to_end()).removeprefix(wire.greeting)
        assert received[2:4] == (1002).to_bytes(2, "big")


async def test_a_message_above_the_bound_is_not_collected(sockets: Sockets) -> None:
    """Fault 2, second half: bytes count, not characters; 22,000 of these have 66,000 bytes.

    (Passes on stock too, where `QueuedSocket` counts; the collecting before it is bounded by 16 MiB there.)
    """
    app = Application(handler=echo, sockets=sockets)
    async with running(app, edge=EDGE) as base_url, connect(base_url + "/live") as client:
        await client.send_text("€" * 21_000)
        assert await client.receive_json() == "€" * 21_000
        await client.send_text("€" * 22_000)
        assert (await client.wait_closed()).code == 4413


async def test_a_client_that_never_reads_is_closed_in_time(sockets: Sockets, wire: Wire) -> None:
    """Fault 3. Stock's send is shielded and has no end: the connection stays for ever."""
    ended = trio.Event()

    class Flood:
        """Fills the socket whenever it has room."""

        def __init__(self, socket: LiveSocket) -> None:
            self.socket = socket

        def catch_up(self) -> None:
            while self.socket.offer(prepare("x" * 100_000)):
                continue
            self.socket.notify_when_writable(self)

    async def flood(socket: LiveSocket) -> None:
        socket.on_close(ended.set)
        Flood(socket).catch_up()

    bounds = {"stall_seconds": 0.1, "sweep_seconds": 0.02}
    app = Application(handler=flood, sockets=sockets)
    async with wire.running(app, **bounds) as base_url:
        async with wire.raw(base_url) as connection:
            await connection.send(HANDSHAKE)
            with patience():
                await ended.wait()
        assert await wire.alive(base_url)
        assert len(sockets) == 0


async def test_a_client_that_never_reads_its_response(sockets: Sockets, wire: Wire) -> None:
    """Fault 3 for HTTP: the server can be stopped. (Passes on stock, where the test's own limit ends it.)"""
    app = Application()
    bounds = {"stall_seconds": 0.1, "sweep_seconds": 0.02}
    async with wire.running(app, **bounds) as base_url, wire.raw(base_url) as connection:
        await connection.send(b"GET /big HTTP/1.1\r\nHost: t\r\n\r\n")
        await app.arrived.wait()
        await trio.testing.wait_all_tasks_blocked()
        # Leaving the block stops the server, which must not wait for this response.


async def test_an_answer_before_the_body_says_that_it_is_the_last(wire: Wire) -> None:
    """Fault 4. Stock says nothing, and the client's next request on this connection is lost."""
    async with wire.running(Application()) as base_url, wire.raw(base_url) as connection:
        await connection.send(b"POST /unread HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\nabc")
        status, headers, body = await connection.read_response()
        assert (status, headers["connection"], body) == (401, "close", b"no")
        # What is still on its way is read and thrown away, not answered with a reset.
        await connection.send(b"x" * 500_000)
        assert await connection.read_to_end() == b""
        if wire.trusting is None:  # nothing can follow TLS's own end
            await connection.send(b"x" * 100_000)


async def test_an_answer_before_a_large_body_that_nobody_reads(wire: Wire) -> None:
    """Fault 4, as it hangs: on stock the end of the response waits for a full queue that nobody empties."""
    app = Application()

    async def late(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["type"] == "http" and scope["path"] == "/unread":
            await trio.testing.wait_all_tasks_blocked()
        await app(scope, receive, send)

    async with wire.running(late) as base_url, wire.raw(base_url) as connection:
        async with trio.open_nursery() as nursery:
            head = b"POST /unread HTTP/1.1\r\nHost: t\r\nContent-Length: 3000000\r\n\r\n"
            nursery.start_soon(connection.send, head + b"x" * 3_000_000)
            status, headers, _ = await connection.read_response()
            assert (status, headers["connection"]) == (401, "close")
        assert await connection.read_to_end() == b""
        assert await wire.alive(base_url)


async def test_a_fault_in_one_connection_touches_no_other(sockets: Sockets, faults: list[EventDict]) -> None:
    """An exception in a socket's handler closes that socket with 1011. (Stock keeps this one as well.)"""

    class Broken:
        """Fails at the first message."""

        def heard(self, message: bytes) -> None:
            raise ValueError("the handler is broken")

    async def broken(socket: LiveSocket) -> Listener:
        return Broken() if socket.user_id == "broken" else await echo(socket)

    app = Application(handler=broken, sockets=sockets)
    async with (
        running(app, edge=EDGE) as base_url,
        connect(base_url + "/live?fine") as fine,
        connect(base_url + "/live?broken") as other,
    ):
        await other.send_text("now")
        assert (await other.wait_closed()).code == 1011
        await fine.send_text("still here?")
        assert await fine.receive_json() == "still here?"
    assert [line["event"] for line in faults] == ["connection failed"]
    faults.clear()
