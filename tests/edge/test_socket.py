"""Live sockets over real connections: order, bounds, debts, heartbeats; on our server and over plain ASGI."""

import json
from random import Random

import pytest
import trio
import trio.testing

from actors.kernel.outlet import Prepared
from routes.edge.close_codes import CloseCode
from routes.edge.frames import prepare
from routes.edge.server import ServerSettings
from routes.edge.socket import OFFERS_MAX_BYTES, OFFERS_MAX_MESSAGES, LiveSocket, SocketClosed
from routes.edge.sockets import Sockets
from tests.edge.apps import Application, FixedClock
from tests.edge.raw import HANDSHAKE, raw
from tests.support.server import EDGES, Edge, running
from tests.support.websocket import Closed, connect


class Held:
    """A handler that hands its socket to the test, and collects what the client says."""

    def __init__(self) -> None:
        self.sockets: list[LiveSocket] = []
        self.heard: list[bytes] = []
        self.ends: list[SocketClosed] = []
        self._ready = trio.Event()
        self._ended = trio.Event()

    async def __call__(self, socket: LiveSocket) -> None:
        self.sockets.append(socket)
        self._ready.set()
        try:
            while True:
                self.heard.append(await socket.receive())
        except SocketClosed as closed:
            self.ends.append(closed)
            self._ended.set()
            raise

    async def socket(self) -> LiveSocket:
        with trio.fail_after(5):
            await self._ready.wait()
        return self.sockets[-1]

    async def end(self) -> SocketClosed:
        with trio.fail_after(5):
            await self._ended.wait()
        return self.ends[-1]


class Creditor:
    """A subscription that always wants to send its newest state."""

    def __init__(self, socket: LiveSocket, name: str, log: list[str], size: int = 10) -> None:
        self.socket = socket
        self.name = name
        self.log = log
        self.size = size

    def repay(self) -> None:
        if self.socket.offer(prepare(self.name * self.size)):
            self.log.append(self.name)
        else:
            self.socket.owe(self)


@pytest.mark.parametrize("edge", EDGES)
async def test_messages_both_ways_keep_their_order(edge: Edge, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, edge=edge) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        for number in range(200):
            await client.send_text(str(number))
            socket.send_nowait(prepare(number))
        socket.send_nowait(Prepared.join(prepare(number) for number in range(200, 210)))
        assert [await client.receive_json() for _ in range(210)] == list(range(210))
        assert (await client.close(1000, "done")).code == 1000
        # Stock Hypercorn does not pass on the code of the client's close frame.
        assert (await held.end()).code == {"seam": 1000, "stock": 1006}[edge]
    assert held.heard == [str(number).encode() for number in range(200)]


@pytest.mark.parametrize("edge", EDGES)
async def test_what_the_client_said_before_it_closed_still_counts(edge: Edge, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, edge=edge) as base_url, connect(base_url + "/live") as client:
        await client.send_text("last words")
        await client.close()
        await held.end()
    assert held.heard == [b"last words"]


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("message", "code"), [(b"\x00", 4400), ("x" * 70_000, 4413)])
async def test_what_a_client_may_not_send(
    edge: Edge, message: str | bytes, code: int, sockets: Sockets
) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, edge=edge) as base_url, connect(base_url + "/live") as client:
        if isinstance(message, bytes):
            await client.send_bytes(message)
        else:
            await client.send_text(message)
        assert (await client.wait_closed()).code == code
        assert (await held.end()).code == code


@pytest.mark.parametrize("edge", EDGES)
async def test_a_subprotocol_is_selected(edge: Edge, sockets: Sockets) -> None:
    app = Application(handler=Held(), sockets=sockets)
    async with (
        running(app, edge=edge) as base_url,
        connect(base_url + "/live", subprotocols=["svc.v1", "svc-bearer.abc"]) as client,
    ):
        assert client.subprotocol == "svc.v1"


@pytest.mark.parametrize("edge", EDGES)
async def test_a_full_socket_refuses_within_its_bounds_and_repays_in_order(
    edge: Edge, sockets: Sockets
) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, edge=edge) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        big, sent = prepare("x" * 100_000), 0
        while socket.offer(big):
            sent += 1
        assert not socket.clear
        small = prepare("y")
        while socket.offer(small):
            sent += 1
        assert socket._queued_bytes <= OFFERS_MAX_BYTES or socket._queued_messages == 1
        assert socket._queued_messages <= OFFERS_MAX_MESSAGES
        # Replies are not owed: they queue behind, in order.
        socket.send_nowait(prepare("reply"))
        log: list[str] = []
        creditors = [Creditor(socket, name, log) for name in "abc"]
        for creditor in (*creditors, creditors[0]):
            socket.owe(creditor)
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
        greedy, modest = Creditor(socket, "g", log, 3_000_000), Creditor(socket, "m", log)
        greedy.repay()
        assert not socket.clear
        socket.owe(greedy)
        socket.owe(modest)
        answers = [await client.receive_json() for _ in range(3)]
        assert [answer[0] for answer in answers] == ["g", "g", "m"]


async def test_pings_and_frames_never_interleave_for_a_slow_reader(sockets: Sockets) -> None:
    """The reader sleeps while half-sent frames wait; pongs come between frames, never inside one."""
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        sent: list[bool] = []
        number = pings = 0
        while not sent or sent[-1]:
            sent.append(socket.offer(prepare(str(number % 10) * 9_000)))
            number += 1
            if number % 7 == 0:
                await client.ping()
                pings += 1
        assert not socket.clear
        for number in range(len(sent) - 1):
            assert await client.receive_json() == str(number % 10) * 9_000
        await client.wait_pong(pings)


async def test_replies_that_are_never_read_end_the_socket(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        socket = await held.socket()
        while not socket.closed:
            socket.send_nowait(prepare("x" * 10_000))
        assert (await held.end()).code == CloseCode.FLOOD


async def test_a_handler_that_is_busy_holds_the_client_back(sockets: Sockets) -> None:
    """The inbox is bounded; what is beyond it stays with TCP, and nothing is lost."""
    busy, total = trio.Event(), 500
    heard: list[bytes] = []
    done = trio.Event()

    async def slow(socket: LiveSocket) -> None:
        await busy.wait()
        while len(heard) < total:
            heard.append(await socket.receive())
        done.set()
        await socket.receive()

    app = Application(handler=slow, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        for number in range(total):
            await client.send_text(str(number))
        await trio.testing.wait_all_tasks_blocked()
        (socket,) = sockets
        assert len(socket._inbox) <= 16
        busy.set()
        with trio.fail_after(5):
            await done.wait()
    assert heard == [str(number).encode() for number in range(total)]


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


@pytest.mark.parametrize("edge", EDGES)
async def test_after_the_end_everything_is_accepted_and_dropped(edge: Edge, sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app, edge=edge) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        calls: list[str] = []
        socket.on_close(lambda: calls.append("before"))
        socket.close(4503, "DRAINING")
        socket.close(1000)
        socket.on_close(lambda: calls.append("after"))
        assert calls == ["before", "after"]
        assert socket.offer(prepare("dropped"))
        socket.send_nowait(prepare("dropped"))
        socket.owe(Creditor(socket, "x", []))
        closed = await client.wait_closed()
        assert (closed.code, closed.reason) == (4503, "DRAINING")


async def test_a_client_that_does_not_answer_the_close_is_cut(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    settings = ServerSettings(linger_seconds=0.1)
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE)
        (await held.socket()).close(1000)
        assert (await connection.read_to_end()).endswith(b"\x88\x02\x03\xe8")


async def test_a_silent_client_is_pinged_and_then_closed(clock: FixedClock) -> None:
    registry = Sockets(clock, Random(1), heartbeat_seconds=0.0)
    held = Held()
    app = Application(handler=held, sockets=registry)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?dead") as dead,
        connect(base_url + "/live?lively") as lively,
    ):
        await held.socket()
        dead.answers_pings = False
        registry.sweep()  # sees that both were heard: they have just come
        registry.sweep()  # pings both
        await lively.send_text("I am here")
        while held.heard != [b"I am here"]:
            await trio.testing.wait_all_tasks_blocked()
        registry.sweep()  # the lively one was heard; the dead one has had its time
        assert (await dead.wait_closed()).code == 4408
        assert dead.pings == 1
        assert [socket.user_id for socket in registry] == ["lively"]


async def test_a_token_that_ends(sockets: Sockets, clock: FixedClock) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live?u") as client:
        socket = await held.socket()
        socket.expires_at_ms = clock.now_ms() + 10
        sockets.sweep()
        assert not socket.closed
        clock.at_ms += 10
        sockets.sweep()
        closed = await client.wait_closed()
        assert (closed.code, closed.reason) == (4401, "TOKEN_EXPIRED")


async def test_the_eleventh_socket_replaces_the_first(clock: FixedClock) -> None:
    opened: list[str] = []
    closed: list[str] = []
    registry = Sockets(
        clock,
        Random(1),
        max_per_user=2,
        opened=lambda socket: opened.append(socket.session_id),
        closed=lambda socket: closed.append(socket.session_id),
    )
    app = Application(handler=Held(), sockets=registry)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?u") as first,
        connect(base_url + "/live?u") as second,
        connect(base_url + "/live?other"),
        connect(base_url + "/live?u") as third,
    ):
        assert (await first.wait_closed()).code == 4429
        assert [socket.session_id for socket in registry.of_user("u")] == ["session-2", "session-4"]
        registry.close_user("u", CloseCode.FORBIDDEN, "FORBIDDEN")
        assert (await second.wait_closed()).code == 4403
        assert (await third.wait_closed()).code == 4403
        assert len(registry) == 1
    assert opened == ["session-1", "session-2", "session-3", "session-4"]
    assert sorted(closed) == opened


async def test_draining_tells_clients_when_to_come_back(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?many") as many,
        connect(base_url + "/live?single") as single,
    ):
        while len(sockets) < 2:
            await trio.testing.wait_all_tasks_blocked()
        for socket in sockets:
            socket.multiplexed = socket.user_id == "many"
        await sockets.drain(grace_seconds=0)
        frame = json.loads(await many.receive_text())
        assert (frame["type"], frame["reason"]) == ("reconnect", "DRAINING")
        assert 0 <= frame["afterMs"] < 10_000
        assert (await many.wait_closed()).code == 4503
        assert (await single.wait_closed()).code == 4503
        async with connect(base_url + "/live?late") as late:
            assert (await late.wait_closed()).code == 4503
