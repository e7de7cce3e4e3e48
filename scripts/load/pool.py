"""Kept-alive connections that many requests share, without a task for each: a request waits while all are busy."""

from collections import deque

from scripts.load.clients.event_loop import EventLoop, connect
from scripts.load.clients.http import Answered, Http


class Pool:
    """Connections with at most one request in flight each.

    Args:
        loop: serves them.
        address: the server's (IP address, port).
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int]) -> None:
        self._loop, self._address = loop, address
        self._idle: list[Http] = []
        self._waiting: deque[tuple[bytes, Answered]] = deque()

    @property
    def waiting(self) -> int:
        """How many requests no connection has taken yet."""
        return len(self._waiting)

    async def connect(self) -> Http:
        """Open one more connection, which takes the requests that wait.

        Raises:
            OSError: the server does not accept.
        """
        wire = Http(self._loop, await connect(self._address))
        self._free(wire)
        return wire

    def send(self, request: bytes, answered: Answered) -> None:
        """Send a request as soon as a connection is free; calls `answered(status, body)`, with status 0 when the
        connection was lost."""
        while self._idle:
            if not (wire := self._idle.pop()).closed:
                self._send(wire, request, answered)
                return
        self._waiting.append((request, answered))

    def _send(self, wire: Http, request: bytes, answered: Answered) -> None:
        def done(status: int, body: bytes) -> None:
            if not wire.closed:
                self._free(wire)
            answered(status, body)

        wire.send_request(request, done)

    def _free(self, wire: Http) -> None:
        if self._waiting:
            self._send(wire, *self._waiting.popleft())
        else:
            self._idle.append(wire)
