"""From HTTP to WebSocket: what a connection passes on when a handshake is accepted."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from routes.edge.transport.reactor import Reactor
from routes.edge.transport.settings import ServerSettings
from routes.edge.transport.writer import Writer


class Swept(Protocol):
    """What the server's one sweeper and its drain look after: a connection, whatever it speaks."""

    def sweep(self, now: float) -> None:
        """Look at the deadlines; `now` is trio's time. Called every `sweep_seconds`."""
        ...

    def retire(self) -> None:
        """The server stops: end when idle, otherwise with what is under way."""
        ...

    def abort(self) -> None:
        """Close at once, whatever still waits. Harmless when repeated."""
        ...


@dataclass(frozen=True, slots=True)
class Handover:
    """A connection whose HTTP is over; whoever takes it owns the socket.

    Args:
        sock: non-blocking, in the reactor under the old owner, who is to be replaced there.
        writer: of the socket; `Writer.hand_on` first.
        reactor: of the server.
        settings: of the server.
        key: `Sec-WebSocket-Key` as it came, checked.
        extensions: `Sec-WebSocket-Extensions` as it came, empty without one.
        early: what the client has sent behind its handshake already.
        start: runs `fn(*args)` in a task of the server's; a fault in it is reported and goes no further.
        report: told of a fault that belongs to this connection alone.
        leave: the connection is over: it is no longer counted, nor swept. To be called once.
    """

    sock: socket.socket
    writer: Writer
    reactor: Reactor
    settings: ServerSettings
    key: bytes
    extensions: bytes
    early: bytes
    start: Callable[..., None]
    report: Callable[[BaseException], None]
    leave: Callable[[], None]
