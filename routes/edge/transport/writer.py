"""The writer of a cleartext connection: synchronous and ordered.

Every byte of responses, pongs, close frames and published messages goes through `Writer`, so that nothing can
interleave and no lock is needed. Invariants: while `waiting` is not None, bytes are only appended to it, and the
connection watches its socket, to call `flush` when it takes more; nothing else calls `send` then. Waiting bytes are
counted in the address's `Tab` (`unsent.py`), exactly; bytes that the socket takes at once never are.
"""

import socket
from collections import deque
from itertools import islice
from math import inf
from typing import Protocol

import trio

from routes.edge.tabs import Tab
from routes.edge.unsent import Unsent, held_bytes

_PIECES_A_CALL = 64
"""Buffers passed to one `sendmsg`; the kernel's own limit is 1,024."""


class WriterObserver(Protocol):
    """Is told whether the socket takes what is sent."""

    def blocked(self) -> None:
        """Called when the socket did not take everything; bytes wait from now on."""
        ...

    def drained(self) -> None:
        """Called when no bytes wait any more."""
        ...


class Owner(Protocol):
    """The connection that owns the writer."""

    def watch(self, waiting: bool) -> None:
        """Watch the socket, and call `flush` when it takes more, while `waiting` is True; False when no bytes wait
        any more.
        """
        ...

    def broken(self) -> None:
        """Close the connection, whose socket has failed. Called synchronously, from within a write."""
        ...


class Waiting:
    """What the socket has not taken yet, and how quickly the client takes it.

    Args:
        pieces: what waits, in order.
        now: trio's time.

    Attributes:
        took_at: trio's time at which the socket last took something, or bytes began to wait.
        paid_until: trio's time up to which the client has read at the required rate, as of the last `Writer.lags`.
        taken_bytes: what the socket has taken since then.
        cleared: set when nothing waits any more; None while nobody asks for that.
    """

    __slots__ = ("cleared", "paid_until", "pieces", "taken_bytes", "took_at")

    def __init__(self, pieces: deque[bytes | memoryview], now: float) -> None:
        self.pieces = pieces
        self.took_at = self.paid_until = now
        self.taken_bytes = 0
        self.cleared: trio.Event | None = None


class Writer:
    """All writes of one connection.

    Args:
        sock: the non-blocking socket, which the connection closes.
        owner: the connection.
        tab: the account of the client's address.
        unsent: the accounts of the process.

    Attributes:
        send: the socket's own `send`, to save `DirectSocket.offer` a call.
        waiting: what the socket has not taken yet, or None.
        observer: notified when bytes begin to wait and when none do any more; or None.
        tab: the account of the client's address.
    """

    __slots__ = ("_finish", "_owner", "_socket", "_unsent", "observer", "send", "tab", "waiting")

    def __init__(self, sock: socket.socket, owner: Owner, tab: Tab, unsent: Unsent) -> None:
        self._socket = sock
        self._owner = owner
        self.tab = tab
        self._unsent = unsent
        self._finish = False
        self.send = sock.send
        self.waiting: Waiting | None = None
        self.observer: WriterObserver | None = None

    def hand_on(self, owner: Owner) -> None:
        """Replace the owner."""
        self._owner = owner

    def write(self, data: bytes) -> None:
        """Send, or append to what waits. Dropped after `finish` or a failure."""
        if self._finish:
            return
        if self.waiting is not None:
            self._append(self.waiting, data)
            return
        try:
            taken = self.send(data)
        except OSError as error:
            taken = self.failed(error, len(data))
        if taken != len(data):
            self.keep(data, taken)

    def write_response(self, head: bytes, body: bytes) -> None:
        """Send two pieces in one call, without joining them, or append them to what waits.

        Args:
            head: the first piece, not empty.
            body: the second piece, so large that copying it would cost more than sending two pieces.
        """
        if self._finish:
            return
        if self.waiting is not None:
            self._append(self.waiting, head)
            self._append(self.waiting, body)
            return
        length = len(head) + len(body)
        try:
            taken = self._socket.sendmsg((head, body))
        except OSError as error:
            taken = self.failed(error, length)
        if taken == length:
            return
        if taken < len(head):
            self._keep(memoryview(head)[taken:], body)
        else:
            self._keep(memoryview(body)[taken - len(head) :])

    def failed(self, error: OSError, length: int) -> int:
        """How many of `length` bytes are done with after `send` raised: 0 if it would block; on a failure all, and
        the owner closes.
        """
        if isinstance(error, BlockingIOError):
            return 0
        self._owner.broken()
        return length

    def keep(self, data: bytes, taken: int) -> None:
        """Queue the rest of `data`, of which the socket took only `taken` bytes."""
        self._keep(memoryview(data)[taken:])

    async def wait_clear(self) -> None:
        """Wait until no bytes wait, or the connection is gone. Cancellation changes nothing."""
        while (waiting := self.waiting) is not None:
            if waiting.cleared is None:
                waiting.cleared = trio.Event()
            await waiting.cleared.wait()

    def flush(self) -> None:
        """Send what waits; to be called when the socket takes more."""
        waiting = self.waiting
        if waiting is None or not waiting.pieces:
            return
        try:
            self._send_waiting(waiting)
        except BlockingIOError:
            return
        except OSError:
            self._owner.broken()
            return
        if waiting.pieces:
            return
        self._end_waiting()
        self._owner.watch(False)
        if self._finish:
            self._say_end()
        elif self.observer is not None:
            self.observer.drained()

    @property
    def paid_until(self) -> float:
        """Trio's time up to which the client has read at the required rate, as of the last `lags`; infinite while no
        bytes wait."""
        return inf if self.waiting is None else self.waiting.paid_until

    def lags(self, now: float, *, grace_seconds: float, bytes_per_second: float) -> bool:
        """Whether the client has fallen too far behind the required rate; to be called about once a second.

        Args:
            now: trio's time.
            grace_seconds: how far behind it may be.
            bytes_per_second: the required rate; taking more is no credit for later.
        """
        waiting = self.waiting
        if waiting is None:
            return False
        taken, waiting.taken_bytes = waiting.taken_bytes, 0
        waiting.paid_until = min(now, waiting.paid_until + taken / bytes_per_second)
        return now - waiting.paid_until >= grace_seconds

    @property
    def crowded(self) -> bool:
        """Whether too many bytes wait, here or elsewhere, to queue what can be sent later."""
        return self._unsent.crowds(self.tab)

    def cut(self) -> None:
        """Close the connection and drop what waits (`Slow`)."""
        self._owner.broken()

    def finish(self) -> None:
        """Send what waits, then FIN; `write` drops everything from now on."""
        if not self._finish:
            self._finish = True
            if self.waiting is None:
                self._say_end()

    def abandon(self) -> None:
        """Drop what waits, and wake `wait_clear`, because the connection is gone."""
        self._finish = True
        self._end_waiting()

    def _keep(self, *pieces: bytes | memoryview) -> None:
        self.waiting = Waiting(deque(pieces), trio.current_time())
        self.tab.add(sum(map(held_bytes, pieces)))
        self._unsent.began(self)
        if self.observer is not None:
            self.observer.blocked()
        self._owner.watch(True)

    def _append(self, waiting: Waiting, data: bytes) -> None:
        waiting.pieces.append(data)
        self.tab.add(held_bytes(data))

    def _end_waiting(self) -> None:
        """Note that nothing waits any more: it was sent, or never will be."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            self.tab.add(-sum(map(held_bytes, waiting.pieces)))
            self._unsent.ended(self)
            if waiting.cleared is not None:
                waiting.cleared.set()

    def _send_waiting(self, waiting: Waiting) -> None:
        pieces = waiting.pieces
        taken = self._socket.sendmsg(islice(pieces, _PIECES_A_CALL))
        waiting.took_at = trio.current_time()
        waiting.taken_bytes += taken
        while taken:
            first = pieces[0]
            if taken < len(first):
                pieces[0] = memoryview(first)[taken:]
                return
            taken -= len(first)
            pieces.popleft()
            self.tab.add(-held_bytes(first))

    def _say_end(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            # The peer has closed or reset the connection already.
            self._owner.broken()
