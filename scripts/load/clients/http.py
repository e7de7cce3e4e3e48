"""HTTP/1.1 on one kept-alive connection: requests one after another, bodies with a Content-Length."""

import socket
from collections.abc import Callable

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop, Wire, connect

Answered = Callable[[int, bytes], None]
REQUEST_SECONDS = 30


class _Problem(msgspec.Struct):
    code: str = "?"


def code_of(body: bytes) -> str:
    """The code of a problem document; `?` where there is none."""
    try:
        return msgspec.json.decode(body, type=_Problem).code
    except msgspec.MsgspecError:
        return "?"


class RequestFailed(Exception):
    """The server refused a request that the load test cannot do without.

    Args:
        what: method and path.
        status: the HTTP status, 0 when the connection ended.
        body: the problem document.
    """

    def __init__(self, what: str, status: int, body: bytes) -> None:
        super().__init__(f"{what} was answered with {status}: {body[:300].decode(errors='replace')}")
        self.status = status
        self._body = body

    @property
    def code(self) -> str:
        """The problem's code; `?` where there is none."""
        return code_of(self._body)


class Http(Wire):
    """One connection. `send_request` has at most one request in flight at a time."""

    def __init__(self, loop: EventLoop, sock: socket.socket) -> None:
        self._buffer = b""
        self._answered: Answered | None = None
        super().__init__(loop, sock)

    def send_request(self, request: bytes, answered: Answered) -> None:
        """Send a whole request; `answered(status, body)` is called with the response, or with status 0."""
        self._answered = answered
        self.send(request)

    def heard(self, data: bytes) -> None:
        """Take bytes of a response; once it is whole, hand it over."""
        data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            self._buffer = data
            return
        head = data[:end].lower()
        at = head.find(b"\r\ncontent-length:")
        size = int(head[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(data) < end + 4 + size:
            self._buffer = data
            return
        self._buffer = data[end + 4 + size :]
        self._answer(int(head[9:12]), data[end + 4 : end + 4 + size])

    def lost(self, why: str) -> None:
        """Tell the caller who waits for a response that there is none."""
        self._answer(0, why.encode())

    def _answer(self, status: int, body: bytes) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            answered(status, body)


def request(
    method: str, target: str, *, host: str, token: str, body: object = None, server_id: str = ""
) -> bytes:
    """The bytes of one request; a body is sent as JSON.

    Args:
        token: a user's token, or a game server's secret.
        server_id: the game server that asks; "" for users.
    """
    data = b"" if body is None else msgspec.json.encode(body)
    kind = "Content-Type: application/json\r\n" if data else ""
    size = f"Content-Length: {len(data)}\r\n" if data or method != "GET" else ""
    server = f"X-Server-Id: {server_id}\r\n" if server_id else ""
    head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{server}{kind}{size}\r\n"
    return head.encode() + data


class Requests:
    """A few connections, shared by the tasks that prepare a run."""

    def __init__(self, loop: EventLoop, address: tuple[str, int], host: str, connections: int) -> None:
        self._loop, self._address, self._host = loop, address, host
        self._room = trio.CapacityLimiter(connections)
        self._idle: list[Http] = []

    async def send(
        self, method: str, target: str, token: str, body: object = None, *, server_id: str = ""
    ) -> bytes:
        """Send one request; returns the body of a 2xx.

        Args:
            token, server_id: as `request` takes them.

        Raises:
            RequestFailed: there was another answer, or none within 30 s. Cancellation closes the connection.
        """
        async with self._room:
            wire = self._free() or Http(self._loop, await connect(self._address))
            asked = request(method, target, host=self._host, token=token, body=body, server_id=server_id)
            done = trio.Event()
            answers: list[tuple[int, bytes]] = []

            def answered(status: int, data: bytes) -> None:
                answers.append((status, data))
                done.set()

            try:
                with trio.move_on_after(REQUEST_SECONDS):
                    wire.send_request(asked, answered)
                    await done.wait()
            finally:
                if answers and not wire.closed:
                    self._idle.append(wire)
                else:
                    wire.close("no answer")
            status, data = answers[0]
        if not 200 <= status < 300:
            raise RequestFailed(f"{method} {target}", status, data)
        return data

    def _free(self) -> Http | None:
        """An idle connection that the server has not closed meanwhile."""
        while self._idle:
            if not (wire := self._idle.pop()).closed:
                return wire
        return None

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()
