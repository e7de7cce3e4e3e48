"""A live socket over the operating system's socket: fan-out without a task, a queue or a copy.

`offer` is the hottest line of the service: it runs once per subscriber and turn. It makes no object and calls
nothing but `send` as long as the socket takes what it is given.
"""

from abc import ABC, abstractmethod

from actors.kernel.outlet import Prepared
from routes.edge.server_writer import Writer
from routes.edge.socket import LiveSocket

_PING = b"\x89\x00"  # FIN, opcode 9, no payload (RFC 6455 §5.5.2)


class Link(ABC):
    """A WebSocket connection whose writes are ours: `scope["state"]["connection"]` on our own server."""

    writer: Writer

    @abstractmethod
    def attach(self, socket: "DirectSocket") -> None:
        """From now on messages, and the end, go to this socket and no longer to ASGI's `receive`."""

    @abstractmethod
    def say_goodbye(self, code: int, reason: str) -> None:
        """Write the close frame, and begin the bounded wait for the peer's."""


class DirectSocket(LiveSocket):
    """A live socket over `Link`; implements `Follower`, to learn when the socket takes no more.

    Args:
        link: of the accepted connection.
        session_id, user_id, expires_at_ms: as in `LiveSocket`.
    """

    __slots__ = ("_link", "_send", "_writer")

    def __init__(
        self, link: Link, *, session_id: str, user_id: str | None = None, expires_at_ms: int | None = None
    ) -> None:
        super().__init__(session_id=session_id, user_id=user_id, expires_at_ms=expires_at_ms)
        self._link = link
        self._writer = link.writer
        self._send = link.writer.send
        self.clear = self._writer.waiting is None
        self._writer.follower = self

    def offer(self, prepared: Prepared) -> bool:
        """As in `Outlet`."""
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

    def blocked(self) -> None:
        """The socket took only a part; from now on `offer` goes the slow way."""
        self.clear = False

    def ping(self) -> None:
        """Send a WebSocket ping; not while something waits, whose progress tells as much."""
        if self.clear:
            self._writer.write(_PING)

    def _append(self, prepared: Prepared) -> None:
        self._writer.write(prepared.wire)

    def _say_goodbye(self, code: int, reason: str) -> None:
        self._link.say_goodbye(code, reason)
