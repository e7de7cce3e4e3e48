"""How a WebSocket on our server opens and ends, byte by byte (RFC 6455 §4.2, §5.5, §7.1)."""

import base64
from collections.abc import Awaitable
from contextlib import suppress

import pytest
import trio
import trio.testing
from structlog.typing import EventDict

from routes.edge.server.server import ServerSettings
from routes.edge.server.websocket import MOVES, Phase
from routes.edge.transport.handshake import acceptance, handshake_refusal, offered_subprotocols
from routes.edge.websocket.frames import close_frame, prepare
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application, echo
from tests.edge.raw import HANDSHAKE, Raw, raw
from tests.edge.server.play import MASK, client_frame
from tests.support.server import running
from tests.support.waiting import patience

CLOSE = client_frame(8, b"\x03\xe8")
HI = client_frame(1, b"hi")


async def opened(connection: Raw) -> None:
    await connection.send(HANDSHAKE)
    status, headers, _ = await connection.read_response()
    assert status == 101
    assert headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


# {what the client sends: everything that the server sends until its end}
CONVERSATIONS: dict[str, tuple[bytes, bytes]] = {
    "a message, then close": (HI + CLOSE, b'\x81\x04"hi"\x88\x02\x03\xe8'),
    "close without a code": (client_frame(8), b"\x88\x00"),
    "close with a reason": (client_frame(8, b"\x0f\xa0bye"), b"\x88\x02\x0f\xa0"),
    "nothing counts after close": (CLOSE + HI + CLOSE + b"\xff" * 50, b"\x88\x02\x03\xe8"),
    "ping": (client_frame(9, b"x") + CLOSE, b"\x8a\x01x\x88\x02\x03\xe8"),
    "a pong nobody asked for": (client_frame(10, b"x") + CLOSE, b"\x88\x02\x03\xe8"),
    "a ping between fragments": (
        client_frame(1, b"h", fin=False) + client_frame(9) + client_frame(0, b"i") + CLOSE,
        b'\x8a\x00\x81\x04"hi"\x88\x02\x03\xe8',
    ),
}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_a_conversation_is_answered_alike_however_it_is_cut(
    name: str, together: bool, sockets: Sockets
) -> None:
    """The same, whether it comes in one packet or byte by byte."""
    sent, expected = CONVERSATIONS[name]
    app = Application(handler=echo, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        for piece in [sent] if together else [bytes((byte,)) for byte in sent]:
            await connection.send(piece)
        assert await connection.read_to_end() == expected
        assert len(sockets) == 0


async def test_the_end_of_a_client_is_heard_while_its_messages_wait(sockets: Sockets) -> None:
    """More messages than may wait, and a close frame behind them: reading was paused when that was taken."""
    go = trio.Event()

    class Waiting:
        def heard(self, message: bytes) -> Awaitable[None]:
            return go.wait()

    async def waiting(socket: LiveSocket) -> Waiting:
        return Waiting()

    app = Application(handler=waiting, sockets=sockets)
    settings = ServerSettings(max_connections=1, linger_seconds=1e9)
    async with running(app, settings=settings) as base_url:
        async with raw(base_url) as connection:
            await opened(connection)
            await connection.send(HI * 20 + CLOSE)
            assert await connection.read_to_end() == b"\x88\x02\x03\xe8"
        with patience():
            status = 0
            while status != 101:
                # Who is refused as there is no room may find the connection reset.
                async with raw(base_url) as next_one:
                    with suppress(trio.BrokenResourceError):
                        await next_one.send(HANDSHAKE)
                        status = (await next_one.read_response())[0]
        go.set()


# {what the client sends: the close code}
BROKEN: dict[str, tuple[bytes, int]] = {
    "not masked": (b"\x81\x02hi", 1002),
    "a reserved bit": (client_frame(0x41, b"hi"), 1002),
    "a reserved opcode": (client_frame(3), 1002),
    "continues nothing": (client_frame(0, b"hi"), 1002),
    "not UTF-8": (client_frame(1, b"\xff"), 1007),
    "too big, said in its header": (b"\x81\xff" + (1 << 20).to_bytes(8, "big") + MASK, 4413),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_breaks_a_rule_ends_the_connection_at_once(name: str, sockets: Sockets) -> None:
    """RFC 6455 §7.1.7: a close frame, then FIN; the server does not wait for the client's close frame."""
    sent, code = BROKEN[name]
    app = Application(handler=echo, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        await connection.send(HI + sent + HI)
        answer = await connection.read_to_end()
        assert answer[:6] == b'\x81\x04"hi"'
        assert answer[6:7] == b"\x88"
        assert int.from_bytes(answer[8:10], "big") == code
        assert len(answer) == 8 + answer[7]


async def test_our_close_waits_for_theirs(sockets: Sockets) -> None:
    app = Application(handler=echo, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        (socket,) = sockets
        socket.close(4503, "DRAINING")
        assert await connection.stream.receive_some(100) == b"\x88\x0a\x11\x97DRAINING"
        # What the client had sent before it knew is not heard, and its pings are not answered.
        await connection.send(HI + client_frame(9, b"x") + CLOSE)
        assert await connection.read_to_end() == b""


async def test_our_close_reads_on_although_the_listener_was_busy(sockets: Sockets) -> None:
    """The client's close frame stands behind what a busy listener held back."""
    closed = trio.Event()

    class Busy:
        async def heard(self, message: bytes) -> None:
            await closed.wait()

    async def handler(socket: LiveSocket) -> Busy:
        socket.on_close(closed.set)
        return Busy()

    app = Application(handler=handler, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        await connection.send(client_frame(1, b"x" * 100) * 1000)
        await trio.testing.wait_all_tasks_blocked(0.01)
        (socket,) = sockets
        socket.close(1000)
        await connection.send(CLOSE)
        with patience():
            assert await connection.read_to_end() == b"\x88\x02\x03\xe8"


async def test_who_has_sent_the_last_byte_still_gets_ours(sockets: Sockets) -> None:
    """Close frame and FIN of the client, while five megabytes wait for it."""
    app = Application(handler=echo, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        (socket,) = sockets
        big = prepare("x" * 5_000_000)
        socket.offer(big)
        await connection.send(CLOSE)
        await connection.stream.send_eof()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert len(sockets) == 0
        assert await connection.read_to_end() == big.wire + b"\x88\x02\x03\xe8"


async def test_a_client_that_is_gone_without_a_word(sockets: Sockets) -> None:
    app = Application(handler=echo, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await opened(connection)
        (socket,) = sockets
        await connection.stream.send_eof()
        assert await connection.read_to_end() == b""
        assert socket.ending == (1006, "")
        assert len(sockets) == 0


async def test_a_client_that_goes_while_the_stream_opens(sockets: Sockets) -> None:
    """The handler is not cancelled: it finds the socket closed."""
    opening, go = trio.Event(), trio.Event()
    found: list[bool] = []

    async def slow(socket: LiveSocket) -> None:
        opening.set()
        await go.wait()
        found.append(socket.closed)

    app = Application(handler=slow, sockets=sockets)
    async with running(app) as base_url:
        async with raw(base_url) as connection:
            await opened(connection)
            await opening.wait()
        while len(sockets):
            await trio.testing.wait_all_tasks_blocked()
        go.set()
        while not found:
            await trio.testing.wait_all_tasks_blocked()
    assert found == [True]


async def test_a_client_that_never_ends_is_cut(sockets: Sockets) -> None:
    """Both close frames are exchanged, our FIN is sent, and the client keeps the connection."""
    settings = ServerSettings(linger_seconds=0.05, sweep_seconds=0.02)
    app = Application(handler=echo, sockets=sockets)
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await opened(connection)
        await connection.send(CLOSE)
        assert await connection.read_to_end() == b"\x88\x02\x03\xe8"
        with patience(), pytest.raises(trio.BrokenResourceError):
            while True:
                await connection.send(HI)
                await trio.testing.wait_all_tasks_blocked()


def test_a_phase_never_comes_back() -> None:
    order = list(Phase)
    for phase, following in MOVES.items():
        assert all(order.index(later) > order.index(phase) for later in following)
        assert phase is Phase.GONE or Phase.GONE in following
    assert set(MOVES) == set(Phase)


def test_a_reason_is_cut_between_characters() -> None:
    frame = close_frame(4000, "€" * 100)
    assert frame[:2] == bytes((0x88, 125))
    assert frame[4:].decode() == "€" * 41


KEY = base64.b64encode(b"0123456789abcdef")
SOUND = [
    (b"host", b"t"),
    (b"upgrade", b"WebSocket"),
    (b"connection", b"keep-alive, Upgrade"),
    (b"sec-websocket-key", KEY),
    (b"sec-websocket-version", b"13"),
]


def without(name: bytes, *values: bytes) -> list[tuple[bytes, bytes]]:
    return [field for field in SOUND if field[0] != name] + [(name, value) for value in values]


@pytest.mark.parametrize(
    ("version", "headers", "status"),
    [
        ("1.1", SOUND, None),
        ("1.0", SOUND, 400),
        ("2", SOUND, 400),
        ("1.1", without(b"upgrade"), 400),
        ("1.1", without(b"upgrade", b"h2c"), 400),
        ("1.1", without(b"upgrade", b"h2c, websocket"), None),
        ("1.1", without(b"connection", b"close"), 400),
        ("1.1", without(b"connection", b"keep-alive", b"upgrade"), None),
        ("1.1", without(b"sec-websocket-version"), 426),
        ("1.1", without(b"sec-websocket-version", b"8"), 426),
        ("1.1", without(b"sec-websocket-version", b"13", b"8"), 426),
        ("1.1", without(b"sec-websocket-key"), 400),
        ("1.1", without(b"sec-websocket-key", KEY, KEY), 400),
        ("1.1", without(b"sec-websocket-key", b"c2hvcnQ="), 400),
        ("1.1", without(b"sec-websocket-key", b"!"), 400),
        ("1.1", [*SOUND, (b"sec-websocket-protocol", b"a\xff")], 400),
        ("1.1", [*SOUND, (b"sec-websocket-extensions", b"\xff")], 400),
        ("1.1", [*SOUND, (b"x-name", b"\xff")], None),
    ],
)
def test_a_handshake_is_refused_by_its_headers(
    version: str, headers: list[tuple[bytes, bytes]], status: int | None
) -> None:
    refused = handshake_refusal(version, headers)
    assert (None if refused is None else refused.status_hint) == status


def test_what_is_offered_and_accepted() -> None:
    offered = [(b"sec-websocket-protocol", b"svc.v1, svc-bearer.Ab"), (b"sec-websocket-protocol", b" x ,")]
    assert offered_subprotocols(offered) == ["svc.v1", "svc-bearer.Ab", "x"]
    response = acceptance(
        b"dGhlIHNhbXBsZSBub25jZQ==", subprotocol=b"svc.v1", extension=b"e; f=1", headers=[(b"a", b"b")]
    )
    assert response == (
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nsec-websocket-protocol: svc.v1\r\n"
        b"sec-websocket-extensions: e; f=1\r\na: b\r\n\r\n"
    )


@pytest.mark.parametrize("politely", [False, True])
async def test_a_fault_while_a_socket_ends_is_no_concern_of_others(
    politely: bool, sockets: Sockets, faults: list[EventDict]
) -> None:
    """Who hears of the end may fail: the others hear of it too, and the server goes on."""
    heard = trio.Event()

    def fail() -> None:
        raise ValueError("who hears of the end is broken")

    async def bad(socket: LiveSocket) -> None:
        if socket.user_id == "bad":
            socket.on_close(heard.set)
            socket.on_close(fail)  # told first: the last comes first

    app = Application(handler=bad, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as fine:
        await opened(fine)
        async with raw(base_url) as connection:
            await connection.send(HANDSHAKE.replace(b"/live", b"/live?bad"))
            await connection.read_response()
            if politely:
                await connection.send(CLOSE)
                assert await connection.read_to_end() == b"\x88\x02\x03\xe8"
        with patience():
            await heard.wait()
        assert len(sockets) == 1
        await fine.send(CLOSE)
        assert await fine.read_to_end() == b"\x88\x02\x03\xe8"
    assert [line["event"] for line in faults] == ["connection failed"]
    faults.clear()
