"""What is known of a connection once it is accepted."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from routes.edge.server.acceptor import Acceptor
from routes.edge.transport.reactor import Reactor, SocketAddress

Accept = Callable[[socket.socket], tuple[socket.socket, SocketAddress | None]]


@pytest.fixture
def accept() -> Iterator[Accept]:
    """Accepts the one connection that waits at a listening socket."""
    accepted: list[tuple[socket.socket, SocketAddress | None]] = []

    def take(listening: socket.socket) -> tuple[socket.socket, SocketAddress | None]:
        listening.setblocking(False)
        acceptor = Acceptor(listening, Reactor(pytest.fail), lambda *one: accepted.append(one))
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
