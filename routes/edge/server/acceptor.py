"""Taking accepted connections from a listening socket, many at a time."""

import errno
import socket
from collections.abc import Callable

from routes.edge.transport.reactor import BATCH, Reactor

_OUT_OF_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
"""Not this connection's fault: it waits in the backlog until there is room again."""


class Acceptor:
    """One listening socket; implements `Watched`.

    Args:
        sock: listening, non-blocking; closed by `close`.
        reactor: to be watched by.
        accepted: given each connection, a non-blocking socket that is theirs to close.
    """

    def __init__(
        self, sock: socket.socket, reactor: Reactor, accepted: Callable[[socket.socket], None]
    ) -> None:
        self._sock = sock
        self._reactor = reactor
        self._accepted = accepted
        self._resting = False
        reactor.add(sock.fileno(), self)

    def readable(self) -> None:
        """Accept the connections that wait; the call of the reactor (`Watched`)."""
        for _ in range(BATCH):
            try:
                connection, _address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OUT_OF_ROOM:
                    self._resting = True
                    self._reactor.want(self._sock.fileno(), read=False, write=False)
                    return
                continue  # the client gave up while it waited
            connection.setblocking(False)
            self._accepted(connection)

    def writable(self) -> None:
        """Never called: a listening socket is not written to (`Watched`)."""

    def resume(self) -> None:
        """Try again after there was no room."""
        if self._resting:
            self._resting = False
            self._reactor.want(self._sock.fileno(), read=True, write=False)

    def close(self) -> None:
        """Accept no more."""
        self._resting = False
        self._reactor.remove(self._sock.fileno())
        self._sock.close()
