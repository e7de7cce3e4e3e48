"""Links over a real NATS server: in order, over its end and its silence, and only for those who share the key."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import pytest
import trio
import trio.lowlevel
from structlog.testing import capture_logs

from actors.kernel.nodes.link import BATCH_BYTES, PIECE_BYTES, Heard, Life
from actors.kernel.nodes.links import Links
from persistence.bridge.bus import BACKLOG_BYTES, MESSAGE_BYTES, Bus, trouble_with
from persistence.bridge.thread import AsyncioThread
from tests.nodes.play import KEY
from tests.support.nats import PASSWORD, NatsServer, running_nats
from tests.support.waiting import patience, wait_until


class RealNode:
    """A node whose links go over NATS."""

    def __init__(self, thread: AsyncioThread, url: str, name: str) -> None:
        self.heard: list[Heard] = []
        self.absent: list[str] = []
        self.bus = Bus(thread, [url], space="tests", node=name)
        self.links = Links(
            Life(name, 1),
            KEY,
            self.bus,
            lambda _node, thing: self.heard.append(thing),
            now=trio.current_time,
            soon=trio.lowlevel.current_trio_token().run_sync_soon,
        )
        self.bus.join(taken=self.links.take, absent=self.absent.append, ready=self.links.flush)

    def entries(self) -> list[bytes]:
        return [thing for thing in self.heard if isinstance(thing, bytes)]

    async def is_ready(self) -> bool:
        return self.bus.takes("b")

    async def is_away(self) -> bool:
        return not self.bus.is_up


@pytest.fixture
async def thread() -> AsyncIterator[AsyncioThread]:
    thread = AsyncioThread("test")
    thread.start()
    yield thread
    await thread.close()


@pytest.fixture
async def pair(nats: NatsServer, thread: AsyncioThread, nursery: trio.Nursery) -> tuple[RealNode, RealNode]:
    a, b = RealNode(thread, nats.url, "a"), RealNode(thread, nats.url, "b")
    for node, peer in ((a, "b"), (b, "a")):
        await wait_until(node.is_ready)
        node.links.meet(Life(peer, 1))
        nursery.start_soon(node.links.keep)
    return a, b


async def test_what_is_said_comes_in_order(pair: tuple[RealNode, RealNode]) -> None:
    a, b = pair
    said = [f"{number}".encode() * 100 for number in range(5_000)]
    for start in range(0, len(said), 100):
        for one in said[start : start + 100]:
            a.links.send("b", one)
            b.links.send("a", one)
        await trio.lowlevel.checkpoint()

    async def all_came() -> bool:
        return len(a.heard) == len(b.heard) == len(said)

    await wait_until(all_came)
    assert a.heard == b.heard == said
    assert a.links.statistics.batches < len(said) / 2


async def test_who_hears_no_more_is_known_to_be_absent(pair: tuple[RealNode, RealNode]) -> None:
    a, _ = pair
    a.links.meet(Life("gone", 7))
    a.links.send("gone", b"?")

    async def told() -> bool:
        return "gone" in a.absent

    await wait_until(told)
    assert "b" not in a.absent


@pytest.mark.parametrize("trouble", ["killed", "frozen"])
async def test_what_is_said_outlives_the_server(
    pair: tuple[RealNode, RealNode], nats: NatsServer, trouble: str
) -> None:
    a, b = pair
    said = [f"{number}".encode() for number in range(600)]
    for number, one in enumerate(said):
        a.links.send("b", one)
        await trio.lowlevel.checkpoint()
        if number == 200:
            nats.kill() if trouble == "killed" else nats.freeze()
        if number == 400:
            await wait_until(a.is_away)
    nats.start() if trouble == "killed" else nats.thaw()

    async def all_came() -> bool:
        return len(b.entries()) == len(said)

    await wait_until(all_came)
    assert b.entries() == said
    await wait_until(b.is_ready)
    assert b.links.hears("a")


async def test_nobody_comes_in_with_another_password(nats: NatsServer, thread: AsyncioThread) -> None:
    with capture_logs() as logs:
        stranger = RealNode(thread, nats.url.replace("test:", "test:another-"), "c")

        async def refused() -> bool:
            return any(line["event"] == "bus_failure" for line in logs)

        await wait_until(refused)
    assert not stranger.bus.is_up
    assert PASSWORD not in str(logs)


async def test_a_bus_without_a_server_holds_back(thread: AsyncioThread) -> None:
    bus = RealNode(thread, "nats://127.0.0.1:9", "a").bus
    assert not bus.takes("b")
    for _ in range(3):
        bus.publish("b", bytes(BACKLOG_BYTES))
    assert not bus.takes("b")


@pytest.mark.parametrize("name", ["", "a.b", "a b", "*", ">", "x" * 65])
async def test_names_fit_into_subjects(thread: AsyncioThread, name: str) -> None:
    with pytest.raises(ValueError, match="subject"):
        RealNode(thread, "nats://127.0.0.1:9", name)


async def test_what_keeps_a_node_from_the_bus_is_said(thread: AsyncioThread, nats: NatsServer) -> None:
    assert await thread.run(trouble_with, [nats.url]) is None
    assert await thread.run(trouble_with, [nats.url.replace(PASSWORD, "wrong")]) is not None
    assert await thread.run(trouble_with, ["nats://127.0.0.1:1"]) is not None


async def test_a_server_that_takes_small_messages_alone_is_said_to_be_one(thread: AsyncioThread) -> None:
    """The largest batches would be lost, and sent again and again."""
    with running_nats("max_payload: 500KB") as small, capture_logs() as lines:
        trouble = await thread.run(trouble_with, [small.url])
        node = RealNode(thread, small.url, "a")
        await wait_until(node.is_ready)
    assert trouble == "takes messages of 512000 bytes at most, and needs to take 1000000"
    (line,) = [line for line in lines if line["event"] == "bus_loses_large_messages"]
    assert (line["max_payload"], line["needed"]) == (512_000, MESSAGE_BYTES)


def test_no_batch_is_larger_than_a_message_may_be() -> None:
    assert BATCH_BYTES + PIECE_BYTES < MESSAGE_BYTES


async def test_what_is_no_nats_at_its_address_is_said_in_a_word(
    thread: AsyncioThread, nursery: trio.Nursery, capfd: pytest.CaptureFixture[str]
) -> None:
    async def talks(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            await stream.send_all(b"x" * 100_000)
            await stream.receive_some()

    (listener,) = await nursery.start(partial(trio.serve_tcp, talks, 0, host="127.0.0.1"))
    url = f"nats://127.0.0.1:{listener.socket.getsockname()[1]}"
    assert await thread.run(trouble_with, [url]) is not None
    assert await thread.run(trouble_with, ["nats://127.0.0.1:1"]) is not None
    with capture_logs() as lines:
        node = RealNode(thread, url, "a")

        async def is_said() -> bool:
            return bool(lines)

        await wait_until(is_said)
    assert [line["event"] for line in lines] == ["bus_failure"]
    assert not node.bus.is_up
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_what_swallows_a_cancellation_ends_with_its_thread() -> None:
    """As NATS' client does that is just connecting (`asyncio.wait_for` of Python 3.11)."""
    thread, begun, ended = AsyncioThread("test"), trio.Event(), []

    async def work() -> None:
        thread.hand_back(begun.set)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(True)
            raise

    thread.start()
    thread.serve(work)
    with patience():
        await begun.wait()
        await thread.close()
    assert ended == [True]
