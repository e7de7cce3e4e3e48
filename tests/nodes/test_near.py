"""The short way between nodes of one machine: taken where it is there, and else the bus."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio
import trio.testing

from routes.near import BACKLOG_BYTES, MESSAGE_BYTES, MOST_TALKERS, RETRY_SECONDS, NearBus, NoSocket
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer
from tests.support.waiting import wait_until


class FarBus:
    """A bus that keeps what it is given."""

    def __init__(self) -> None:
        self.is_up = True
        self.published: list[tuple[str, bytes]] = []

    def takes(self, _node: str) -> bool:
        return self.is_up

    def publish(self, node: str, data: bytes) -> None:
        self.published.append((node, data))


class Neighbour:
    """A node with the short way, in a folder that may have a long name.

    Attributes:
        said: what was said to it, in order.
        readies: how often it was told to go on.
    """

    def __init__(self, folder: Path, name: str, nursery: trio.Nursery) -> None:
        self.bus = FarBus()
        self.near = NearBus(self.bus, folder, name)
        self.said: list[bytes] = []
        self.readies = 0
        self.path = folder / f"{name}.sock"
        self._nursery = nursery
        self._leave, self._gone = trio.Event(), trio.Event()

    async def begin(self) -> None:
        """Join, until `end` or the end of the test."""
        await self._nursery.start(self._run)

    async def end(self) -> None:
        """Leave."""
        self._leave.set()
        await self._gone.wait()

    async def _run(self, task_status: trio.TaskStatus[None]) -> None:
        async with self.near.joined(taken=self.said.append, ready=self._is_ready):
            task_status.started()
            await self._leave.wait()
        self._gone.set()

    def _is_ready(self) -> None:
        self.readies += 1


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""

    async def look() -> bool:
        return holds()

    await wait_until(look)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ("long" * 30) / "links"


@pytest.fixture
async def pair(folder: Path, nursery: trio.Nursery) -> tuple[Neighbour, Neighbour]:
    a, b = Neighbour(folder, "a", nursery), Neighbour(folder, "b", nursery)
    await a.begin()
    await b.begin()
    return a, b


async def test_messages_come_whole_and_in_order(pair: tuple[Neighbour, Neighbour]) -> None:
    a, b = pair
    said = [b"", b"x", *(bytes([n % 256]) * n * 37 for n in range(300)), bytes(MESSAGE_BYTES)]
    for one in said:
        a.near.publish("b", one)
        b.near.publish("a", one)
    await until(lambda: len(a.said) == len(b.said) == len(said))
    assert a.said == b.said == said
    assert a.bus.published == b.bus.published == []
    assert a.path.parent.stat().st_mode & 0o777 == 0o700


async def test_who_is_not_here_is_reached_over_the_bus(
    pair: tuple[Neighbour, Neighbour], autojump_clock: trio.testing.MockClock
) -> None:
    a, b = pair
    a.near.publish("far", b"1")
    a.near.publish("b", b"2")
    await b.end()
    a.near.publish("b", b"3")
    await trio.sleep(RETRY_SECONDS)
    a.near.publish("b", b"4")
    assert a.bus.published == [("far", b"1"), ("b", b"3"), ("b", b"4")]
    assert a.near.takes("b")


async def test_a_new_life_is_found(
    folder: Path, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    a, b, c = (Neighbour(folder, name, nursery) for name in "abb")
    await a.begin()
    b.path.touch()  # left behind by a former life that was killed
    a.near.publish("b", b"1")
    await b.begin()
    await trio.sleep(RETRY_SECONDS)
    a.near.publish("b", b"2")
    await until(lambda: b.said == [b"2"])
    await b.end()
    await c.begin()
    a.near.publish("b", b"3")
    await trio.sleep(RETRY_SECONDS)
    a.near.publish("b", b"4")
    await until(lambda: c.said == [b"4"])
    assert a.bus.published == [("b", b"1"), ("b", b"3")]
    await c.end()
    assert not c.path.exists()


async def test_who_does_not_reach_the_bus_is_neither_heard_nor_hears(
    pair: tuple[Neighbour, Neighbour],
) -> None:
    a, b = pair
    b.bus.is_up = False
    assert not b.near.takes("a")
    a.near.publish("b", b"unheard")
    a.near.publish("b", b"unheard too")
    await trio.testing.wait_all_tasks_blocked(0.01)
    b.bus.is_up = True
    a.near.publish("b", b"heard")
    await until(lambda: b.said == [b"heard"])


async def test_who_does_not_read_is_held_back_alone(folder: Path, nursery: trio.Nursery) -> None:
    a = Neighbour(folder, "a", nursery)
    await a.begin()
    with trio.socket.socket(trio.socket.AF_UNIX) as stuck:
        # By a short name: the folder's is too long for a socket's.
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            await stuck.bind("stuck.sock")
        stuck.listen()
        message = bytes(MESSAGE_BYTES // 2)
        sent = 0
        while a.near.takes("stuck"):
            a.near.publish("stuck", message)
            sent += 1
        assert sent <= 2 + BACKLOG_BYTES // len(message)
        assert a.near.takes("b")
        connection, _ = await stuck.accept()
        with connection:
            left = sent * (len(message) + 4)
            while left:
                left -= len(await connection.recv(left))
        await until(lambda: a.readies == 1)
        assert a.near.takes("stuck")


async def test_a_folder_that_can_have_no_socket_is_one_line(tmp_path: Path, nursery: trio.Nursery) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    with pytest.raises(NoSocket, match=r"^\S+/taken: File exists; see PARTYLINE_LINKS_DIR$"):
        await Neighbour(taken, "a", nursery).begin()


async def test_what_is_no_message_ends_a_connection(pair: tuple[Neighbour, Neighbour]) -> None:
    a, b = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(b.path.parent)
        stranger = await trio.open_unix_socket(b.path.name)
    async with stranger:
        await stranger.send_all(
            (3).to_bytes(4, "big") + b"yes" + (MESSAGE_BYTES + 1).to_bytes(4, "big") + b"no"
        )
        assert await stranger.receive_some() == b""
    assert b.said == [b"yes"]
    a.near.publish("b", b"as ever")
    await until(lambda: b.said == [b"yes", b"as ever"])


@pytest.mark.slow
async def test_requests_of_other_nodes_go_the_short_way(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    links = str(tmp_path / "links")
    async with open_cluster(database_url, tmp_path, nats, "a", "b", links_dir=links) as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        room = await ann.talk_to(await cluster.worlds["a"].player("Bob"))
        for name in cluster.worlds:
            await cluster.at(ann, name).say(room, f"at {name}")
        for world in cluster.worlds.values():
            node = world.service.node
            assert node is not None
            assert node.near is not None
            assert node.near.messages > 0.5 * node.membership.peers.links.statistics.batches


async def test_no_more_talk_than_nodes_there_can_be(pair: tuple[Neighbour, Neighbour]) -> None:
    _, b = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(b.path.parent)
        async with AsyncExitStack() as stack:
            for _ in range(MOST_TALKERS):
                await stack.enter_async_context(await trio.open_unix_socket(b.path.name))
            one_more = await stack.enter_async_context(await trio.open_unix_socket(b.path.name))
            assert await one_more.receive_some() == b""
