"""A cleartext WebSocket that has taken over an HTTP connection; it has no task of its own.

The reactor reports when its socket is ready; everything else is a plain call, down to the listener of the stream.
While it is idle it costs a few small objects and nothing runs.

    OPEN ──our close frame──▶ CLOSING ──theirs──▶ ENDING ──▶ GONE
    OPEN ──their close frame, or a violation──▶ ENDING (our FIN is sent, what arrives is dropped)
    ENDING ──their FIN, while our last bytes wait──▶ FLUSHING ──▶ GONE

Invariants: after OPEN the deadline `_end_by` bounds every phase. The consumer is told of the end by `lost`, whichever
side began it. Its slot is left once, when the operating system's socket is closed.
"""

import socket as stdlib_socket
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from math import inf
from typing import Protocol

import trio

from routes.edge.limits import Meter
from routes.edge.server.handover import Handover
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.deflate import Inflater
from routes.edge.websocket.direct import Link
from routes.edge.websocket.frame_reader import BINARY, CLOSE, PING, TEXT, FrameReader

SEND_BUFFER_BYTES = 128 * 1024
"""The kernel's send buffer of a WebSocket (Linux doubles it). By default it grows to megabytes of stale snapshots for
one slow client; with this the client skips to the newest sooner, and 2 MB/s are still possible at a latency of 100 ms.
"""

READ_BYTES = 16 * 1024
"""Most bytes read at a time: few, because a full inbox still has to take the messages of one more read."""


class Phase(Enum):
    """The phases of a WebSocket, drawn in the module's docstring."""

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

# Violations of a bound of this service, not of the protocol: {code of the frame reader: close code}.
_OUR_CODES = {1009: CloseCode.TOO_BIG}


class Consumer(Protocol):
    """The receiver of a WebSocket's messages: a live socket, or a plain ASGI application.

    Attributes:
        heard: set when anything arrives.
    """

    heard: bool

    def deliver(self, message: bytes) -> None:
        """Take a text message, valid UTF-8."""
        ...

    def deliver_binary(self, message: bytes) -> None:
        """Take a binary message."""
        ...

    def close(self, code: int, reason: str = "") -> None:
        """Close by `SocketConnection.say_goodbye` with `code` and `reason`, because the client violated a rule."""
        ...

    def lost(self, code: int, reason: str = "") -> None:
        """Note that the client closed with `code` and `reason`, or the connection broke; only the first call counts."""
        ...


class _Nobody:
    """The `Owner` of a writer whose connection is gone: ignores both calls."""

    def watch(self, waiting: bool) -> None:
        """Does nothing."""

    def broken(self) -> None:
        """Does nothing."""


_NOBODY = _Nobody()


class SocketConnection(Link):
    """A WebSocket in place of an HTTP connection; implements `Watched`, `Swept` and `Owner`.

    A caller that awaits anything before `accept` has to call `hold_back(True)` first, so that nothing is read before
    (`accept` resumes reading).

    Args:
        handover: the parts of the HTTP connection.
        deflates: whether compression was agreed on.
    """

    __slots__ = (
        "_consumer",
        "_end_by",
        "_fd",
        "_frame_meter",
        "_phase",
        "_ping",
        "_reactor",
        "_read",
        "_reader",
        "_settings",
        "_slot",
        "_socket",
        "_start",
        "writer",
    )

    def __init__(self, handover: Handover, *, deflates: bool = False) -> None:
        settings = handover.settings
        self.writer = handover.writer
        self._settings = settings
        self._frame_meter: Meter | None = None
        self._socket = handover.sock
        self._fd = handover.sock.fileno()
        self._reactor = handover.reactor
        self._start = handover.start
        self._slot = handover.slot
        self._consumer: Consumer | None = None
        self._reader = FrameReader(settings.max_message_bytes, _INFLATER if deflates else None)
        self._phase = Phase.OPEN
        self._end_by = inf
        self._ping: bytes | None = None
        self._read = handover.reads
        self.writer.hand_on(self)
        self._reactor.replace(self._fd, self)

    # -- opening

    def accept(self, consumer: Consumer, early: bytes) -> None:
        """Read from now on; the 101 response was sent, or precedes what is sent next.

        Args:
            consumer: the receiver of the messages.
            early: the bytes that the client has already sent after its handshake.
        """
        self._consumer = consumer
        self._socket.setsockopt(stdlib_socket.SOL_SOCKET, stdlib_socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        self.hold_back(False)
        if early:
            self._take(early)

    def deny(self, response: bytes) -> None:
        """Refuse the handshake, and close.

        Args:
            response: the bytes of the whole response.
        """
        self.writer.write(response)
        self._end()
        self.hold_back(False)

    # -- Link

    def say_goodbye(self, code: int, reason: str) -> None:
        """Send a close frame with `code` and `reason`, and wait `linger_seconds` for the client's (`Link`)."""
        if self._move(Phase.CLOSING):
            self.writer.write(frames.close_frame(code, reason))
            self._end_by = trio.current_time() + self._settings.linger_seconds
            # The client's close frame may follow messages whose reading was paused.
            self.hold_back(False)

    def hold_back(self, held: bool) -> None:
        """Stop reading from the client, or resume (`Link`)."""
        if self._read == held and self._phase is not Phase.FLUSHING:
            self._read = not held
            self._rearm()

    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of the server (`Link`)."""
        self._start(run, *args)

    # -- Watched

    def readable(self) -> None:
        """Read, and deliver the messages that are complete (`Watched`)."""
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
        """Send what waits, and a pong that had to wait for it (`Watched`)."""
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
        """Have the reactor report when the socket takes more, while bytes wait (`Owner`)."""
        self._rearm()

    def broken(self) -> None:
        """Close the socket, which has failed (`Owner`)."""
        self.abort()

    # -- Swept

    def sweep(self, now: float) -> None:
        """Close a connection that has passed its deadline, or whose client takes nothing (`Swept`)."""
        waiting = self.writer.waiting
        if waiting is not None:
            # Only ranks the slowest connections for `Unsent.relieve`: a live socket has no minimum rate.
            self.writer.lags(now, grace_seconds=inf, bytes_per_second=self._settings.take_bytes_per_second)
            if now - waiting.took_at >= self._settings.stall_seconds:
                self.abort()
        if now >= self._end_by:
            self.abort()

    def retire(self) -> None:
        """Does nothing: a draining server closes live sockets by `Sockets.drain`."""

    def abort(self) -> None:
        """Close the socket at once, and tell the consumer (`Swept`)."""
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
            # Break the reference cycles, so that thousands that end together are no work for the garbage collector.
            self.writer.observer = None
            self.writer.hand_on(_NOBODY)
            self._slot.leave()

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
            # RFC 6455 §7.1.7: after the close frame everything that arrives is ignored.
            consumer.close(_OUR_CODES.get(failed.code, failed.code), failed.reason)
            self._end()

    def _paced(self, reader: FrameReader) -> bool:
        """Count control frames and fragments, which no other limit counts; False when there are too many."""
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
            # Both close frames were exchanged; a client that has sent FIN may still read.
            self._move(Phase.FLUSHING)
            self._read = False
            self._rearm()
        else:
            self.abort()

    # -- ending

    def _end(self) -> None:
        """Send what waits and FIN, then wait for the client's. Closing at once would answer unread bytes with a reset,
        by which the client may lose our last frames."""
        if self._move(Phase.ENDING):
            self._end_by = trio.current_time() + self._settings.linger_seconds
            self.writer.finish()
            # Reading may have been paused, and only who reads hears of the client's FIN.
            self.hold_back(False)

    def _move(self, phase: Phase) -> bool:
        if phase not in MOVES[self._phase]:
            return False
        self._phase = phase
        return True

    def _rearm(self) -> None:
        if self._phase is not Phase.GONE:
            self._reactor.want(self._fd, read=self._read, write=self.writer.waiting is not None)
