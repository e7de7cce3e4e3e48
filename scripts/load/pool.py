"""Kept-alive connections that many requests share, without a task for each: what is sent when all are busy waits."""

from collections import deque

from scripts.load.clients.event_loop import EventLoop, connect
from scripts.load.clients.http import Answered, Http


class Pool:
    """Connections with at most one request in flight each.

    Args:
        loop: serves them.
        address: of the server.
    """

    def __init__(self, loop: EventLoop, address: tuple[str, int]) -> None:
        self._loop, self._address = loop, address
        self._idle: list[Http] = []
        self._waiting: deque[tuple[bytes, Answered]] = deque()

    @property
    def waiting(self) -> int:
        """Requests that no connection has taken yet."""
        return len(self._waiting)

    async def open(self, connections: int) -> None:
        """Connect so many.

        Raises:
            OSError: the server does not accept.
        """
        for _ in range(connections):
            self._idle.append(Http(self._loop, await connect(self._address)))

    def send(self, request: bytes, answered: Answered) -> None:
        """Send a request as soon as a connection is free; `answered(status, body)`, status 0 when it was lost."""
        if self._idle:
            self._send(self._idle.pop(), request, answered)
        else:
            self._waiting.append((request, answered))

    def _send(self, wire: Http, request: bytes, answered: Answered) -> None:
        def done(status: int, body: bytes) -> None:
            if not wire.closed:
                if self._waiting:
                    self._send(wire, *self._waiting.popleft())
                else:
                    self._idle.append(wire)
            answered(status, body)

        wire.send_request(request, done)
