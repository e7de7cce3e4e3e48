"""Passing a connection on from HTTP to WebSocket, once a handshake is accepted."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from routes.edge.server.request import Request
from routes.edge.server.shared import Shared
from routes.edge.transport.reactor import Reactor
from routes.edge.transport.settings import ServerSettings
from routes.edge.transport.writer import Writer


class Swept(Protocol):
    """A connection as the server's sweep and drain see it, whatever its protocol."""

    def sweep(self, now: float) -> None:
        """Check the deadlines; `now` is trio's time. Called every `sweep_seconds`."""
        ...

    def retire(self) -> None:
        """The server is stopping: close when idle, otherwise after the request in progress."""
        ...

    def abort(self) -> None:
        """Close at once and drop what waits. Harmless when repeated."""
        ...


class Counted(Protocol):
    """The count of a connection."""

    def leave(self) -> None:
        """The connection has ended: it is counted and swept no longer."""
        ...


@dataclass(frozen=True, slots=True)
class Handover:
    """A connection on which HTTP has ended; its new owner owns the socket.

    Args:
        sock: non-blocking; watched in the reactor by the old owner, which has to be replaced there.
        writer: of the socket; `Writer.hand_on` has to be called first.
        reactor: of the server.
        settings: of the server.
        key: `Sec-WebSocket-Key` as it came, validated.
        extensions: `Sec-WebSocket-Extensions` as it came, empty without one.
        early: what the client has sent after its handshake already.
        reads: whether the reactor watches for more from the client.
        start: runs `fn(*args)` in a task of the server; an exception is reported and goes no further.
        report: called with an exception that concerns this connection alone.
        slot: to be left once, at the connection's end.
    """

    sock: socket.socket
    writer: Writer
    reactor: Reactor
    settings: ServerSettings
    key: bytes
    extensions: bytes
    early: bytes
    reads: bool
    start: Callable[..., None]
    report: Callable[[BaseException], None]
    slot: Counted


def hand_over(
    sock: socket.socket,
    writer: Writer,
    shared: Shared,
    handshake: Request,
    *,
    early: bytes,
    reads: bool,
    slot: Counted,
) -> Handover:
    """The parts of a connection for the WebSocket that takes its place.

    Args:
        sock, writer, early, reads, slot: see `Handover`.
        shared: of the server.
        handshake: the last request, which was not refused.
    """
    fields = dict(handshake.headers)
    return Handover(
        sock,
        writer,
        shared.reactor,
        shared.settings,
        key=fields[b"sec-websocket-key"],
        extensions=b",".join(text for name, text in handshake.headers if name == b"sec-websocket-extensions"),
        early=early,
        reads=reads,
        start=shared.start,
        report=shared.report,
        slot=slot,
    )
