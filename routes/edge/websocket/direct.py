"""A live socket that writes to the operating system's socket synchronously: fan-out without task, queue or copy.

`offer` is the hottest function of the service: it runs once per subscriber and turn. It creates no object and calls
nothing but `send` while the socket takes what it is given.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from actors.kernel.sink import Prepared
from routes.edge.transport.writer import Writer
from routes.edge.websocket.bearer import Bearer
from routes.edge.websocket.socket import LiveSocket

_PING = b"\x89\x00"  # FIN, opcode 9, no payload (RFC 6455 §5.5.2)

GATHERED_MAX_BYTES = 64 * 1024
"""Most bytes that `gather` holds before they are sent after all: copying more costs more than another send."""


class Link(ABC):
    """The WebSocket connection below a direct socket.

    Attributes:
        writer: sends everything that leaves the connection.
    """

    __slots__ = ()

    writer: Writer

    @abstractmethod
    def say_goodbye(self, code: int, reason: str) -> None:
        """Send a close frame, and wait a bounded time for the peer's.

        Args:
            code: a WebSocket close code.
            reason: for a human; cut at 123 bytes in UTF-8.
        """

    @abstractmethod
    def hold_back(self, held: bool) -> None:
        """Stop reading from the client, or resume."""

    @abstractmethod
    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of the server; exceptions are reported and go no further."""


class DirectSocket(LiveSocket):
    """A live socket over a `Link`; implements `WriterObserver`, to learn when the socket blocks.

    Args:
        link: the accepted connection.
        session_id, bearer: as for `LiveSocket`.
    """

    __slots__ = ("_held", "_link", "_send", "_writer")

    def __init__(self, link: Link, session_id: str, bearer: Bearer) -> None:
        super().__init__(session_id, bearer)
        self._link = link
        self._writer = link.writer
        self._send: Callable[[bytes], int] = link.writer.send
        self._held: bytes | None = None
        self.clear = self._writer.waiting is None
        self._writer.observer = self

    def offer(self, prepared: Prepared) -> bool:
        """Send the messages, or queue what the socket does not take; False when the queue is full (`Sink.offer`)."""
        if not self.clear:
            return self._offer_behind(prepared)
        wire = prepared.wire
        try:
            taken = self._send(wire)
        except OSError as error:
            taken = self._writer.failed(error, len(wire))
        if taken != len(wire):
            backlog = self._behind()
            backlog.messages = len(prepared.payloads)
            backlog.size_bytes = len(wire)
            self._writer.keep(wire, taken)
        return True

    def hold(self, prepared: Prepared) -> None:
        """Hold the messages until `release` or the next ones (`LiveSocket.hold`).

        The socket stays `clear`: only its `_send` is replaced until something follows, so that `offer` need not
        check.
        """
        if not self.clear:
            self.send_nowait(prepared)
        elif self._held is None:
            self._held = prepared.wire
            self._send = self._send_held
        else:
            self._held += prepared.wire

    def gather(self) -> None:
        """Hold all messages until `release`, or until they are many (`LiveSocket.gather`)."""
        if self.clear:
            self._held = self._held or b""
            self._send = self._send_later

    def release(self) -> None:
        """Send what is held now, and hold nothing more. Harmless when nothing is held."""
        if self._held is not None:
            self._send_held(b"")

    def blocked(self) -> None:
        """Let `offer` queue from now on, because the socket took only part of a write."""
        self.clear = False
        # Held messages precede everything that is offered from now on.
        self.release()

    def ping(self) -> None:
        """Send a WebSocket ping, unless bytes wait: their progress shows as well that the client lives."""
        if self.clear:
            self._writer.write(_PING)

    def _send_held(self, wire: bytes) -> int:
        """Stands in for the socket's `send` once, to send held messages together with these."""
        held, self._held = self._held or b"", None
        self._send = self._writer.send
        if held or wire:
            self._writer.write(held + wire)
        if self._writer.waiting is not None:
            backlog = self._behind()
            backlog.messages += 1
            backlog.size_bytes += len(held) + len(wire)
        return len(wire)

    def _send_later(self, wire: bytes) -> int:
        """Stands in for the socket's `send` while messages are gathered."""
        self._held = (self._held or b"") + wire
        if len(self._held) > GATHERED_MAX_BYTES:
            self.release()
        return len(wire)

    def _crowded(self) -> bool:
        """Whether too many bytes wait for this or other clients to queue more."""
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
