"""The one way out of a cleartext connection: synchronous and ordered.

Every byte, of responses, of pongs, of close frames and of what actors publish, goes through `Writer`, so that nothing
can interleave and no lock is needed. Invariants: while `waiting` is not None, bytes only go behind it, the connection
watches for the socket to take more, and calls `flush` then; `send` is called nowhere else while bytes wait. What waits
stands in the address's `Tab` (`unsent.py`), to the byte; what is taken at once never gets there.
"""

import socket
from collections import deque
from itertools import islice
from typing import Protocol

import trio

from routes.edge.tabs import Tab
from routes.edge.unsent import Unsent, held_bytes

_PIECES_A_CALL = 64
"""Buffers given to one `sendmsg`; the kernel's own limit is 1,024."""


class WriterObserver(Protocol):
    """Who wants to know whether the socket takes what is sent."""

    def blocked(self) -> None:
        """The socket did not take everything; bytes wait now."""
        ...

    def drained(self) -> None:
        """Nothing waits any more."""
        ...


class Owner(Protocol):
    """The connection that a writer writes for."""

    def watch(self, waiting: bool) -> None:
        """Bytes begin to wait: call `flush` as soon as the socket takes more; or none wait any more."""
        ...

    def broken(self) -> None:
        """The socket has failed; close the connection. Called synchronously, from within a write."""
        ...


class Writer:
    """All writes of one connection.

    Args:
        sock: non-blocking; stays the property of the connection.
        owner: the connection.
        tab: of the client's address.
        unsent: of the process.

    Attributes:
        send: the socket's own `send`, for the one line that must not cost a call more.
        waiting: what the socket has not taken yet, or None.
        took_at: when the socket last took something, or began not to; meaningful while bytes wait.
        paid_until: as in `Slow`; as of the last `lags`.
        follower: told of both changes too, when there is one.
        tab: of the client's address.
    """

    __slots__ = (
        "_cleared",
        "_finish",
        "_owner",
        "_socket",
        "_taken_bytes",
        "_unsent",
        "follower",
        "paid_until",
        "send",
        "tab",
        "took_at",
        "waiting",
    )

    def __init__(self, sock: socket.socket, owner: Owner, tab: Tab, unsent: Unsent) -> None:
        self._socket = sock
        self._owner = owner
        self.tab = tab
        self._unsent = unsent
        self._cleared: trio.Event | None = None
        self._finish = False
        self.send = sock.send
        self.waiting: deque[bytes | memoryview] | None = None
        self.took_at = self.paid_until = 0.0
        self._taken_bytes = 0
        self.follower: WriterObserver | None = None

    def hand_on(self, owner: Owner) -> None:
        """Somebody else looks after the connection from now on."""
        self._owner = owner

    def write(self, data: bytes) -> None:
        """Send, or put behind what waits. After `finish` or a failure it is dropped."""
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
        """`write` for two pieces that leave in one call, without being copied into one.

        Args:
            head: not empty.
            body: large enough for a copy to cost more than a second piece does.
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
        """How many of `length` bytes are done with after `send` raised: none when it only would block."""
        if isinstance(error, BlockingIOError):
            return 0
        self._owner.broken()
        return length

    def keep(self, data: bytes, taken: int) -> None:
        """The socket took only `taken` bytes; keep the rest, to be flushed when it takes more.

        Args:
            data: what was to be sent.
        """
        self._keep(memoryview(data)[taken:])

    async def wait_clear(self) -> None:
        """Wait until nothing waits, or the connection is gone. Cancellation changes nothing."""
        while self.waiting is not None:
            if self._cleared is None:
                self._cleared = trio.Event()
            await self._cleared.wait()

    def flush(self) -> None:
        """The socket takes more: send what waits."""
        if not self.waiting:
            return
        try:
            self._send_waiting(self.waiting)
        except BlockingIOError:
            return
        except OSError:
            self._owner.broken()
            return
        if self.waiting:
            return
        self._settle()
        self._owner.watch(False)
        if self._finish:
            self._say_end()
        elif self.follower is not None:
            self.follower.drained()

    def lags(self, now: float, *, grace_seconds: float, bytes_per_second: float) -> bool:
        """Whether the client has taken less than it must, for longer than it may; to be asked about once a second,
        while bytes wait.

        Args:
            now: trio's time.
            grace_seconds: how far it may be behind.
            bytes_per_second: what it must take; taking more is no credit for later.
        """
        taken, self._taken_bytes = self._taken_bytes, 0
        self.paid_until = min(now, self.paid_until + taken / bytes_per_second)
        return now - self.paid_until >= grace_seconds

    @property
    def crowded(self) -> bool:
        """So much waits, here or elsewhere, that what may be sent later is not put behind it."""
        return self._unsent.crowds(self.tab)

    def cut(self) -> None:
        """Close the connection and forget what waits for it (`Slow`)."""
        self._owner.broken()

    def finish(self) -> None:
        """Send what waits, then say that nothing follows (FIN); `write` is deaf from now on."""
        if not self._finish:
            self._finish = True
            if self.waiting is None:
                self._say_end()

    def abandon(self) -> None:
        """The connection is gone: forget what waits, wake who waits."""
        self._finish = True
        self._settle()

    def _keep(self, *pieces: bytes | memoryview) -> None:
        self.waiting = deque(pieces)
        self.took_at = self.paid_until = trio.current_time()
        self._taken_bytes = 0
        self.tab.add(sum(map(held_bytes, pieces)))
        self._unsent.began(self)
        if self.follower is not None:
            self.follower.blocked()
        self._owner.watch(True)

    def _append(self, waiting: deque[bytes | memoryview], data: bytes) -> None:
        waiting.append(data)
        self.tab.add(held_bytes(data))

    def _settle(self) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            self.tab.add(-sum(map(held_bytes, waiting)))
            self._unsent.ended(self)
        if self._cleared is not None:
            self._cleared.set()
            self._cleared = None

    def _send_waiting(self, waiting: deque[bytes | memoryview]) -> None:
        taken = self._socket.sendmsg(islice(waiting, _PIECES_A_CALL))
        self.took_at = trio.current_time()
        self._taken_bytes += taken
        while taken:
            first = waiting[0]
            if taken < len(first):
                waiting[0] = memoryview(first)[taken:]
                return
            taken -= len(first)
            waiting.popleft()
            self.tab.add(-held_bytes(first))

    def _say_end(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            # The peer was quicker; its end is noticed by whoever reads.
            self._owner.broken()
