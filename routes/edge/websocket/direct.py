"""A live socket over the operating system's socket: fan-out without a task, a queue or a copy.

`offer` is the hottest line of the service: it runs once per subscriber and turn. It makes no object and calls
nothing but `send` as long as the socket takes what it is given.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from actors.kernel.sink import Prepared
from routes.edge.transport.writer import Writer
from routes.edge.websocket.socket import LiveSocket

_PING = b"\x89\x00"  # FIN, opcode 9, no payload (RFC 6455 §5.5.2)


class Link(ABC):
    """The connection below a direct socket.

    Attributes:
        writer: of everything that leaves.
    """

    __slots__ = ()

    writer: Writer

    @abstractmethod
    def say_goodbye(self, code: int, reason: str) -> None:
        """Write the close frame, and begin the bounded wait for the peer's.

        Args:
            code: of the close frame (RFC 6455 §7.4).
            reason: for the close frame.
        """

    @abstractmethod
    def hold_back(self, held: bool) -> None:
        """Stop reading from the client, or go on."""

    @abstractmethod
    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of the server's; what it raises is reported and goes no further."""


class DirectSocket(LiveSocket):
    """A live socket over `Link`; implements `WriterObserver`, to learn when the socket takes no more.

    Args:
        link: of the accepted connection.
        session_id, user_id, expires_at_ms, issued_at_s: as in `LiveSocket`.
    """

    __slots__ = ("_held", "_link", "_send", "_writer")

    def __init__(
        self,
        link: Link,
        *,
        session_id: str,
        user_id: str | None = None,
        expires_at_ms: int | None = None,
        issued_at_s: int | None = None,
    ) -> None:
        super().__init__(
            session_id=session_id, user_id=user_id, expires_at_ms=expires_at_ms, issued_at_s=issued_at_s
        )
        self._link = link
        self._writer = link.writer
        self._send: Callable[[bytes], int] = link.writer.send
        self._held: bytes | None = None
        self.clear = self._writer.waiting is None
        self._writer.follower = self

    def offer(self, prepared: Prepared) -> bool:
        """Send if the socket is clear; False if it is not, and the caller has to catch up later (`Sink`)."""
        if not self.clear:
            return self._offer_behind(prepared)
        wire = prepared.wire
        try:
            taken = self._send(wire)
        except OSError as error:
            taken = self._writer.failed(error, len(wire))
        if taken != len(wire):
            self._queued_messages = len(prepared.payloads)
            self._queued_bytes = len(wire)
            self._writer.keep(wire, taken)
        return True

    def hold(self, prepared: Prepared) -> None:
        """Keep a reply until `release`, so that it leaves together with the frames of its turn. The socket stays
        clear: only its `_send` is another one until something follows, so that `offer` need not ask.
        """
        if not self.clear:
            self.send_nowait(prepared)
        elif self._held is None:
            self._held = prepared.wire
            self._send = self._send_held
        else:
            self._held += prepared.wire

    def release(self) -> None:
        """Send what is held; harmless when nothing is."""
        if self._held is not None:
            self._send_held(b"")

    def blocked(self) -> None:
        """The socket took only a part; from now on `offer` goes the slow way."""
        self.clear = False
        # What was held comes before everything that is offered from now on.
        self.release()

    def ping(self) -> None:
        """Send a WebSocket ping; not while something waits, whose progress tells as much."""
        if self.clear:
            self._writer.write(_PING)

    def _send_held(self, wire: bytes) -> int:
        """Send what is held and this in one; in place of the socket's own `send`, for once."""
        held, self._held = self._held or b"", None
        self._send = self._writer.send
        self._writer.write(held + wire)
        if self._writer.waiting is not None:
            self._queued_messages += 1
            self._queued_bytes += len(held) + len(wire)
        return len(wire)

    def _crowded(self) -> bool:
        """As in `LiveSocket`."""
        return self._writer.crowded

    def _append(self, prepared: Prepared) -> None:
        self._writer.write(prepared.wire)

    def _say_goodbye(self, code: int, reason: str) -> None:
        self.release()
        self._link.say_goodbye(code, reason)

    def _start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        self._link.start(run, *args)

    def _hold_back(self, held: bool) -> None:
        self._link.hold_back(held)
