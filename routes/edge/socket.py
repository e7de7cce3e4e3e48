"""A live socket as handlers, actors and the registry see it; what lies below it is in its two children.

    LiveSocket
    ├── DirectSocket   socket_direct.py   the socket of the operating system, written to synchronously
    └── QueuedSocket   asgi_socket.py     ASGI's `send`, through a task (stock Hypercorn, TLS, HTTP/2)

Invariants: nothing but `receive` waits. `clear` is true while nothing waits in user space. What waits is
bounded by 64 messages and 256 KiB for fan-out (`offer` then refuses, and the debtor is repaid later), and by
`REPLIES_MAX_BYTES` for replies (then the socket is closed). After `close` or `lost` everything is accepted
and dropped, so that no caller must know. Callbacks of `on_close` run once, synchronously.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

import trio

from actors.kernel.outlet import Debtor, Prepared
from routes.edge import frames
from routes.edge.close_codes import CloseCode

OFFERS_MAX_MESSAGES = 64
OFFERS_MAX_BYTES = 256 * 1024
"""Bounds of what waits for a slow socket (reliability F5); beyond them it is owed, not queued."""

REPLIES_MAX_BYTES = 1024 * 1024
"""A client that sends commands and never reads the replies is closed at this; it cannot be owed a reply."""

INBOX_MAX_MESSAGES = 16
"""Messages that wait for the handler; then we stop reading, and TCP holds the client back."""

# Why a subscription of a single-purpose stream ended, as a close code: {refusal code: close code}.
_ENDINGS = {
    "UNAUTHENTICATED": CloseCode.UNAUTHENTICATED,
    "TOKEN_EXPIRED": CloseCode.UNAUTHENTICATED,
    "DRAINING": CloseCode.DRAINING,
    "INTERNAL": CloseCode.INTERNAL_ERROR,
}


class SocketClosed(Exception):
    """The socket is gone: closed by either side, or lost.

    Args:
        code: the close code, 1005 and 1006 included (RFC 6455 §7.4.1).
        reason: of the close frame, or empty.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class LiveSocket(ABC):
    """One WebSocket; implements `Outlet`.

    Args:
        session_id: unique, told to the client in `hello`.
        user_id: whose it is, None for anonymous streams.
        expires_at_ms: when its token ends, epoch milliseconds; None for never.

    Attributes:
        clear: nothing waits for the socket to take it.
        heard: something came since the sweeper last looked; it sets this back.
        multiplexed: many channels share it, so an ended one is told with `unsubscribed` and the socket stays.
        pings: the sweeper can and must see to its heartbeat.
    """

    __slots__ = (
        "_arrived",
        "_closed",
        "_debts",
        "_inbox",
        "_on_close",
        "_queued_bytes",
        "_queued_messages",
        "_reply_bytes",
        "_room",
        "clear",
        "expires_at_ms",
        "heard",
        "multiplexed",
        "session_id",
        "user_id",
    )

    pings = True

    def __init__(
        self, *, session_id: str, user_id: str | None = None, expires_at_ms: int | None = None
    ) -> None:
        self.session_id = session_id
        self.user_id = user_id
        self.expires_at_ms = expires_at_ms
        self.multiplexed = False
        self.clear = True
        self.heard = True
        self._inbox: deque[bytes] = deque()
        self._arrived: trio.Event | None = None
        self._room: trio.Event | None = None
        self._closed: SocketClosed | None = None
        self._queued_messages = 0
        self._queued_bytes = 0
        self._reply_bytes = 0
        self._debts: dict[Debtor, None] = {}
        self._on_close: list[Callable[[], None]] = []

    @property
    def closed(self) -> bool:
        """Closing has begun, or the connection is lost."""
        return self._closed is not None

    @property
    def queued_bytes(self) -> int:
        """What waits in user space, behind the message that is being taken."""
        return self._queued_bytes

    # -- towards the client

    @abstractmethod
    def offer(self, prepared: Prepared) -> bool:
        """As in `Outlet`; a socket that is clear takes anything."""

    @abstractmethod
    def _append(self, prepared: Prepared) -> None:
        """Put it behind what waits."""

    @abstractmethod
    def ping(self) -> None:
        """Send a WebSocket ping, when the socket is clear."""

    @abstractmethod
    def _say_goodbye(self, code: int, reason: str) -> None:
        """Send the close frame behind what waits, and give the client a bounded time to answer it."""

    def send_nowait(self, prepared: Prepared) -> None:
        """Send what must not be skipped: replies, `hello`. Never waits.

        A client that does not read its replies is closed with 4429 when more than `REPLIES_MAX_BYTES` wait.
        """
        if self.clear:
            self.offer(prepared)
        elif self._closed is None:
            self._reply_bytes += len(prepared.wire)
            if self._reply_bytes > REPLIES_MAX_BYTES:
                self.close(CloseCode.FLOOD, "replies are not read")
            else:
                self._queue(prepared)

    def owe(self, debtor: Debtor) -> None:
        """Repay this debtor once everything that waits has been taken; each once, in order."""
        if self._closed is None:
            self._debts[debtor] = None

    def end(self, channel: str, code: str) -> None:
        """A subscription ended: told on a multiplexed socket, the end of a single-purpose one."""
        if self.multiplexed:
            self.send_nowait(frames.unsubscribed(channel, code))
        else:
            self.close(_ENDINGS.get(code, CloseCode.FORBIDDEN), code)

    def close(self, code: int, reason: str = "") -> None:
        """Close from our side; only the first close counts.

        Args:
            code: see `close_codes.py`.
            reason: at most 123 bytes in UTF-8, for a human.
        """
        if self._closed is None:
            self._say_goodbye(code, reason)
            self._finish(SocketClosed(code, reason))

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call this once, synchronously, when the socket closes or is lost; at once when it already has."""
        if self._closed is None:
            self._on_close.append(callback)
        else:
            callback()

    # -- from the client

    async def receive(self) -> bytes:
        """The next text message, UTF-8.

        The next is only given out when the replies to the ones before have been taken (or most of them), so
        that a client cannot make replies pile up. Cancellation loses nothing.

        Raises:
            SocketClosed: there will be no more.
        """
        while True:
            ready = self._inbox and self._queued_bytes <= OFFERS_MAX_BYTES
            if ready:
                break
            if self._closed is not None:
                # What the peer sent before it closed still counts; what it sent before we closed does not.
                if self._inbox:
                    break
                raise SocketClosed(self._closed.code, self._closed.reason)
            self._arrived = trio.Event()
            await self._arrived.wait()
        message = self._inbox.popleft()
        if self._room is not None:
            self._room.set()
            self._room = None
        return message

    # -- from below

    async def deliver(self, message: bytes) -> None:
        """A text message came; waits while the inbox is full, which stops the reading of this connection."""
        while len(self._inbox) >= INBOX_MAX_MESSAGES and self._closed is None:
            # Waiting is our doing, not the client's silence.
            self._room = self._room or trio.Event()
            await self._room.wait()
            self.heard = True
        if self._closed is None:
            self._inbox.append(message)
            self._wake()

    def drained(self) -> None:
        """The socket has taken everything: debtors are repaid until one of them fills it again."""
        if self._closed is not None:
            return
        self.clear = True
        self.heard = True
        self._queued_messages = self._queued_bytes = self._reply_bytes = 0
        debts, self._debts = self._debts, {}
        for debtor in debts:
            if self.clear:
                debtor.repay()
            else:
                self._debts.setdefault(debtor)
        self._wake()

    def lost(self, code: int, reason: str = "") -> None:
        """The peer closed, or the connection broke."""
        if self._closed is None:
            self._finish(SocketClosed(code, reason), keep_inbox=True)

    def _queue(self, prepared: Prepared) -> None:
        self._queued_messages += len(prepared.payloads)
        self._queued_bytes += len(prepared.wire)
        self._append(prepared)

    def _offer_behind(self, prepared: Prepared) -> bool:
        """`offer` for a socket that is not clear."""
        if self._closed is not None:
            return True
        if (
            self._queued_messages + len(prepared.payloads) > OFFERS_MAX_MESSAGES
            or self._queued_bytes + len(prepared.wire) > OFFERS_MAX_BYTES
        ):
            return False
        self._queue(prepared)
        return True

    def _finish(self, closed: SocketClosed, *, keep_inbox: bool = False) -> None:
        self._closed = closed
        self.clear = False
        self._debts.clear()
        if not keep_inbox:
            self._inbox.clear()
        if self._room is not None:
            self._room.set()
            self._room = None
        self._wake()
        callbacks, self._on_close = self._on_close, []
        for callback in callbacks:
            callback()

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None
