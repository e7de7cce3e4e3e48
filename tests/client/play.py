"""What tests of the Python client share: a line to the service that can be cut, and servers whose answers a test
gives."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec
import trio
import wsproto
from wsproto.events import AcceptConnection, Ping, Request, TextMessage

from partyline.client import Event, Subscription
from tests.support.waiting import patience

CHUNK_BYTES = 65_536


class Line:
    """Connections to a server that pass through here.

    Args:
        url: the address at which clients reach the line.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_dead = False
        self.opened = 0
        self._scopes: set[trio.CancelScope] = set()
        self._passes = trio.Event()
        self._passes.set()

    def hold(self) -> None:
        """Pass nothing that clients send, until `let`."""
        self._passes = trio.Event()

    def let(self) -> None:
        """Let everything pass again."""
        self._passes.set()

    async def passed(self, data: bytes) -> bytes:
        """Return the data once they may pass."""
        await self._passes.wait()
        return data

    def cut(self) -> None:
        """End all connections, as a pulled cable does; new ones may be made."""
        for scope in list(self._scopes):
            scope.cancel()

    async def carry(self, port: int, client: trio.SocketStream) -> None:
        """Carry one connection, until either side or a cut ends it."""
        self.opened += 1
        with trio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                async with client:
                    if not self.is_dead:
                        await _join(client, port, self)
            finally:
                self._scopes.discard(scope)


async def _join(client: trio.SocketStream, port: int, line: Line) -> None:
    async with await trio.open_tcp_stream("127.0.0.1", port) as server, trio.open_nursery() as nursery:

        async def pump(source: trio.SocketStream, target: trio.SocketStream) -> None:
            try:
                while data := await source.receive_some(CHUNK_BYTES):
                    await target.send_all(await line.passed(data))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(pump, client, server)
        nursery.start_soon(pump, server, client)


@asynccontextmanager
async def line_to(url: str) -> AsyncIterator[Line]:
    """A line to a server on this machine."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    line = Line(f"http://127.0.0.1:{listener.socket.getsockname()[1]}")
    port = urlsplit(url).port or 80

    async def carry(client: trio.SocketStream) -> None:
        await line.carry(port, client)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, carry, [listener])
        yield line
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def saying(answer: Callable[[str], bytes | None]) -> AsyncIterator[str]:
    """A server that answers each request with what `answer` returns; None hangs up. Yields its address.

    Args:
        answer: called with the head of a request; returns the bytes of the response.
    """
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def serve(client: trio.SocketStream) -> None:
        async with client:
            head = b""
            while b"\r\n\r\n" not in head:
                data = await client.receive_some(CHUNK_BYTES)
                if not data:
                    return
                head += data
            said = answer(head.decode())
            if said is not None:
                await client.send_all(said)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def talking(answer: Callable[[Any], Any]) -> AsyncIterator[str]:
    """A live socket that answers each command with the frame that `answer` returns; None hangs up. Yields its address.

    Args:
        answer: called with each command, and with None for the greeting.
    """
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def serve(client: trio.SocketStream) -> None:
        socket = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        async with client:
            while data := await client.receive_some(CHUNK_BYTES):
                socket.receive_data(data)
                for event in socket.events():
                    if isinstance(event, Ping):
                        await client.send_all(socket.send(event.response()))
                        continue
                    if isinstance(event, Request):
                        await client.send_all(socket.send(AcceptConnection()))
                        said = answer(None)
                    else:
                        said = (
                            answer(msgspec.json.decode(event.data))
                            if isinstance(event, TextMessage)
                            else None
                        )
                    if said is None:
                        return
                    await client.send_all(socket.send(TextMessage(msgspec.json.encode(said).decode())))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


def http(status: int, body: object, *more: str) -> bytes:
    """A response, after which the connection ends."""
    data = body if isinstance(body, bytes) else msgspec.json.encode(body)
    fields = "".join(f"{one}\r\n" for one in (f"Content-Length: {len(data)}", "Connection: close", *more))
    return f"HTTP/1.1 {status} So\r\n{fields}\r\n".encode() + data


async def messages(shown: Subscription, count: int) -> list[Any]:
    """Read so many new messages; returns their texts."""
    found: list[Any] = []
    with patience():
        async for item in shown:
            if isinstance(item, Event) and item.event == "message_created":
                found.append(item.data["content"])
                if len(found) == count:
                    break
    return found


@asynccontextmanager
async def dripping(pieces: int) -> AsyncIterator[str]:
    """A server whose answers come by single bytes, one each ten seconds. Yields its address.

    Args:
        pieces: how many bytes an answer has.
    """
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def serve(client: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            async with client:
                await client.receive_some(CHUNK_BYTES)
                await client.send_all(f"HTTP/1.1 200 So\r\nContent-Length: {pieces}\r\n\r\n".encode())
                for _ in range(pieces):
                    await trio.sleep(10)
                    await client.send_all(b" ")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()
