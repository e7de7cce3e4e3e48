"""Accepts connections on a listening socket, in batches."""

import errno
import socket
from collections.abc import Callable

from hypercorn.utils import parse_socket_addr

from routes.edge.transport.reactor import BATCH, Reactor, SocketAddress

_OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
"""Errors that are not the connection's fault: it stays in the backlog until resources are free again."""


class Acceptor:
    """One listening socket; implements `Watched`.

    Args:
        sock: a listening, non-blocking socket, which `close` closes.
        reactor: watches the socket.
        accepted: called with each connection, a non-blocking socket that the callee has to close, and the address of
            its client, None on a Unix socket. What is written to it is sent at once, without Nagle's pauses.
    """

    def __init__(
        self,
        sock: socket.socket,
        reactor: Reactor,
        accepted: Callable[[socket.socket, SocketAddress | None], None],
    ) -> None:
        self._sock = sock
        self._family = sock.family  # asked once: it is made an enum for each question
        self._reactor = reactor
        self._accepted = accepted
        self._resting = False
        reactor.add(sock.fileno(), self)

    def readable(self) -> None:
        """Accept up to a batch of connections; pauses while the process is out of file descriptors or memory."""
        for _ in range(BATCH):
            try:
                connection, address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_ROOM:
                    self._resting = True
                    self._reactor.want(self._sock.fileno(), read=False, write=False)
                    return
                continue  # the client gave up while it waited
            connection.setblocking(False)
            if self._family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._accepted(connection, parse_socket_addr(self._family, address))

    def writable(self) -> None:
        """Does nothing: a listening socket is never written to."""

    def resume(self) -> None:
        """Accept again after resources had run out."""
        if self._resting:
            self._resting = False
            self._reactor.want(self._sock.fileno(), read=True, write=False)

    def close(self) -> None:
        """Stop accepting, and close the socket."""
        self._resting = False
        self._reactor.remove(self._sock.fileno())
        self._sock.close()
