"""One task that watches every cleartext connection, so that an idle one costs neither a task nor a system call.

trio registers a socket anew for each wait and needs a sleeping task for it. Here a socket is registered once, in an
epoll instance of its own, which trio watches like one more file; the connections are notified by plain calls.

Invariants: connections are called from this one task only. Nothing here waits for a single socket. An exception in
one connection is reported and does not affect the others.
"""

import select
from collections.abc import Callable
from typing import Protocol, TypeAlias

import trio

from routes.edge.contained import contained

SocketAddress: TypeAlias = tuple[str, int]
"""Host and port of one end of a connection."""

BATCH = 50
"""Sockets served between two checkpoints, so that other tasks run, as in the fan-out (`actors/kernel/fanout.py`)."""

_READ = select.EPOLLIN | select.EPOLLRDHUP
_TROUBLE = select.EPOLLHUP | select.EPOLLERR


class Watched(Protocol):
    """The owner of a watched socket; neither call may block."""

    def readable(self) -> None:
        """There is something to read: bytes, the end, or an error that reading will raise."""
        ...

    def writable(self) -> None:
        """The socket takes more, or has an error that writing will raise."""
        ...


class Reactor:
    """The watched sockets.

    Args:
        report: called with the exceptions that a `Watched` raises.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._epoll = select.epoll()
        self._watched: dict[int, Watched] = {}

    def add(self, fd: int, watched: Watched) -> None:
        """Watch a socket for reading.

        Args:
            fd: the descriptor of a non-blocking socket that is not watched yet.
            watched: notified until `remove`.
        """
        self._watched[fd] = watched
        self._epoll.register(fd, _READ)

    def replace(self, fd: int, watched: Watched) -> None:
        """Notify another owner of a socket from now on, for what it is watched for already.

        Args:
            fd: the descriptor of a socket that was added.
            watched: notified until `remove`.
        """
        self._watched[fd] = watched

    def want(self, fd: int, *, read: bool, write: bool) -> None:
        """Change what a socket is watched for. With neither, not even its end is reported (epoll would do so for
        ever).

        Args:
            fd: the descriptor of a socket that was added.
            read, write: whether to watch for readability, and for room to write.
        """
        events = (_READ if read else 0) | (select.EPOLLOUT if write else 0)
        try:
            if events:
                self._epoll.modify(fd, events)
            else:
                self._epoll.unregister(fd)
        except FileNotFoundError:  # it was watched for neither
            if events:
                self._epoll.register(fd, events)

    def remove(self, fd: int) -> None:
        """Stop watching a socket; to be called before it is closed. Harmless when it is not watched."""
        if self._watched.pop(fd, None) is not None:
            self.want(fd, read=False, write=False)

    async def run(self) -> None:
        """Notify the owners of ready sockets, until cancelled. Cancellation ends all watching for good."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self._epoll.fileno())
                events = self._epoll.poll(0, BATCH)
                while events:
                    self._tell(events)
                    if len(events) < BATCH:
                        break
                    await trio.lowlevel.checkpoint()
                    events = self._epoll.poll(0, BATCH)
        finally:
            self._watched.clear()
            self._epoll.close()

    def _tell(self, events: list[tuple[int, int]]) -> None:
        walk = iter(events)
        while True:
            with contained(self._report):
                for fd, event in walk:
                    watched = self._watched.get(fd)
                    if watched is None:
                        continue  # removed since the poll, by another call of this batch
                    if event & ~select.EPOLLOUT:
                        watched.readable()
                    if event & (select.EPOLLOUT | _TROUBLE) and fd in self._watched:
                        watched.writable()
                return
