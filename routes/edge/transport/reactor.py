"""One task that watches every cleartext connection, so that an idle one costs neither a task nor a system call.

trio arms a socket anew for each wait and needs a parked task for it. Here a socket is armed once, in an epoll of our
own, which trio watches as one more file; whoever is watched hears of its socket by a plain call.

Invariants: what is watched is called from this one task only. Nothing here waits for a socket. A fault in one
connection is reported and takes nobody else along.
"""

import select
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeAlias

import trio

from routes.edge.errors import contained

SocketAddress: TypeAlias = tuple[str, int]
"""Host and port of one end of a connection."""

BATCH = 50
"""Sockets served between two checkpoints, for the same reason as in the fan-out (`actors/kernel/fanout.py`)."""

_READ = select.EPOLLIN | select.EPOLLRDHUP
_TROUBLE = select.EPOLLHUP | select.EPOLLERR


class Watched(Protocol):
    """Who is told about a socket; neither call may wait."""

    def readable(self) -> None:
        """There is something to read, or the end, or an error that reading will tell."""
        ...

    def writable(self) -> None:
        """The socket takes more, or an error that writing will tell."""
        ...


class Reactor:
    """The sockets that are watched.

    Args:
        report: told of a fault in `Watched`.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._epoll = select.epoll()
        self._watched: dict[int, Watched] = {}

    def add(self, fd: int, watched: Watched) -> None:
        """Watch a socket for reading.

        Args:
            fd: of a non-blocking socket that is not watched yet.
            watched: told about it until `remove`.
        """
        self._watched[fd] = watched
        self._epoll.register(fd, _READ)

    def want(self, fd: int, *, read: bool, write: bool) -> None:
        """Watch for something else; with neither, not even its end is told (epoll would tell that for ever).

        Args:
            fd: of a socket that was added.
            read, write: what to watch for.
        """
        with suppress(FileNotFoundError):  # it was not wanted for anything
            self._epoll.unregister(fd)
        if read or write:
            self._epoll.register(fd, (_READ if read else 0) | (select.EPOLLOUT if write else 0))

    def remove(self, fd: int) -> None:
        """Watch it no longer; before the socket is closed. Harmless when it is not watched."""
        if self._watched.pop(fd, None) is not None:
            self.want(fd, read=False, write=False)

    async def run(self) -> None:
        """Tell who is watched, again and again; ends by cancellation only, and watches nothing after that."""
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
                        continue  # gone since the poll, by something that happened in this batch
                    if event & ~select.EPOLLOUT:
                        watched.readable()
                    if event & (select.EPOLLOUT | _TROUBLE) and fd in self._watched:
                        watched.writable()
                return
