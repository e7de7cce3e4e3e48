"""What a client says reaches its listener: one message at a time, within bounds, and faults end with it."""

from collections.abc import Awaitable

import pytest
import trio
import trio.testing
from structlog.typing import EventDict

from routes.edge.websocket.backlog import OFFERS_MAX_BYTES
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.inbox import INBOX_MAX_MESSAGES
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application
from tests.edge.held import WAYS, Held, Way, served
from tests.support.server import running
from tests.support.waiting import patience
from tests.support.websocket import Client, connect


class Slow:
    """A listener for which each message takes until the test says go."""

    def __init__(self) -> None:
        self.go = trio.Event()
        self.begun = 0
        self.said: list[bytes] = []

    async def __call__(self, socket: LiveSocket) -> "Slow":
        return self

    def heard(self, message: bytes) -> Awaitable[None]:
        self.begun += 1
        return self._take(message)

    async def _take(self, message: bytes) -> None:
        await self.go.wait()
        self.said.append(message)


@pytest.mark.parametrize("way", WAYS)
async def test_a_listener_that_is_busy_holds_the_client_back(way: Way, sockets: Sockets) -> None:
    """One message at a time; the inbox is bounded, what is beyond it stays with TCP, and nothing is lost."""
    slow, total = Slow(), 300
    app = Application(handler=slow, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(say, client, total)
            while slow.begun == 0:
                await trio.testing.wait_all_tasks_blocked()
            await trio.testing.wait_all_tasks_blocked(0.01)
            (socket,) = sockets
            assert slow.begun == 1
            # What came with the message that filled the inbox waits too: one read of 16 KiB has 4 of these.
            assert len(socket._inbox or ()) <= INBOX_MAX_MESSAGES + 4
            slow.go.set()
        await client.close()
        with patience():
            while len(slow.said) < total:
                await trio.testing.wait_all_tasks_blocked()
    assert slow.said == [pad(number) for number in range(total)]


def pad(number: int) -> bytes:
    return str(number).encode().ljust(4000)


async def say(client: Client, total: int) -> None:
    for number in range(total):
        await client.send_text(pad(number).decode())


async def test_a_client_that_lets_replies_pile_up_is_not_heard(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live") as client:
        socket = await held.socket()
        while socket.queued_bytes <= OFFERS_MAX_BYTES:
            socket.send_nowait(prepare("x" * 100_000))
        await client.send_text("more")
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert held.said == []
        while held.said == []:
            await client.receive_text()
        assert held.said == [b"more"]


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_said_before_the_stream_is_open_is_heard_after_it(way: Way, sockets: Sockets) -> None:
    slow, opened = Held(), trio.Event()

    async def handler(socket: LiveSocket) -> Held:
        await slow(socket)
        await opened.wait()
        return slow

    app = Application(handler=handler, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        await client.send_text("early")
        await slow.socket()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert slow.said == []
        opened.set()
        while slow.said == []:
            await trio.testing.wait_all_tasks_blocked()
        assert slow.said == [b"early"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_stream_that_wants_to_hear_nothing(way: Way, sockets: Sockets) -> None:
    async def deaf(socket: LiveSocket) -> None:
        socket.send_nowait(prepare("hello"))

    app = Application(handler=deaf, sockets=sockets)
    async with served(app, way) as base_url, connect(base_url + "/live") as client:
        for _ in range(100):
            await client.send_text("anybody there?")
        assert await client.receive_json() == "hello"
        assert (await client.close()).code == 1000


class Broken:
    """A listener that fails: at once, or after it has waited."""

    def __init__(self) -> None:
        self.said: list[bytes] = []

    async def __call__(self, socket: LiveSocket) -> "Broken":
        if socket.user_id == "open":
            raise ValueError("the handler is broken")
        return self

    def heard(self, message: bytes) -> Awaitable[None] | None:
        self.said.append(message)
        if message == b"later":
            return self._later()
        raise ValueError("the listener is broken")

    async def _later(self) -> None:
        await trio.lowlevel.checkpoint()
        raise ValueError("the listener is broken")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("when", ["open", "now", "later"])
async def test_a_fault_closes_its_socket_with_1011(
    way: Way, when: str, sockets: Sockets, faults: list[EventDict]
) -> None:
    broken = Broken()
    app = Application(handler=broken, sockets=sockets)
    async with served(app, way) as base_url, connect(f"{base_url}/live?{when}") as client:
        if when != "open":
            await client.send_text(when)
            await client.send_text("and then")
        assert (await client.wait_closed()).code == 1011
        assert len(sockets) == 0
    assert broken.said == ([] if when == "open" else [when.encode()])
    assert [line["event"] for line in faults] == ["connection failed"]
    faults.clear()
