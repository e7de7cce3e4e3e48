"""Binds the addresses that a server listens on, each socket for one family where both are named."""

import socket
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from routes.edge.binds import Bind, Descriptor, binds
from routes.edge.faults import CannotListen


def listen_on(addresses: Sequence[str], backlog: int) -> list[socket.socket]:
    """Open listening sockets that do not block and that no child process inherits.

    Args:
        addresses: `host:port` each, IPv6 addresses in brackets, where port 0 takes a free one; or `fd://n`, a socket
            that was handed down.
        backlog: connections that wait to be accepted, for each.

    Returns:
        A socket for each of `addresses`, in their order, which the caller closes.

    Raises:
        CannotListen: an address cannot be bound; nothing is left open.
    """
    parsed = [(address, one) for address in addresses for one in binds(address)]
    beside = [one for _, one in parsed if isinstance(one, Bind)]
    with ExitStack() as opened:
        sockets = []
        for address, one in parsed:
            with _raising_cannot_listen(address):
                sock = opened.enter_context(
                    _handed_down(one) if isinstance(one, Descriptor) else bound(one, beside)
                )
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setblocking(False)
                sock.listen(backlog)
            sockets.append(sock)
        opened.pop_all()
    return sockets


def bound(bind: Bind, beside: Collection[Bind], *, is_shared: bool = False) -> socket.socket:
    """A socket that is bound and does not listen yet.

    An IPv6 socket takes IPv4 connections as well, as is usual on Linux, unless the same port is named for IPv4 too: so
    `[::]:443` serves both, and the two sockets of `0.0.0.0:443,[::]:443` do not collide.

    Args:
        bind: the address to bind.
        beside: the other addresses on which the service listens.
        is_shared: whether other sockets of this user may be bound to the same address and port.

    Raises:
        OSError: the address cannot be bound.
    """
    is_six = ":" in bind.host
    made = socket.socket(socket.AF_INET6 if is_six else socket.AF_INET)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, is_shared)
        if is_six and any(
            bind.port and other.port == bind.port and ":" not in other.host for other in beside
        ):
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(tuple(bind))
    except BaseException:
        made.close()
        raise
    return made


def _handed_down(descriptor: Descriptor) -> socket.socket:
    given = socket.socket(fileno=descriptor.number)
    given.set_inheritable(False)
    return given


@contextmanager
def _raising_cannot_listen(address: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotListen(f"cannot listen on {address}: {error.strerror or error}") from error
