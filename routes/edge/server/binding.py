"""Binds the addresses that a server listens on, each socket for one family where both are named."""

import socket
from collections.abc import Sequence
from contextlib import ExitStack

from routes.edge.faults import OperatorFault


class CannotListen(OperatorFault):
    """An address cannot be bound: in use, not local, or not permitted. The message is one line for the operator."""


def listen_on(binds: Sequence[str], backlog: int) -> list[socket.socket]:
    """Open listening sockets that do not block and that no child process inherits.

    An IPv6 socket takes IPv4 as well, as Linux has it, unless the same port is named for IPv4 too: so `[::]:443` serves
    both, and `0.0.0.0:443,[::]:443` does not stand in its own way.

    Args:
        binds: `host:port` each, IPv6 addresses in brackets; port 0 takes a free one.
        backlog: connections that wait to be accepted, for each.

    Returns:
        A socket for each of `binds`, in their order, which the caller closes.

    Raises:
        CannotListen: an address cannot be bound; nothing is left open.
    """
    ports = {port for host, port in map(_parsed, binds) if ":" not in host and port}
    with ExitStack() as opened:
        sockets = []
        for bind in binds:
            host, port = _parsed(bind)
            sock = opened.enter_context(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if port in ports and sock.family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.setblocking(False)
            try:
                sock.bind((host, port))
                sock.listen(backlog)
            except OSError as error:
                raise CannotListen(f"cannot listen on {bind}: {error.strerror or error}") from error
            sockets.append(sock)
        opened.pop_all()
    return sockets


def _parsed(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)
