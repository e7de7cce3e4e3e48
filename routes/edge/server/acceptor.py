"""Accepts connections on a listening socket, in batches."""

import errno
import socket
from collections.abc import Awaitable, Callable

import trio
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
        start: starts a task.
    """

    def __init__(
        self,
        sock: socket.socket,
        reactor: Reactor,
        accepted: Callable[[socket.socket, SocketAddress | None], None],
        start: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._sock = sock
        self._family = sock.family  # asked once: it is made an enum for each question
        self._reactor = reactor
        self._accepted = accepted
        self._start = start
        self._resting = self._going_on = self._closed = False
        reactor.add(sock.fileno(), self)

    def readable(self) -> None:
        """Accept up to a batch of connections, and those that wait behind them in later rounds.

        It pauses while the process is out of file descriptors or memory.
        """
        if not self._going_on and self._accept_some():
            self._going_on = True
            self._start(self._go_on)

    async def _go_on(self) -> None:
        """Accept a batch in each round, until none waits.

        Among thousands of connections that have something to read this socket's own turn comes once in seconds: a batch
        a turn would leave newcomers, and with them whoever asks for `/health`, outside for a minute.
        """
        try:
            await trio.lowlevel.checkpoint()
            while not self._closed and self._accept_some():
                await trio.lowlevel.checkpoint()
        finally:
            self._going_on = False

    def _accept_some(self) -> bool:
        """Accept up to a batch; returns whether more may wait."""
        for _ in range(BATCH):
            try:
                connection, address = self._sock.accept()
            except BlockingIOError:
                return False
            except OSError as error:
                if error.errno in _OUT_OF_ROOM:
                    self._resting = True
                    self._reactor.want(self._sock.fileno(), read=False, write=False)
                    return False
                continue  # the client gave up while it waited
            connection.setblocking(False)
            if self._family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._accepted(connection, parse_socket_addr(self._family, address))
        return True

    def writable(self) -> None:
        """Does nothing: a listening socket is never written to."""

    def resume(self) -> None:
        """Accept again after resources had run out."""
        if self._resting:
            self._resting = False
            self._reactor.want(self._sock.fileno(), read=True, write=False)

    def close(self) -> None:
        """Stop accepting, and close the socket."""
        self._resting, self._closed = False, True
        self._reactor.remove(self._sock.fileno())
        self._sock.close()
