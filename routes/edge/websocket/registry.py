"""All live sockets of this process: lookup by user, heartbeats, expiry of tokens, and draining.

One task (`keep`) serves all sockets. A socket removes itself when it ends, so no closed one is kept here. Invariant:
`opened` and `closed` are called once each per socket, in this order. What the sweep must know of a socket (when it
was last heard, when pinged) is stored in the socket itself: there are thousands, and a record beside each costs more
than two slots in it.

Cap: a user has at most 10 sockets. The eleventh is accepted and the oldest is closed with 4429. The newest is the one
in use, while an old one is often the dead half of a lost connection, and refusing would lock out users who change
networks. 4429 tells the replaced client to back off, so that two greedy clients do not replace each other in turns.
Among several nodes the sockets on all of them count (`share`), and the node that has most of the user's closes one.
"""

from collections.abc import Callable, Iterator
from random import Random

import trio

from actors.kernel.clock import Clock
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.socket import LiveSocket

HEARTBEAT_SECONDS = 30.0
"""A silent socket is pinged after this, and closed with 4408 after the same time again (contract §9)."""

SWEEP_SECONDS = 1.0
"""Precision of heartbeats and token expiry; revocation must take effect within 2 s (contract §2)."""

MAX_PER_USER = 10
"""Most sockets of one user; see Cap above."""

RECONNECT_JITTER_MS = 10_000
"""Clients of a draining server reconnect spread over this time (reliability F10)."""

_SLICE = 50
"""Sockets served between two checkpoints: 50 sends are 0.2 ms in which nothing else runs."""


class Sockets:
    """The registry of open live sockets.

    Args:
        clock: tells when tokens expire.
        rng: makes the jitter of `reconnect`.
        max_per_user: most sockets of one user, or None for no cap (`PARTYLINE_RATE_LIMITS=off`).
        heartbeat_seconds: silence before a ping, and between the ping and the close.
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
        self._forget = self.remove  # bound once for all sockets
        self._heartbeat_seconds = heartbeat_seconds
        self._opened: list[Callable[[LiveSocket], None]] = []
        self._closed: list[Callable[[LiveSocket], None]] = []
        self._open: dict[LiveSocket, None] = {}  # oldest first
        self._by_user: dict[str, tuple[LiveSocket, ...]] = {}  # {user id: sockets, oldest first}
        self._draining = False
        self._is_too_many: Callable[[str, int], bool] = self._is_above_cap

    def follow(self, opened: Callable[[LiveSocket], None], closed: Callable[[LiveSocket], None]) -> None:
        """Call `opened` and `closed` for each socket from now on, once each; presence uses this.

        Args:
            opened, closed: called synchronously; must neither block nor raise. `opened` may close the socket.
        """
        self._opened.append(opened)
        self._closed.append(closed)

    def share(self, is_too_many: Callable[[str, int], bool]) -> None:
        """Let the cap hold on all nodes together, if there is one.

        Args:
            is_too_many: `fn(user id, sockets of the user on this node)`; whether the user has too many sockets on all
                nodes, and one of those here is to be closed. Call `bound` whenever its result may have become true.
        """
        if self._max_per_user is not None:
            self._is_too_many = is_too_many

    def bound(self, user_id: str) -> None:
        """Close the oldest socket of a user here, if they have too many."""
        mine = self._by_user.get(user_id)
        if mine and self._is_too_many(user_id, len(mine)):
            mine[0].close(CloseCode.FLOOD, "replaced by a newer socket")

    def _is_above_cap(self, _user_id: str, here: int) -> bool:
        return self._max_per_user is not None and here > self._max_per_user

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[LiveSocket]:
        return iter(tuple(self._open))

    @property
    def heartbeat_ms(self) -> int:
        """The heartbeat interval, as sent in `hello`."""
        return round(self._heartbeat_seconds * 1000)

    def of_user(self, user_id: str) -> tuple[LiveSocket, ...]:
        """The open sockets of a user, oldest first."""
        return self._by_user.get(user_id, ())

    def add(self, socket: LiveSocket) -> None:
        """Register an open socket, which removes itself at its end. Above the cap the user's oldest one is closed."""
        self._open[socket] = None
        socket.heard_at = trio.current_time()
        if socket.user_id is not None:
            self._by_user[socket.user_id] = (*self.of_user(socket.user_id), socket)
            self.bound(socket.user_id)
        for opened in self._opened:
            opened(socket)
        if socket.closed:
            # The client disconnected before the socket was registered, or `opened` has closed it.
            self.remove(socket)
            return
        socket.forget = self._forget
        if self._draining:
            socket.close(CloseCode.DRAINING, "DRAINING")

    def remove(self, socket: LiveSocket) -> None:
        """Forget a socket that has ended; called by the socket itself."""
        del self._open[socket]
        if socket.user_id is not None:
            others = tuple(one for one in self._by_user[socket.user_id] if one is not socket)
            if others:
                self._by_user[socket.user_id] = others
            else:
                del self._by_user[socket.user_id]
        for closed in self._closed:
            closed(socket)

    def close_user(self, user_id: str, code: CloseCode, reason: str) -> None:
        """Close every socket of a user, for example when the account is erased.

        Args:
            user_id: the user's id.
            code: the code in the close frame.
            reason: the reason in the close frame, for a human, at most 123 bytes in UTF-8.
        """
        for socket in self.of_user(user_id):
            socket.close(code, reason)

    def close_older(self, user_id: str, not_before_s: int) -> None:
        """Close every socket of a user whose token was issued earlier, with 4401.

        Args:
            user_id: the user's id.
            not_before_s: the first valid `iat`, epoch seconds.
        """
        for socket in self.of_user(user_id):
            if socket.issued_at_s is not None and socket.issued_at_s < not_before_s:
                socket.close(CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")

    async def keep(self) -> None:
        """Sweep once a second, until cancelled. Cancellation closes no socket."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            await self.sweep()

    async def sweep(self) -> None:
        """Ping silent sockets, close dead ones with 4408 and those with expired tokens with 4401; 50 between
        checkpoints.

        Cancellation leaves the remaining sockets to the next sweep.
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
        """Tell every client to reconnect, then close with 4503; sockets added later are closed at once.

        Clients that understand `reconnect` get their own random `afterMs`, so that they do not all return at once;
        the others (single-purpose streams) wait a random time by the rule for 45xx codes. Cancellation leaves sockets
        open.

        Args:
            grace_seconds: time between the `reconnect` frame and the close.
        """
        self._draining = True
        await self.send_away(grace_seconds=grace_seconds)

    async def send_away(self, *, grace_seconds: float = 1.0) -> None:
        """Do what `drain` does with the sockets that are open now; others may still be opened. Cancellation leaves
        sockets open.

        Args:
            grace_seconds: time between the `reconnect` frame and the close.
        """
        sockets = tuple(self)
        for number, socket in enumerate(sockets):
            if socket.multiplexed:
                after_ms = self._rng.randrange(RECONNECT_JITTER_MS)
                socket.send_nowait(frames.reconnect(after_ms, "DRAINING"))
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        await trio.sleep(grace_seconds if sockets else 0)
        for number, socket in enumerate(sockets):
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
