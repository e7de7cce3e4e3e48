"""Live sockets over real connections: order, bounds, catching up, ends; on our server and over plain ASGI."""

import socket as stdlib_socket
import struct

import pytest
import trio
import trio.testing

from actors.kernel.sink import Prepared
from routes.edge.server.server import ServerSettings
from routes.edge.websocket.backlog import OFFERS_MAX_BYTES, OFFERS_MAX_MESSAGES
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.direct import GATHERED_MAX_BYTES
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application
from tests.edge.held import WAYS, Held, Way, served
from tests.edge.raw import HANDSHAKE, raw
from tests.support.server import running
from tests.support.websocket import Closed, connect


class Lagging:
    """A subscription that always wants to send its newest state."""

    def __init__(self, socket: LiveSocket, name: str, log: list[str], size: int = 10) -> None:
        self.socket = socket
        self.name = name
        self.log = log
        self.size = size

    def catch_up(self) -> None:
        if self.socket.offer(prepare(self.name * self.size)):
            self.log.append(self.name)
        else:
            self.socket.notify_when_writable(self)


@pytest.mark.parametrize("way", WAYS)
async def test_messages_both_ways_keep_their_order(way: Way, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        for number in range(200):
            await client.send_text(str(number))
            socket.send_nowait(prepare(number))
        socket.send_nowait(Prepared.join(prepare(number) for number in range(200, 210)))
        assert [await client.receive_json() for _ in range(210)] == list(range(210))
        assert (await client.close(1000, "done")).code == 1000
        # Stock Hypercorn does not pass on the code of the client's close frame.
        assert (await held.end()).code == (1006 if way == "stock" else 1000)
    assert held.said == [str(number).encode() for number in range(200)]


@pytest.mark.parametrize("way", WAYS)
async def test_what_the_client_said_before_it_closed_still_counts(way: Way, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        await client.send_text("last words")
        await client.close()
        await held.end()
    assert held.said == [b"last words"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("message", "code"), [(b"\x00", 4400), ("x" * 70_000, 4413)])
async def test_what_a_client_may_not_send(
    way: Way, message: str | bytes, code: int, sockets: Sockets
) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        if isinstance(message, bytes):
            await client.send_bytes(message)
        else:
            await client.send_text(message)
        assert (await client.wait_closed()).code == code
        assert (await held.end()).code == code


@pytest.mark.parametrize("way", WAYS)
async def test_a_subprotocol_is_selected(way: Way, sockets: Sockets) -> None:
    app = Application(handler=Held(), sockets=sockets)
    async with (
        served(app, way) as base_url,
        connect(base_url + "/live", subprotocols=["svc.v1", "svc-bearer.abc"]) as client,
    ):
        assert client.subprotocol == "svc.v1"


@pytest.mark.parametrize("way", WAYS)
async def test_a_full_socket_refuses_within_its_bounds_and_repays_in_order(
    way: Way, sockets: Sockets
) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        big, sent = prepare("x" * 100_000), 0
        while socket.offer(big):
            sent += 1
        assert not socket.clear
        small = prepare("y")
        while socket.offer(small):
            sent += 1
        backlog = socket._backlog
        assert backlog is not None
        assert backlog.size_bytes <= OFFERS_MAX_BYTES or backlog.messages == 1
        assert backlog.messages <= OFFERS_MAX_MESSAGES
        # Replies are not owed: they queue behind, in order.
        socket.send_nowait(prepare("reply"))
        log: list[str] = []
        several = [Lagging(socket, name, log) for name in "abc"]
        for one in (*several, several[0]):
            socket.notify_when_writable(one)
        assert log == []
        for _ in range(sent):
            await client.receive_text()
        assert [await client.receive_json() for _ in range(4)] == ["reply", "a" * 10, "b" * 10, "c" * 10]
        assert log == ["a", "b", "c"]


async def test_a_debtor_that_fills_the_socket_again_leaves_the_others_in_line(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        log: list[str] = []
        greedy, modest = Lagging(socket, "g", log, 3_000_000), Lagging(socket, "m", log)
        greedy.catch_up()
        assert not socket.clear
        socket.notify_when_writable(greedy)
        socket.notify_when_writable(modest)
        answers = [await client.receive_json() for _ in range(3)]
        assert [answer[0] for answer in answers] == ["g", "g", "m"]


async def test_pings_and_frames_never_interleave_for_a_slow_reader(sockets: Sockets) -> None:
    """The reader sleeps while half-sent frames wait; pongs come between frames, never inside one."""
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        sent: list[bool] = []
        number = 0
        while not sent or sent[-1]:
            sent.append(socket.offer(prepare(str(number % 10) * 9_000)))
            number += 1
            if number % 7 == 0:
                await client.ping()
        assert not socket.clear
        for number in range(len(sent) - 1):
            assert await client.receive_json() == str(number % 10) * 9_000
        await client.wait_pong()


async def test_replies_that_are_never_read_end_the_socket(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        socket = await held.socket()
        while not socket.closed:
            socket.send_nowait(prepare("x" * 10_000))
        assert (await held.end()).code == CloseCode.FLOOD


async def test_what_is_held_leaves_with_what_follows(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        await connection.read_response()
        socket = await held.socket()
        stream = connection.stream
        socket.hold(prepare(1))
        socket.hold(prepare(2))
        assert socket.clear
        assert socket.offer(prepare(3))
        assert await stream.receive_some(100) == b"\x81\x011\x81\x012\x81\x013"
        socket.hold(prepare(4))
        socket.release()
        socket.release()
        assert await stream.receive_some(100) == b"\x81\x014"
        socket.hold(prepare(5))
        socket.send_nowait(prepare(6))
        assert await stream.receive_some(100) == b"\x81\x015\x81\x016"
        socket.hold(prepare(7))
        socket.close(1000)
        assert await stream.receive_some(100) == b"\x81\x017\x88\x02\x03\xe8"


async def test_what_is_gathered_leaves_in_one_send_up_to_a_bound(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        await connection.read_response()
        socket, stream = await held.socket(), connection.stream
        socket.gather()
        socket.release()
        socket.gather()
        assert socket.offer(prepare(1))
        socket.hold(prepare(2))
        socket.send_nowait(prepare(3))
        with trio.move_on_after(0.01) as nothing:
            await stream.receive_some(100)
        assert nothing.cancelled_caught
        socket.release()
        assert await stream.receive_some(100) == b"\x81\x011\x81\x012\x81\x013"
        socket.gather()
        assert socket.offer(prepare("x" * GATHERED_MAX_BYTES))
        assert socket.offer(prepare(4))
        read = b""
        while not read.endswith(b"\x81\x014"):
            read += await stream.receive_some(GATHERED_MAX_BYTES)
        socket.gather()
        socket.offer(prepare(5))
        socket.close(1000)
        assert await stream.receive_some(100) == b"\x81\x015\x88\x02\x03\xe8"


@pytest.mark.parametrize(("early", "answered"), [(b"", b""), (b"\x89\x80\x00\x00\x00\x00", b"\x8a\x00")])
async def test_a_greeting_leaves_with_the_response_and_never_before_it(
    early: bytes, answered: bytes, sockets: Sockets
) -> None:
    async def greet(socket: LiveSocket) -> None:
        socket.send_nowait(prepare("hello"))

    app = Application(handler=greet, sockets=sockets, greets=True)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE + early)
        read = b""
        while not read.endswith(b'\x81\x07"hello"'):
            read += await connection.stream.receive_some(1 << 16)
            assert early or b"hello" in read
    head, _, frames = read.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    assert frames == answered + b'\x81\x07"hello"'


async def test_what_is_held_keeps_its_place_when_the_socket_takes_no_more(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        socket.hold(prepare("first"))
        assert socket.offer(prepare("x" * 5_000_000))
        assert not socket.clear
        socket.hold(prepare("behind"))
        assert not socket.offer(prepare("y"))
        socket.release()
        assert await client.receive_json() == "first"
        assert await client.receive_json() == "x" * 5_000_000
        assert await client.receive_json() == "behind"
        assert socket.clear


async def test_only_the_newest_ping_of_a_client_that_does_not_read_is_answered(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        await connection.read_response()
        socket = await held.socket()
        socket.offer(prepare("x" * 5_000_000))
        for number in range(500):
            await connection.send(b"\x89\x84\x00\x00\x00\x00%04d" % number)
        await trio.testing.wait_all_tasks_blocked(0.01)
        read = b""
        while not read.endswith(b"0499"):
            read += await connection.stream.receive_some(1 << 20)
        assert read.endswith(b'x"\x8a\x040499')


@pytest.mark.parametrize("multiplexed", [True, False])
async def test_the_end_of_a_subscription(multiplexed: bool, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        socket.multiplexed = multiplexed
        socket.end("conversation:1", "FORBIDDEN")
        if multiplexed:
            expected = {"type": "unsubscribed", "channel": "conversation:1", "code": "FORBIDDEN"}
            assert await client.receive_json() == expected
        else:
            with pytest.raises(Closed) as closed:
                await client.receive()
            assert (closed.value.code, closed.value.reason) == (4403, "FORBIDDEN")


@pytest.mark.parametrize("way", WAYS)
async def test_after_the_end_everything_is_accepted_and_dropped(way: Way, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        calls: list[str] = []
        socket.on_close(lambda: calls.append("before"))
        socket.close(4503, "DRAINING")
        socket.close(1000)
        socket.on_close(lambda: calls.append("after"))
        assert calls == ["before", "after"]
        assert socket.offer(prepare("dropped"))
        socket.send_nowait(prepare("dropped"))
        socket.notify_when_writable(Lagging(socket, "x", []))
        closed = await client.wait_closed()
        assert (closed.code, closed.reason) == (4503, "DRAINING")


async def test_a_close_frame_that_finds_the_client_gone_ends_the_socket_once(sockets: Sockets) -> None:
    """The connection was reset, and the server has not read so yet."""
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        socket = await held.socket()
        calls: list[str] = []
        socket.on_close(lambda: calls.append("told"))
        assert isinstance(connection.stream, trio.SocketStream)
        connection.stream.setsockopt(
            stdlib_socket.SOL_SOCKET, stdlib_socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        connection.stream.socket.close()
        socket.close(4503, "DRAINING")
        assert (socket.ending, calls, len(sockets)) == ((4503, "DRAINING"), ["told"], 0)


async def test_a_client_that_does_not_answer_the_close_is_cut(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    settings = ServerSettings(linger_seconds=0.1)
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        (await held.socket()).close(1000)
        assert (await connection.read_to_end()).endswith(b"\x88\x02\x03\xe8")
