"""The one way out of a cleartext connection: synchronous and ordered.

Every byte, of the 101 response, of pongs, of close frames and of what actors publish, goes through `Writer`,
so that nothing can interleave and no lock is needed. Invariants: while `waiting` is not None, bytes only go
behind it; one flush task exists exactly then; `send` is called nowhere else while bytes wait.
"""

import socket
from collections import deque
from collections.abc import Awaitable, Callable
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


class Writer:
    """All writes of one connection.

    Args:
        sock: non-blocking; stays the property of the connection.
        spawn: starts the flush task in the connection's nursery.
        broken: called once, synchronously, when the socket fails; closes the connection.

    Attributes:
        send: the socket's own `send`, for the one line that must not cost a call more.
        waiting: what the socket has not taken yet, or None.
        took_at: when the socket last took something, or began not to; meaningful while bytes wait.
    """

    __slots__ = (
        "_broken",
        "_cleared",
        "_finish",
        "_socket",
        "_spawn",
        "follower",
        "send",
        "took_at",
        "waiting",
    )

    def __init__(
        self,
        sock: socket.socket,
        *,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        broken: Callable[[], None],
    ) -> None:
        self._socket = sock
        self._spawn = spawn
        self._broken = broken
        self._cleared: trio.Event | None = None
        self._finish = False
        self.send = sock.send
        self.waiting: deque[bytes | memoryview] | None = None
        self.took_at = 0.0
        self.follower: Follower | None = None

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
        self._broken()
        return length

    def keep(self, data: bytes, taken: int) -> None:
        """The socket took only `taken` bytes; keep the rest, and flush when it takes more."""
        self.waiting = deque((memoryview(data)[taken:],))
        self.took_at = trio.current_time()
        if self.follower is not None:
            self.follower.blocked()
        self._spawn(self._flush)

    async def wait_clear(self) -> None:
        """Wait until nothing waits, or the connection is gone. Cancellation changes nothing."""
        while self.waiting is not None:
            if self._cleared is None:
                self._cleared = trio.Event()
            await self._cleared.wait()

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

    async def _flush(self) -> None:
        try:
            while self.waiting:
                await trio.lowlevel.wait_writable(self._socket)
                self._send_waiting(self.waiting)
        except trio.ClosedResourceError:
            return
        except OSError:
            self._broken()
            return
        if self.waiting is None:
            return
        self._settle()
        if self._finish:
            self._say_end()
        elif self.follower is not None:
            self.follower.drained()

    def _send_waiting(self, waiting: deque[bytes | memoryview]) -> None:
        try:
            taken = self._socket.sendmsg(islice(waiting, _PIECES_A_CALL))
        except BlockingIOError:
            return
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
            self._broken()
