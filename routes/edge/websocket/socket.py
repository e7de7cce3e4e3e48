"""A live socket as handlers, actors and the registry see it; its two subclasses do the sending.

    LiveSocket
    ├── DirectSocket   websocket/direct.py   the socket of the operating system, written to synchronously
    └── QueuedSocket   websocket/queued.py   ASGI's `send`, through a task (stock Hypercorn, TLS, plain ASGI)

Invariants: no call blocks. `clear` is true while no bytes wait in user space for the socket. Those that do are bounded
(`backlog.py`), including the one being sent: beyond them `offer` refuses, and the subscription catches up later; where
replies are not read, the socket is closed. After `close` or `lost` everything is accepted and dropped, so that callers
need not check. Callbacks of `on_close` run once, synchronously.

The listener gets one message at a time, in order. A message that arrives before there is a listener, or while it
awaits something, or while replies pile up, waits in the inbox (`inbox.py`).
Thousands of sockets are idle: what an idle one does not need is None, not an empty container.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from typing import TypeAlias

from actors.kernel.sink import Lagging, Prepared
from routes.edge.listener import Listener
from routes.edge.websocket import frames
from routes.edge.websocket.backlog import Backlog
from routes.edge.websocket.bearer import Bearer
from routes.edge.websocket.close_codes import CLOSE_CODE_OF, CloseCode, Ending
from routes.edge.websocket.inbox import Inbox

SocketHandler: TypeAlias = Callable[["LiveSocket"], Awaitable[Listener | None]]
"""Opens a stream on an accepted socket; the listener that it returns is called until the socket closes."""


class LiveSocket(ABC):
    """One WebSocket; implements `Sink`.

    Args:
        session_id: the socket's unique id, sent to the client in `hello`.
        bearer: the user or server whose socket it is.

    Attributes:
        user_id, expires_at_ms, issued_at_s, sid: the fields of the bearer.
        clear: whether no bytes wait for the socket.
        heard: whether something arrived since the last sweep, which resets it.
        heard_at: trio's time of the last sweep that found `heard` set.
        pinged_at: trio's time of the sweep's ping since then, or None.
        multiplexed: whether many channels share it, so that the end of one is sent as `unsubscribed` and the socket
            stays open.
        ending: how it ended; None while it is open.
        forget: called with the socket at its end, before the callbacks of `on_close`; None until it is registered.
        pings: whether the sweep has to check its heartbeat.
    """

    __slots__ = (
        "_backlog",
        "_busy",
        "_inbox",
        "_listener",
        "_on_close",
        "clear",
        "ending",
        "expires_at_ms",
        "forget",
        "heard",
        "heard_at",
        "issued_at_s",
        "multiplexed",
        "pinged_at",
        "session_id",
        "sid",
        "user_id",
    )

    pings = True

    def __init__(self, session_id: str, bearer: Bearer) -> None:
        self.session_id = session_id
        self.user_id, self.expires_at_ms, self.issued_at_s, self.sid = bearer
        self.multiplexed = False
        self.clear = True
        self.heard = True
        self.heard_at = 0.0
        self.pinged_at: float | None = None
        self.ending: Ending | None = None
        self.forget: Callable[[LiveSocket], None] | None = None
        self._listener: Listener | None = None
        self._busy = True  # until the handler is done
        self._inbox: Inbox | None = None
        self._backlog: Backlog | None = None
        self._on_close: Callable[[], None] | None = None

    @property
    def closed(self) -> bool:
        """Whether closing has begun or the connection is lost."""
        return self.ending is not None

    @property
    def queued_bytes(self) -> int:
        """Bytes that wait in user space to be sent."""
        return 0 if self._backlog is None else self._backlog.size_bytes

    @property
    def inbox_bytes(self) -> int:
        """Bytes of the client's messages that wait for the listener."""
        return 0 if self._inbox is None else self._inbox.size_bytes

    # -- towards the client

    @abstractmethod
    def offer(self, prepared: Prepared) -> bool:
        """Send or queue messages of a channel; False when the queue is full. Always True while `clear`."""

    @abstractmethod
    def hold(self, prepared: Prepared) -> None:
        """`send_nowait` for a reply that frames of the same turn follow at once, so that one send takes all.

        The caller must `release` once those have been offered, at the end of the step at the latest.
        """

    @abstractmethod
    def gather(self) -> None:
        """Hold all messages from now on, so that one send takes all, up to a bound of bytes.

        The caller must `release` before it awaits anything.
        """

    @abstractmethod
    def release(self) -> None:
        """Send what is held now, and hold nothing more. Harmless when nothing is held."""

    @abstractmethod
    def ping(self) -> None:
        """Send a WebSocket ping, when the socket is clear."""

    @abstractmethod
    def _append(self, prepared: Prepared) -> None:
        """Queue the messages behind what waits."""

    @abstractmethod
    def _say_goodbye(self, code: int, reason: str) -> None:
        """Send the close frame behind what waits, and give the client a bounded time to answer it."""

    @abstractmethod
    def _start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task; exceptions are reported and go no further."""

    @abstractmethod
    def _hold_back(self, held: bool) -> None:
        """Stop reading from the client, or resume."""

    def send_nowait(self, prepared: Prepared) -> None:
        """Send or queue messages that must not be skipped, such as replies and `hello`.

        Closes the socket with 4429 when more replies wait unread than may (`backlog.py`).
        """
        if self.clear:
            self.offer(prepared)
        elif self.ending is None:
            if self._behind().count_reply(prepared):
                self._queue(prepared)
            else:
                self.close(CloseCode.FLOOD, "replies are not read")

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Call `lagging.catch_up` once everything queued has been sent: each subscription once, in order."""
        if self.ending is None:
            self._behind().lags(lagging)

    def end(self, channel: str, code: str) -> None:
        """End the subscription of `channel` for the reason `code`, and with it a socket that is not multiplexed."""
        if self.multiplexed:
            self.send_nowait(frames.unsubscribed(channel, code))
        else:
            self.close(CLOSE_CODE_OF.get(code, CloseCode.FORBIDDEN), code)

    def close(self, code: int, reason: str = "") -> None:
        """Close from the server's side, once; messages that arrive later are ignored.

        Args:
            code: see `close_codes.py`.
            reason: at most 123 bytes in UTF-8, for a human.
        """
        if self.ending is None:
            # First, because the close frame may be what finds out that the connection is lost.
            self.ending = Ending(code, reason)
            self._say_goodbye(code, reason)
            self._inbox = None
            self._finish()

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, synchronously, when the socket closes or is lost; at once if it already has."""
        if self.ending is None:
            before = self._on_close  # nearly all sockets have one: no container for it
            self._on_close = callback if before is None else partial(_both, callback, before)
        else:
            callback()

    def start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run `run(*args)` in a task of its own; an exception is reported, and closes the socket with 1011.

        The task is cancelled when the server stops, not when the socket closes: see `on_close`.
        """
        self._start(self._run_soundly, run, args)

    # -- from the client

    async def run(self, handler: SocketHandler) -> None:
        """Run the stream's handler, then deliver the messages that arrived meanwhile to its listener.

        An exception of the handler closes the socket with 1011 and is raised here; so does cancellation.

        Args:
            handler: called with this socket.
        """
        await self._run_soundly(self._open, (handler,))
        self._hear_inbox()

    def deliver(self, message: bytes) -> None:
        """Take a text message. An exception of the listener closes the socket with 1011 and is raised here."""
        if self.ending is not None:
            return
        if not self._busy and self._inbox is None and not (self._backlog and self._backlog.holds_back):
            waiting = self._hear(message)
            if waiting is not None:
                self._busy = True
                self.start(self._attend, waiting)
            return
        if self._inbox is None:
            self._inbox = Inbox()
        self._inbox.put(message)
        if self._inbox.full:
            self._hold_back(True)

    def deliver_binary(self, message: bytes) -> None:  # noqa: ARG002
        """Refuse a binary message with 4400 (contract §9: JSON text frames)."""
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
        """Deliver the inbox up to a message whose handling has to be awaited; not called while `_busy`."""
        # A message may cause calls that come back here, such as the end of the socket; `_busy` keeps the order.
        self._busy = True
        waiting: Awaitable[None] | None = None
        try:
            waiting = self._hear_next()
        finally:
            self._busy = waiting is not None
        if waiting is not None:
            self.start(self._attend, waiting)

    def _hear_next(self) -> Awaitable[None] | None:
        # Messages from before the peer's close are still delivered, and its unread replies no longer matter.
        while (inbox := self._inbox) is not None and len(inbox):
            if self.ending is None and self._backlog is not None and self._backlog.holds_back:
                break
            waiting = self._hear(inbox.take())
            if waiting is not None:
                return waiting
        if self._inbox is None or not len(self._inbox):
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
        """Let lagging subscriptions catch up, once everything was sent, until one of them fills the socket again."""
        if self.ending is not None:
            return
        self.clear = True
        self.heard = True
        backlog, self._backlog = self._backlog, None
        if backlog is not None:
            backlog.catch_up(self)
        if self._inbox is not None and not self._busy:
            self._hear_inbox()

    def lost(self, code: int, reason: str = "") -> None:
        """Note that the peer closed with `code` and `reason`, or that the connection broke; earlier messages are still
        delivered."""
        if self.ending is None:
            self.ending = Ending(code, reason)
            self._finish()

    def _queue(self, prepared: Prepared) -> None:
        backlog = self._backlog or self._behind()
        backlog.messages += len(prepared.payloads)
        backlog.size_bytes += len(prepared.wire)
        self._append(prepared)

    def _behind(self) -> Backlog:
        """What waits for the client, from now on if nothing did."""
        if self._backlog is None:
            self._backlog = Backlog()
        return self._backlog

    def _offer_behind(self, prepared: Prepared) -> bool:
        """`offer` for a socket that is not clear."""
        if self.ending is not None:
            return True
        if self._crowded() or not (self._backlog or self._behind()).has_room(prepared):
            return False
        self._queue(prepared)
        return True

    def _crowded(self) -> bool:
        """Whether so many bytes wait for other clients that nothing more is queued for this slow one."""
        return False

    def _finish(self) -> None:
        self.clear = False
        self._backlog = None
        on_close, self._on_close = self._on_close, None
        # An ExitStack runs them last in, first out, and each even if others raise.
        with ExitStack() as told:
            if not self._busy:
                told.callback(self._hear_inbox)
            if on_close is not None:
                told.callback(on_close)
            if self.forget is not None:
                told.callback(self.forget, self)


def _both(later: Callable[[], None], earlier: Callable[[], None]) -> None:
    try:
        later()
    finally:
        earlier()
