"""The one way out of a cleartext connection: synchronous and ordered.

Every byte, of responses, of pongs, of close frames and of what actors publish, goes through `Writer`, so that nothing
can interleave and no lock is needed. Invariants: while `waiting` is not None, bytes only go behind it, the connection
watches for the socket to take more, and calls `flush` then; `send` is called nowhere else while bytes wait.
"""

import socket
from collections import deque
from itertools import islice
from typing import Protocol

import trio

_PIECES_A_CALL = 64
"""Buffers given to one `sendmsg`; the kernel's own limit is 1,024."""


class Follower(Protocol):
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

    Attributes:
        send: the socket's own `send`, for the one line that must not cost a call more.
        waiting: what the socket has not taken yet, or None.
        took_at: when the socket last took something, or began not to; meaningful while bytes wait.
        follower: told of both changes too, when there is one.
    """

    __slots__ = ("_cleared", "_finish", "_owner", "_socket", "follower", "send", "took_at", "waiting")

    def __init__(self, sock: socket.socket, owner: Owner) -> None:
        self._socket = sock
        self._owner = owner
        self._cleared: trio.Event | None = None
        self._finish = False
        self.send = sock.send
        self.waiting: deque[bytes | memoryview] | None = None
        self.took_at = 0.0
        self.follower: Follower | None = None

    def hand_on(self, owner: Owner) -> None:
        """Somebody else looks after the connection from now on."""
        self._owner = owner

    def write(self, data: bytes) -> None:
        """Send, or put behind what waits. After `finish` or a failure it is dropped."""
        if self._finish:
            return
        if self.waiting is not None:
            self.waiting.append(data)
            return
        try:
            taken = self.send(data)
        except OSError as error:
            taken = self.failed(error, len(data))
        if taken != len(data):
            self.keep(data, taken)

    def failed(self, error: OSError, length: int) -> int:
        """How many of `length` bytes are done with after `send` raised: none when it only would block."""
        if isinstance(error, BlockingIOError):
            return 0
        self._owner.broken()
        return length

    def keep(self, data: bytes, taken: int) -> None:
        """The socket took only `taken` bytes; keep the rest, to be flushed when it takes more."""
        self.waiting = deque((memoryview(data)[taken:],))
        self.took_at = trio.current_time()
        if self.follower is not None:
            self.follower.blocked()
        self._owner.watch(True)

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

    def _settle(self) -> None:
        self.waiting = None
        if self._cleared is not None:
            self._cleared.set()
            self._cleared = None

    def _send_waiting(self, waiting: deque[bytes | memoryview]) -> None:
        taken = self._socket.sendmsg(islice(waiting, _PIECES_A_CALL))
        self.took_at = trio.current_time()
        while taken:
            first = waiting[0]
            if taken < len(first):
                waiting[0] = memoryview(first)[taken:]
                return
            taken -= len(first)
            waiting.popleft()

    def _say_end(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            # The peer was quicker; its end is noticed by whoever reads.
            self._owner.broken()
