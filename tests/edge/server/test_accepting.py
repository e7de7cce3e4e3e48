"""What is known of a connection once it is accepted."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import trio

from routes.edge.server.acceptor import Acceptor
from routes.edge.transport.reactor import BATCH, Reactor, SocketAddress
from tests.support.waiting import patience

Accept = Callable[[socket.socket], tuple[socket.socket, SocketAddress | None]]


@pytest.fixture
def accept() -> Iterator[Accept]:
    """Accepts the one connection that waits at a listening socket."""
    accepted: list[tuple[socket.socket, SocketAddress | None]] = []

    def take(listening: socket.socket) -> tuple[socket.socket, SocketAddress | None]:
        listening.setblocking(False)
        acceptor = Acceptor(listening, Reactor(pytest.fail), lambda *one: accepted.append(one), pytest.fail)
        with closing(acceptor):
            acceptor.readable()
        return accepted[-1]

    yield take
    for sock, _ in accepted:
        sock.close()


def test_a_connection_sends_at_once_and_does_not_block(accept: Accept) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(listening.getsockname()) as client:
        sock, address = accept(listening)
        assert address == client.getsockname()
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not sock.getblocking()


def test_on_a_unix_socket_nobody_has_an_address(accept: Accept, tmp_path: Path) -> None:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "s"))
    listening.listen()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "s"))
        assert accept(listening)[1] is None


class Busy:
    """A connection that always has something to read.

    Args:
        read: called whenever it is its turn.
    """

    def __init__(self, read: Callable[[], None]) -> None:
        self.readable = read

    def writable(self) -> None:
        raise AssertionError("it is watched for reading alone")


CLIENTS, BUSY = 4 * BATCH, 20 * BATCH


async def test_newcomers_do_not_wait_for_all_who_are_busy() -> None:
    """A batch of them comes in with each batch that is read, and not with each turn of everybody."""
    reactor = Reactor(pytest.fail)
    turns = 0
    accepted: list[socket.socket] = []
    all_in = trio.Event()

    def turn() -> None:
        nonlocal turns
        turns += 1

    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=CLIENTS))
        listening.setblocking(False)
        for _ in range(CLIENTS):
            stack.enter_context(socket.create_connection(listening.getsockname()))

        def accept(sock: socket.socket, _: SocketAddress | None) -> None:
            accepted.append(stack.enter_context(sock))
            if len(accepted) == CLIENTS:
                all_in.set()

        async with trio.open_nursery() as nursery:
            acceptor = Acceptor(listening, reactor, accept, nursery.start_soon)
            for _ in range(BUSY):
                ours, theirs = (stack.enter_context(one) for one in socket.socketpair())
                theirs.send(b"x")
                reactor.add(ours.fileno(), Busy(turn))
            nursery.start_soon(reactor.run)
            with patience():
                await all_in.wait()
            nursery.cancel_scope.cancel()
        acceptor.close()
    assert turns < BUSY


async def test_nobody_is_accepted_once_it_is_closed() -> None:
    accepted: list[socket.socket] = []
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=CLIENTS))
        listening.setblocking(False)
        for _ in range(CLIENTS):
            stack.enter_context(socket.create_connection(listening.getsockname()))
        async with trio.open_nursery() as nursery:
            acceptor = Acceptor(
                listening, Reactor(pytest.fail), lambda *one: accepted.append(one[0]), nursery.start_soon
            )
            acceptor.readable()
            acceptor.close()
        for sock in accepted:
            sock.close()
    assert len(accepted) == BATCH
