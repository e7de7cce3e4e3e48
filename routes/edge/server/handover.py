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
        """Close when idle, otherwise after the request in progress, because the server is stopping."""
        ...

    def abort(self) -> None:
        """Close at once and drop what waits. Harmless when repeated."""
        ...


class Counted(Protocol):
    """What counts a connection."""

    def leave(self) -> None:
        """Stop counting and sweeping the connection, which has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Handover:
    """A connection on which HTTP has ended; its new owner owns the socket.

    Args:
        sock: the non-blocking socket; the reactor notifies the old owner of it, which has to be replaced there.
        writer: the socket's writer; `Writer.hand_on` has to be called first.
        reactor: the server's reactor.
        settings: the server's settings.
        key: `Sec-WebSocket-Key` as it came, validated.
        extensions: `Sec-WebSocket-Extensions` as it came, empty without one.
        early: the bytes that the client has already sent after its handshake.
        reads: whether the reactor watches for more from the client.
        start: runs `fn(*args)` in a task of the server; an exception is reported and goes no further.
        report: called with an exception that concerns this connection alone.
        slot: counts the connection; to be left once, at its end.
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
        sock, writer, early, reads, slot: as in `Handover`.
        shared: what all cleartext connections of the server share.
        handshake: the connection's last request, a handshake that was not refused.
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
