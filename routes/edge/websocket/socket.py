"""A live socket as handlers, actors and the registry see it; what lies below it is in its two children.

    LiveSocket
    ├── DirectSocket   websocket/direct.py   the socket of the operating system, written to synchronously
    └── QueuedSocket   websocket/queued.py     ASGI's `send`, through a task (stock Hypercorn, TLS, plain ASGI)

Invariants: nothing waits here. `clear` is true while nothing waits in user space for the socket. What does is
bounded by 64 messages and 256 KiB for fan-out, the one that is being taken counted (`offer` then refuses, and who
subscribed catches up later), and by `REPLIES_MAX_BYTES` for replies (then it is closed). After `close` or `lost`
everything is accepted and dropped, so that no caller must know. Callbacks of `on_close` run once, synchronously.

Towards the handler: its listener hears one message at a time, in order. A message that comes before the
listener does, or while it is at one that takes time, or while replies pile up, waits in the inbox.
Thousands of these sockets are idle: what an idle one does not need is None, not an empty container.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Protocol, TypeAlias

from actors.kernel.sink import Lagging, Prepared
from routes.edge.listener import Listener
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CLOSE_CODE_OF, CloseCode, Ending

OFFERS_MAX_MESSAGES = 64
OFFERS_MAX_BYTES = 256 * 1024
"""Bounds of what waits for a slow socket (reliability F5); beyond them it is owed, not queued."""

REPLIES_MAX_BYTES = 1024 * 1024
"""A client that sends commands and never reads the replies is closed at this; it cannot be owed a reply."""

INBOX_MAX_MESSAGES = 16
INBOX_MAX_BYTES = 128 * 1024
"""With as many waiting for the listener we stop reading, and TCP holds the client back; what the last read
brought beyond them waits too, and is no more than one read."""


class Registry(Protocol):
    """Who keeps the list of open sockets."""

    def remove(self, socket: "LiveSocket") -> None:
        """The socket is closing, or lost."""
        ...


SocketHandler: TypeAlias = Callable[["LiveSocket"], Awaitable[Listener | None]]
"""Opens a stream on an accepted socket; its listener is called until the socket closes."""


class LiveSocket(ABC):
    """One WebSocket; implements `Sink`.

    Args:
        session_id: unique, told to the client in `hello`.
        user_id: whose it is, None for anonymous streams.
        expires_at_ms: when its token ends, epoch milliseconds; None for never.
        issued_at_s: when its token was issued, epoch seconds; None for those that are not revoked that way.

    Attributes:
        clear: nothing waits for the socket to take it.
        heard: something came since the sweeper last looked; it sets this back.
        heard_at: trio time at which the sweeper last found `heard`.
        pinged_at: trio time of the sweeper's ping since, or None.
        multiplexed: many channels share it, so an ended one is told with `unsubscribed` and the socket stays.
        ending: None while it is open.
        registry: told first of the end, when there is one.
        pings: the sweeper can and must see to its heartbeat.
    """

    __slots__ = (
        "_busy",
        "_inbox",
        "_lagging",
        "_listener",
        "_on_close",
        "_queued_bytes",
        "_queued_messages",
        "_reply_bytes",
        "clear",
        "ending",
        "expires_at_ms",
        "heard",
        "heard_at",
        "issued_at_s",
        "multiplexed",
        "pinged_at",
        "registry",
        "session_id",
        "user_id",
    )

    pings = True

    def __init__(
        self,
        *,
        session_id: str,
        user_id: str | None = None,
        expires_at_ms: int | None = None,
        issued_at_s: int | None = None,
    ) -> None:
        self.session_id = session_id
        self.user_id = user_id
        self.expires_at_ms = expires_at_ms
        self.issued_at_s = issued_at_s
        self.multiplexed = False
        self.clear = True
        self.heard = True
        self.heard_at = 0.0
        self.pinged_at: float | None = None
        self.ending: Ending | None = None
        self.registry: Registry | None = None
        self._listener: Listener | None = None
        self._busy = True  # until the handler is done
        self._inbox: deque[bytes] | None = None
        self._queued_messages = 0
        self._queued_bytes = 0
        self._reply_bytes = 0
        self._lagging: dict[Lagging, None] | None = None
        self._on_close: tuple[Callable[[], None], ...] = ()

    @property
    def closed(self) -> bool:
        """Closing has begun, or the connection is lost."""
        return self.ending is not None

    @property
    def queued_bytes(self) -> int:
        """What waits in user space, behind the message that is being taken."""
        return self._queued_bytes

    @property
    def inbox_bytes(self) -> int:
        """What the client has said and the listener has not heard."""
        return sum(map(len, self._inbox or ()))

    # -- towards the client

    @abstractmethod
    def offer(self, prepared: Prepared) -> bool:
        """Send if the socket is clear; False if it is not, and the caller has to catch up later (`Sink`)."""

    @abstractmethod
    def hold(self, prepared: Prepared) -> None:
        """Like `send_nowait`, for a reply that frames of the same turn follow at once: they leave together.

        Whoever holds must `release` before it waits for anything.
        """

    @abstractmethod
    def release(self) -> None:
        """Nothing follows what is held: send it. Harmless when nothing is held."""

    @abstractmethod
    def ping(self) -> None:
        """Send a WebSocket ping, when the socket is clear."""

    @abstractmethod
    def _append(self, prepared: Prepared) -> None:
        """Put it behind what waits."""

    @abstractmethod
    def _say_goodbye(self, code: int, reason: str) -> None:
        """Send the close frame behind what waits, and give the client a bounded time to answer it."""

    @abstractmethod
    def _start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task; what it raises is reported and goes no further."""

    @abstractmethod
    def _hold_back(self, held: bool) -> None:
        """Stop reading from the client, or go on."""

    def send_nowait(self, prepared: Prepared) -> None:
        """Send what must not be skipped: replies, `hello`. Never waits.

        A client that does not read its replies is closed with 4429 when more than `REPLIES_MAX_BYTES` wait.
        """
        if self.clear:
            self.offer(prepared)
        elif self.ending is None:
            self._reply_bytes += len(prepared.wire)
            if self._reply_bytes > REPLIES_MAX_BYTES:
                self.close(CloseCode.FLOOD, "replies are not read")
            else:
                self._queue(prepared)

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Call `lagging.catch_up` once everything that waits has been taken; each once, in the order of the calls
        (`Sink`).
        """
        if self.ending is None:
            if self._lagging is None:
                self._lagging = {}
            self._lagging[lagging] = None

    def end(self, channel: str, code: str) -> None:
        """A subscription ended: told on a multiplexed socket, the end of a single-purpose one.

        Args:
            channel: its name on the wire.
            code: why.
        """
        if self.multiplexed:
            self.send_nowait(frames.unsubscribed(channel, code))
        else:
            self.close(CLOSE_CODE_OF.get(code, CloseCode.FORBIDDEN), code)

    def close(self, code: int, reason: str = "") -> None:
        """Close from our side; only the first close counts, and nothing the client says counts after it.

        Args:
            code: see `close_codes.py`.
            reason: at most 123 bytes in UTF-8, for a human.
        """
        if self.ending is None:
            self._say_goodbye(code, reason)
            self._inbox = None
            self._finish(Ending(code, reason))

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call this once, synchronously, when the socket closes or is lost; at once when it already has."""
        if self.ending is None:
            self._on_close += (callback,)
        else:
            callback()

    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of its own; a fault there is reported, and closes the socket with 1011.

        It is cancelled when the server stops, not when the socket closes: `on_close` tells.
        """
        self._start(self._run_soundly, run, args)

    # -- from the client

    async def run(self, handler: SocketHandler) -> None:
        """Run the handler of the stream; then its listener hears what the client says, and has said meanwhile.

        A fault in the handler closes the socket with 1011 and goes on, as does cancellation.

        Args:
            handler: called with this socket.
        """
        await self._run_soundly(self._open, (handler,))
        self._hear_inbox()

    def deliver(self, message: bytes) -> None:
        """A text message came. A fault of the listener closes the socket with 1011 and goes on."""
        if self.ending is not None:
            return
        if not self._busy and self._inbox is None and self._queued_bytes <= OFFERS_MAX_BYTES:
            waiting = self._hear(message)
            if waiting is not None:
                self._busy = True
                self.start(self._attend, waiting)
            return
        if self._inbox is None:
            self._inbox = deque()
        self._inbox.append(message)
        if len(self._inbox) >= INBOX_MAX_MESSAGES or self.inbox_bytes >= INBOX_MAX_BYTES:
            self._hold_back(True)

    def deliver_binary(self, message: bytes) -> None:  # noqa: ARG002
        """A binary message came, which nobody wants (contract §9: JSON text frames)."""
        self.close(CloseCode.BAD_FRAME, "binary frames are not taken")

    def _hear(self, message: bytes) -> Awaitable[None] | None:
        if self._listener is None:
            return None
        sound = False
        try:
            waiting = self._listener.heard(message)
            sound = True
        finally:
            if not sound:
                self.close(CloseCode.INTERNAL_ERROR)
        return waiting

    def _hear_inbox(self) -> None:
        """Have what waits heard, up to a message that takes time; not called while the listener is busy."""
        # Busy with it: what comes of one message (the end of the socket, say) must not have the next one heard.
        self._busy = True
        waiting: Awaitable[None] | None = None
        try:
            waiting = self._hear_next()
        finally:
            self._busy = waiting is not None
        if waiting is not None:
            self.start(self._attend, waiting)

    def _hear_next(self) -> Awaitable[None] | None:
        # What the peer said before it closed still counts, and its unread replies matter no longer.
        while self._inbox and (self._queued_bytes <= OFFERS_MAX_BYTES or self.ending is not None):
            waiting = self._hear(self._inbox.popleft())
            if waiting is not None:
                return waiting
        if not self._inbox:
            self._inbox = None
            if self.ending is None:
                self._hold_back(False)
            else:
                self._listener = None
        return None

    async def _attend(self, waiting: Awaitable[None] | None) -> None:
        try:
            while waiting is not None:
                await waiting
                waiting = self._hear_next()
        finally:
            self._busy = False

    async def _open(self, handler: SocketHandler) -> None:
        self._listener = await handler(self)

    async def _run_soundly(self, run: Callable[..., Awaitable[None]], args: tuple[object, ...]) -> None:
        sound = False
        try:
            await run(*args)
            sound = True
        finally:
            if not sound:
                self.close(CloseCode.INTERNAL_ERROR)

    # -- from below

    def drained(self) -> None:
        """The socket has taken everything: whoever lags catches up, until one of them fills it again."""
        if self.ending is not None:
            return
        self.clear = True
        self.heard = True
        self._queued_messages = self._queued_bytes = self._reply_bytes = 0
        waiting, self._lagging = self._lagging, None
        for lagging in waiting or ():
            if self.clear:
                lagging.catch_up()
            else:
                self.notify_when_writable(lagging)
        if self._inbox is not None and not self._busy:
            self._hear_inbox()

    def lost(self, code: int, reason: str = "") -> None:
        """The peer closed, or the connection broke. What it said before is still heard.

        Args:
            code: of the close frame that came (RFC 6455 §7.4), or what stands for none.
            reason: of that frame.
        """
        if self.ending is None:
            self._finish(Ending(code, reason))

    def _queue(self, prepared: Prepared) -> None:
        self._queued_messages += len(prepared.payloads)
        self._queued_bytes += len(prepared.wire)
        self._append(prepared)

    def _offer_behind(self, prepared: Prepared) -> bool:
        """`offer` for a socket that is not clear."""
        if self.ending is not None:
            return True
        if (
            self._crowded()
            or self._queued_messages + len(prepared.payloads) > OFFERS_MAX_MESSAGES
            or self._queued_bytes + len(prepared.wire) > OFFERS_MAX_BYTES
        ):
            return False
        self._queue(prepared)
        return True

    def _crowded(self) -> bool:
        """So much waits for others that this client, who is slow, is owed rather than queued for."""
        return False

    def _finish(self, ending: Ending) -> None:
        self.ending = ending
        self.clear = False
        self._lagging = None
        callbacks, self._on_close = self._on_close, ()
        # Last in, first out; each runs, whichever of the others fails.
        with ExitStack() as told:
            if not self._busy:
                told.callback(self._hear_inbox)
            for callback in reversed(callbacks):
                told.callback(callback)
            if self.registry is not None:
                told.callback(self.registry.remove, self)
