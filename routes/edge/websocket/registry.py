"""All live sockets of this process: who has which, and everything that happens to them by time.

One task (`keep`) serves them all: heartbeats, and the end of tokens. A socket leaves by itself when it ends,
so nothing here can keep a closed one. Invariant: `opened` and `closed` are called once each per socket, in
this order. What the sweep must know of a socket (when it was heard, when pinged) stands in the socket itself:
there are thousands, and a record beside each costs more than two slots in it.

Cap: a user has at most 10 sockets. The eleventh is let in and the oldest is closed with 4429: the newest is
the one that somebody looks at, while an old one is often the dead half of a lost connection, and refusing
would lock out exactly those who roam. 4429 tells the replaced client to back off, so that two greedy clients
do not chase each other.
"""

from collections.abc import Callable, Iterator
from random import Random

import trio

from actors.kernel.clock import Clock
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.socket import LiveSocket

HEARTBEAT_SECONDS = 30.0
"""A silent socket is pinged after this, and closed with 4408 after as long again (contract §9)."""

SWEEP_SECONDS = 1.0
"""How exact heartbeats and token ends are; revocation must take effect within 2 s (contract §2)."""

MAX_PER_USER = 10

RECONNECT_JITTER_MS = 10_000
"""Clients of a draining server come back spread over this time (reliability F10)."""

_SLICE = 50
"""Sockets served between two checkpoints: 50 sends are 0.2 ms in which nothing else runs."""


class Sockets:
    """The registry of open live sockets.

    Args:
        clock: for the ends of tokens.
        rng: for the jitter of `reconnect`.
        max_per_user: sockets of one user, or None for no cap (`PARTYLINE_RATE_LIMITS=off`).
        heartbeat_seconds: as `HEARTBEAT_SECONDS`.
    """

    def __init__(
        self,
        clock: Clock,
        rng: Random,
        *,
        max_per_user: int | None = MAX_PER_USER,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._clock = clock
        self._rng = rng
        self._max_per_user = max_per_user
        self._heartbeat_seconds = heartbeat_seconds
        self._opened: list[Callable[[LiveSocket], None]] = []
        self._closed: list[Callable[[LiveSocket], None]] = []
        self._open: dict[LiveSocket, None] = {}  # oldest first
        self._by_user: dict[str, list[LiveSocket]] = {}  # {user id: sockets, oldest first}
        self._draining = False

    def follow(self, opened: Callable[[LiveSocket], None], closed: Callable[[LiveSocket], None]) -> None:
        """Be told of each socket from now on, once each; presence hangs here.

        Args:
            opened, closed: called synchronously; they neither wait nor raise. `opened` may close the socket.
        """
        self._opened.append(opened)
        self._closed.append(closed)

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[LiveSocket]:
        return iter(tuple(self._open))

    @property
    def heartbeat_ms(self) -> int:
        """For `hello`."""
        return round(self._heartbeat_seconds * 1000)

    def of_user(self, user_id: str) -> tuple[LiveSocket, ...]:
        """The open sockets of a user, oldest first."""
        return tuple(self._by_user.get(user_id, ()))

    def add(self, socket: LiveSocket) -> None:
        """Register an open socket, which leaves by itself; above the cap the user's oldest is closed."""
        self._open[socket] = None
        socket.heard_at = trio.current_time()
        if socket.user_id is not None:
            mine = self._by_user.setdefault(socket.user_id, [])
            mine.append(socket)
            if self._max_per_user is not None and len(mine) > self._max_per_user:
                mine[0].close(CloseCode.FLOOD, "replaced by a newer socket")
        for opened in self._opened:
            opened(socket)
        if socket.closed:
            # The client was gone before it was let in.
            self.remove(socket)
            return
        socket.registry = self
        if self._draining:
            socket.close(CloseCode.DRAINING, "DRAINING")

    def remove(self, socket: LiveSocket) -> None:
        """Forget a socket that is closing, or lost (`Registry`)."""
        del self._open[socket]
        if socket.user_id is not None:
            mine = self._by_user[socket.user_id]
            mine.remove(socket)
            if not mine:
                del self._by_user[socket.user_id]
        for closed in self._closed:
            closed(socket)

    def close_user(self, user_id: str, code: CloseCode, reason: str) -> None:
        """Close every socket of a user, say when the account is erased or the right to be here is gone.

        Args:
            reason: for the close frame.
        """
        for socket in self.of_user(user_id):
            socket.close(code, reason)

    async def keep(self) -> None:
        """Sweep once a second, for as long as the service runs; ends by cancellation only."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            await self.sweep()

    async def sweep(self) -> None:
        """Ping the silent, close the dead with 4408 and those whose token has ended with 4401; 50 at a time.

        Cancellation between two batches leaves the rest to the next sweep.
        """
        now, now_ms = trio.current_time(), self._clock.now_ms()
        for number, socket in enumerate(self):
            if socket.expires_at_ms is not None and socket.expires_at_ms <= now_ms:
                socket.close(CloseCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
            elif socket.heard:
                socket.heard = False
                socket.heard_at, socket.pinged_at = now, None
            elif socket.pings:
                self._beat(socket, now)
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()

    async def drain(self, *, grace_seconds: float = 1.0) -> None:
        """Tell every client to come back elsewhere, then close with 4503; newcomers are closed at once.

        Clients that understand `reconnect` get their own random `afterMs`, so that they do not all return at
        once; the others (single-purpose streams) spread by the duty of 45xx codes.

        Cancellation closes what is left at once.

        Args:
            grace_seconds: between the frame and the close.
        """
        self._draining = True
        for number, socket in enumerate(self):
            if socket.multiplexed:
                after_ms = self._rng.randrange(RECONNECT_JITTER_MS)
                socket.send_nowait(frames.reconnect(after_ms, "DRAINING"))
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        await trio.sleep(grace_seconds if self._open else 0)
        for number, socket in enumerate(self):
            socket.close(CloseCode.DRAINING, "DRAINING")
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()

    def _beat(self, socket: LiveSocket, now: float) -> None:
        if socket.pinged_at is None:
            # A socket that is not clear is slow, not silent: its ping waits until it has caught up.
            if now - socket.heard_at >= self._heartbeat_seconds and socket.clear:
                socket.ping()
                socket.pinged_at = now
        elif now - socket.pinged_at >= self._heartbeat_seconds and socket.clear:
            socket.close(CloseCode.HEARTBEAT_MISSED, "heartbeat missed")
