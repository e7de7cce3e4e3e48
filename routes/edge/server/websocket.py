"""A cleartext WebSocket: it has taken over an HTTP connection, and no task belongs to it.

The reactor tells it what its socket is ready for; everything else is a plain call, down to the listener of the
stream. While it is idle it costs a few small objects and nothing that runs.

    OPEN ──our close frame──▶ CLOSING ──theirs──▶ ENDING ──▶ GONE
    OPEN ──their close frame, or one that breaks a rule──▶ ENDING (our FIN is sent, what comes is thrown away)
    ENDING ──their end, while our last bytes wait──▶ FLUSHING ──▶ GONE

Invariants: after OPEN `end_by` bounds everything. The consumer is told of the end once, by `lost`, whichever side
began it. `leave` is called once, when the socket of the operating system is closed.
"""

import socket as stdlib_socket
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from math import inf
from typing import Protocol

import trio

from routes.edge.errors import contained
from routes.edge.limits import Meter
from routes.edge.pipeline.dispatch import Opening
from routes.edge.server.handover import Handover, Swept
from routes.edge.transport.handshake import acceptance
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.deflate import Inflater, negotiate
from routes.edge.websocket.deflated import DeflatedSocket
from routes.edge.websocket.direct import DirectSocket, Link
from routes.edge.websocket.frame_reader import BINARY, CLOSE, PING, TEXT, FrameReader

SEND_BUFFER_BYTES = 128 * 1024
"""Of a WebSocket, in the kernel (which doubles it). Left alone it grows to megabytes of stale snapshots for
one slow client; with this the client is skipped to the newest sooner, and 2 MB/s still fit through 100 ms of
distance."""

READ_BYTES = 16 * 1024
"""What is read, and heard, at a time: so little that what a full inbox must take on top stays small."""


class Phase(Enum):
    """Where a WebSocket is; see the module's docstring."""

    OPEN = auto()
    CLOSING = auto()
    ENDING = auto()
    FLUSHING = auto()
    GONE = auto()


# {phase: what may follow it}
MOVES: dict[Phase, frozenset[Phase]] = {
    Phase.OPEN: frozenset({Phase.CLOSING, Phase.ENDING, Phase.GONE}),
    Phase.CLOSING: frozenset({Phase.ENDING, Phase.GONE}),
    Phase.ENDING: frozenset({Phase.FLUSHING, Phase.GONE}),
    Phase.FLUSHING: frozenset({Phase.GONE}),
    Phase.GONE: frozenset(),
}

_INFLATER = Inflater()

# What breaks a rule of ours rather than the protocol's, as our close code: {code of the frame reader: close code}.
_OUR_CODES = {1009: CloseCode.TOO_BIG}


class Consumer(Protocol):
    """Who a WebSocket's messages are for: a live socket, or a plain ASGI application.

    Attributes:
        heard: set when anything comes.
    """

    heard: bool

    def deliver(self, message: bytes) -> None:
        """A text message, valid UTF-8."""
        ...

    def deliver_binary(self, message: bytes) -> None:
        """A binary message."""
        ...

    def close(self, code: int, reason: str = "") -> None:
        """The client broke a rule: say goodbye, by `SocketConnection.say_goodbye`.

        Args:
            code: of the close frame (RFC 6455 §7.4).
            reason: for the close frame.
        """
        ...

    def lost(self, code: int, reason: str = "") -> None:
        """The client closed, or the connection broke; the first that counts, also after `close`.

        Args:
            code: of the close frame that came (RFC 6455 §7.4), or what stands for none.
            reason: of that frame.
        """
        ...


class _Nobody:
    """Looks after a writer whose connection is gone; implements `Owner`."""

    def watch(self, waiting: bool) -> None:
        """As in `Owner`."""

    def broken(self) -> None:
        """As in `Owner`."""


_NOBODY = _Nobody()


class SocketConnection(Link):
    """A WebSocket in the place of an HTTP connection; implements `Watched`, `Swept` and `Owner`.

    It is read from `accept` on, not before.

    Args:
        handover: of the HTTP connection.
        deflates: compressed messages were agreed on.
    """

    __slots__ = (
        "_consumer",
        "_end_by",
        "_fd",
        "_frame_meter",
        "_leave",
        "_phase",
        "_ping",
        "_reactor",
        "_read",
        "_reader",
        "_settings",
        "_socket",
        "_start",
        "linger_seconds",
        "writer",
    )

    def __init__(self, handover: Handover, *, deflates: bool = False) -> None:
        settings = handover.settings
        self.writer = handover.writer
        self.linger_seconds = settings.linger_seconds
        self._settings = settings
        self._frame_meter: Meter | None = None
        self._socket = handover.sock
        self._fd = handover.sock.fileno()
        self._reactor = handover.reactor
        self._start = handover.start
        self._leave = handover.leave
        self._consumer: Consumer | None = None
        self._reader = FrameReader(settings.max_message_bytes, _INFLATER if deflates else None)
        self._phase = Phase.OPEN
        self._end_by = inf
        self._ping: bytes | None = None
        self._read = False
        self.writer.hand_on(self)
        self._reactor.remove(self._fd)
        self._reactor.add(self._fd, self)
        self._rearm()

    # -- opening

    def accept(self, response: bytes, consumer: Consumer, early: bytes) -> None:
        """Answer the handshake, and read from now on.

        Args:
            response: with status 101.
            consumer: of the messages.
            early: what the client has sent already.
        """
        self._consumer = consumer
        self._socket.setsockopt(stdlib_socket.SOL_SOCKET, stdlib_socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        self.writer.write(response)
        self.hold_back(False)
        if early:
            self._take(early)

    def deny(self, response: bytes) -> None:
        """Answer the handshake with something else, and end.

        Args:
            response: whole.
        """
        self.writer.write(response)
        self._end()
        self.hold_back(False)

    # -- Link

    def say_goodbye(self, code: int, reason: str) -> None:
        """Write the close frame, and begin the bounded wait for the peer's (`Link`).

        Args:
            code: of the close frame (RFC 6455 §7.4).
            reason: for the close frame.
        """
        if self._move(Phase.CLOSING):
            self.writer.write(frames.close_frame(code, reason))
            self._end_by = trio.current_time() + self.linger_seconds
            # Theirs may be behind what we did not want to read any more.
            self.hold_back(False)

    def hold_back(self, held: bool) -> None:
        """Stop reading from the client, or go on (`Link`)."""
        if self._read == held and self._phase is not Phase.FLUSHING:
            self._read = not held
            self._rearm()

    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of the server's; what it raises is reported and goes no further (`Link`)."""
        self._start(run, *args)

    # -- Watched

    def readable(self) -> None:
        """Read what has come; the call of the reactor (`Watched`)."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self.abort()
            return
        if not data:
            self._peer_ended()
        elif self._phase is not Phase.ENDING:
            self._take(data)

    def writable(self) -> None:
        """Write what waits; the call of the reactor (`Watched`)."""
        self.writer.flush()
        if self.writer.waiting is not None:
            return
        if self._phase is Phase.FLUSHING:
            self.abort()
        elif self._ping is not None:
            payload, self._ping = self._ping, None
            self._pong(payload)

    # -- Owner

    def watch(self, waiting: bool) -> None:  # noqa: ARG002
        """Watch for the socket to take more, or no longer; the call of the writer (`Owner`)."""
        self._rearm()

    def broken(self) -> None:
        """Close: a write has failed; the call of the writer (`Owner`)."""
        self.abort()

    # -- Swept

    def sweep(self, now: float) -> None:
        """Look at the deadlines; the call of the sweeper every `sweep_seconds` (`Swept`)."""
        writer = self.writer
        if writer.waiting is not None:
            # Only for the order in which the slowest would be cut: a socket may take as little as it likes.
            writer.lags(now, grace_seconds=inf, bytes_per_second=self._settings.take_bytes_per_second)
            if now - writer.took_at >= self._settings.stall_seconds:
                self.abort()
        if now >= self._end_by:
            self.abort()

    def retire(self) -> None:
        """Nothing: a WebSocket goes when somebody closes it (`Sockets.drain`)."""

    def abort(self) -> None:
        """Close at once, whatever still waits; harmless when repeated (`Swept`)."""
        if not self._move(Phase.GONE):
            return
        self._reactor.remove(self._fd)
        self._socket.close()
        self.writer.abandon()
        consumer, self._consumer = self._consumer, None
        try:
            if consumer is not None:
                consumer.lost(CloseCode.ABNORMAL)
        finally:
            # Nothing of it holds the rest any more: thousands that end together are no work for the collector.
            self.writer.follower = None
            self.writer.hand_on(_NOBODY)
            self._leave()

    # -- reading

    def _take(self, data: bytes) -> None:
        consumer, reader = self._consumer, self._reader
        if consumer is None:
            return
        consumer.heard = True
        messages = reader.feed(data)
        if reader.extras and not self._paced(reader):
            consumer.close(CloseCode.FLOOD, "too many control frames and fragments")
            self._end()
            return
        for opcode, payload in messages:
            if opcode == TEXT:
                consumer.deliver(payload)
            elif opcode == PING:
                self._pong(payload)
            elif opcode == BINARY:
                consumer.deliver_binary(payload)
            elif opcode == CLOSE:
                self._peer_closed(payload)
                return
        failed = reader.failed
        if failed is not None:
            # RFC 6455 §7.1.7: after the close frame nothing that comes has a meaning.
            consumer.close(_OUR_CODES.get(failed.code, failed.code), failed.reason)
            self._end()

    def _paced(self, reader: FrameReader) -> bool:
        """Count what is no message, which nobody else counts; False when it is too much."""
        if self._frame_meter is None:
            self._frame_meter = self._settings.frame_meter()
        extras, reader.extras = reader.extras, 0
        return not self._frame_meter.take(self._settings.clock.now_ms(), extras)

    def _pong(self, payload: bytes) -> None:
        if self._phase is not Phase.OPEN:
            return
        if self.writer.waiting is None:
            self.writer.write(frames.pong_frame(payload))
        else:
            # Only the newest is answered (RFC 6455 §5.5.3), so that pongs cannot pile up.
            self._ping = payload

    def _peer_closed(self, payload: bytes) -> None:
        code = int.from_bytes(payload[:2], "big") if payload else frames.NO_CODE
        if self._phase is Phase.OPEN:
            self.writer.write(frames.close_frame(code))
        self._end()
        if self._consumer is not None:
            self._consumer.lost(code, payload[2:].decode())

    def _peer_ended(self) -> None:
        if self._phase is Phase.ENDING and self.writer.waiting is not None:
            # Both closing frames are there; who has sent the last byte may still read ours.
            self._move(Phase.FLUSHING)
            self._read = False
            self._rearm()
        else:
            self.abort()

    # -- ending

    def _end(self) -> None:
        """Our side is done: FIN behind what waits, then wait for theirs. Closing at once would answer unread
        bytes with a reset, which takes our last frames out of the client's hands."""
        if self._move(Phase.ENDING):
            self._end_by = trio.current_time() + self.linger_seconds
            self.writer.finish()

    def _move(self, phase: Phase) -> bool:
        if phase not in MOVES[self._phase]:
            return False
        self._phase = phase
        return True

    def _rearm(self) -> None:
        if self._phase is not Phase.GONE:
            self._reactor.want(self._fd, read=self._read, write=self.writer.waiting is not None)


async def take_over(handover: Handover, opening: Opening, *, taken: Callable[[Swept], None]) -> None:
    """Accept a WebSocket and open its stream; it goes on by itself when this returns.

    A fault in the stream's handler closes it with 1011. Cancellation does too.

    Args:
        handover: of the HTTP connection.
        opening: the accepted handshake.
        taken: told the new owner of the connection, before anything else happens.
    """
    extension = negotiate(handover.extensions) if handover.settings.deflate else None
    connection = SocketConnection(handover, deflates=extension is not None)
    taken(connection)
    call = opening.call
    service, principal = call.service, call.principal
    socket = (DirectSocket if extension is None else DeflatedSocket)(
        connection,
        session_id=service.random_bytes(12).hex(),
        user_id=None if principal is None else principal.key,
        expires_at_ms=None if principal is None else principal.expires_at_ms,
        issued_at_s=None if principal is None else principal.issued_at_s,
    )
    subprotocol = None if opening.subprotocol is None else opening.subprotocol.encode()
    response = acceptance(handover.key, subprotocol=subprotocol, extension=extension, headers=opening.headers)
    connection.accept(response, socket, handover.early)
    service.sockets.add(socket)
    with contained(handover.report):
        await socket.run(opening.run)
