"""A small HTTP/1.1 server over sockets, which can also break off, stay silent, or never stop."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import h11
import trio

MAX_BODY_BYTES = 1024 * 1024
_RECEIVE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request.

    Args:
        headers: {lower-case name: value}.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def form(self) -> dict[str, str]:
        """The body as form fields; raises ValueError when it is no form."""
        return dict(
            parse_qsl(self.body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(self.body))
        )

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one where there is none. Raises ValueError when it is something else."""
        value = json.loads(self.body or b"{}")
        if not isinstance(value, dict):
            raise ValueError("not a JSON object")  # noqa: TRY004 (as with text that is no JSON)
        return value


class Manner(Enum):
    """How an answer is sent."""

    WHOLE = "whole"
    NEVER = "never"
    """The connection stays open, and nothing is sent."""
    DROPPED = "dropped"
    """The connection is closed without an answer."""
    CUT = "cut"
    """The connection is closed in the middle of the body."""
    ENDLESS = "endless"
    """The body has no end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Args:
        kind: the content type.
        headers: further (name, value) beside content type and length.
        manner: how the answer is sent.
    """

    status: int
    body: bytes = b""
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    manner: Manner = Manner.WHOLE


Handler: TypeAlias = Callable[[Request], Awaitable[Reply]]


def as_json(status: int, value: object) -> Reply:
    """A JSON answer."""
    return Reply(status, json.dumps(value).encode())


@dataclass
class HttpServer:
    """Answers requests on a port of the loopback.

    Args:
        handler: makes the answers.
        port: 0 to let the system choose; then, once it serves, the port that was chosen.
        host: the address that it listens at.
    """

    handler: Handler
    port: int = 0
    host: str = "127.0.0.1"

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; started once the port is known."""
        listeners = await trio.open_tcp_listeners(self.port, host=self.host)
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._connection, listeners)
            task_status.started()

    async def _connection(self, stream: trio.SocketStream) -> None:
        protocol = h11.Connection(h11.SERVER)
        try:
            while (request := await _receive(protocol, stream)) is not None:
                await _send(protocol, stream, await self.handler(request))
                if protocol.our_state is not h11.DONE or protocol.their_state is not h11.DONE:
                    return
                protocol.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
            pass  # the client has gone, or does not speak HTTP
        finally:
            await trio.aclose_forcefully(stream)


async def _receive(protocol: h11.Connection, stream: trio.SocketStream) -> Request | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = protocol.next_event()
        match event:
            case h11.Request():
                head = event
            case h11.Data():
                body += event.data
                if len(body) > MAX_BODY_BYTES:
                    return None
            case h11.EndOfMessage() if head is not None:
                return _request(head, bytes(body))
            case h11.NEED_DATA:
                protocol.receive_data(await stream.receive_some(_RECEIVE_BYTES))
            case _:
                return None


def _request(head: h11.Request, body: bytes) -> Request:
    target = urlsplit(head.target.decode("ascii"))
    headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
    return Request(head.method.decode("ascii"), target.path, dict(parse_qsl(target.query)), headers, body)


async def _send(protocol: h11.Connection, stream: trio.SocketStream, reply: Reply) -> None:
    if reply.manner is Manner.NEVER:
        while await stream.receive_some(_RECEIVE_BYTES):
            pass
        return
    if reply.manner is Manner.DROPPED:
        return
    endless = reply.manner is Manner.ENDLESS
    length = ("Transfer-Encoding", "chunked") if endless else ("Content-Length", str(len(reply.body)))
    headers = [("Content-Type", reply.kind), length, *reply.headers]
    head = h11.Response(status_code=reply.status, headers=headers)
    await _write(protocol, stream, head)
    if reply.manner is Manner.CUT:
        await _write(protocol, stream, h11.Data(data=reply.body[: len(reply.body) // 2]))
        return
    while endless:
        await _write(protocol, stream, h11.Data(data=b" " * _RECEIVE_BYTES))
    await _write(protocol, stream, h11.Data(data=reply.body))
    await _write(protocol, stream, h11.EndOfMessage())


async def _write(protocol: h11.Connection, stream: trio.SocketStream, event: h11.Event) -> None:
    data = protocol.send(event)
    if data:
        await stream.send_all(data)
