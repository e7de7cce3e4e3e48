"""What a server listens on: each address as it is named, whichever others are named beside it."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from routes.edge.faults import CannotListen
from routes.edge.server.binding import listen_on
from tests.support.process import free_port

FOURS, SIXES = ("127.0.0.1", "0.0.0.0"), ("::1", "::")


@contextmanager
def listening(*binds: str) -> Iterator[list[socket.socket]]:
    sockets = listen_on(binds, 8)
    try:
        yield sockets
    finally:
        for sock in sockets:
            sock.close()


def reached(port: int, host: str) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")


@needs_ipv6
@pytest.mark.parametrize("four", FOURS)
@pytest.mark.parametrize("six", SIXES)
@pytest.mark.parametrize("is_six_first", [False, True])
def test_both_families_on_one_port(four: str, six: str, is_six_first: bool) -> None:
    port = free_port()
    binds = (f"{four}:{port}", f"[{six}]:{port}")
    with listening(*(reversed(binds) if is_six_first else binds)):
        assert reached(port, "127.0.0.1")
        assert reached(port, "::1")


@needs_ipv6
def test_ipv6_alone_takes_both_families() -> None:
    with listening("[::]:0") as (sock,):
        port = sock.getsockname()[1]
        assert reached(port, "127.0.0.1")
        assert reached(port, "::1")


def test_what_is_listened_on_is_ours_alone_and_does_not_block() -> None:
    with listening("127.0.0.1:0", "localhost:0") as sockets:
        assert [(sock.getblocking(), sock.get_inheritable()) for sock in sockets] == [(False, False)] * 2


def test_one_that_is_taken_leaves_none_open() -> None:
    with listening("127.0.0.1:0") as (sock,):
        free, taken = free_port(), sock.getsockname()[1]
        line = f"^cannot listen on 127.0.0.1:{taken}: Address already in use$"
        with pytest.raises(CannotListen, match=line):
            listen_on((f"127.0.0.1:{free}", f"127.0.0.1:{taken}"), 8)
        assert not reached(free, "127.0.0.1")


def test_twice_the_same_is_one_line() -> None:
    bind = f"127.0.0.1:{free_port()}"
    with pytest.raises(CannotListen, match=f"^cannot listen on {bind}: Address already in use$"):
        listen_on((bind, bind), 8)
