"""Minecraft on this machine: a small server that answers its status and echoes whoever logs in; mcstatus as client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import trio
from mcstatus._net.address import Address
from mcstatus._protocol.io.connection import TCPSocketConnection
from mcstatus._protocol.java_client import JavaClient
from mcstatus.responses import JavaStatusResponse

from scripts.gateway_node.handshake import read_handshake
from scripts.gateway_node.pieces import Pieces, Short
from scripts.gateway_node.proxy_protocol import Header, read_header
from tests.gateway_node.bytes_of import varint
from tests.support.waiting import PATIENCE_SECONDS


class MinecraftServer:
    """A server.

    Args:
        motd: by which one knows it.
        proxied: whether it wants a header of the PROXY protocol, as Paper does with `proxy-protocol: true`.
        farewell: what it says, before it closes, to whoever logs in; None echoes instead, until they end.
    """

    def __init__(self, motd: str, *, proxied: bool = False, farewell: bytes | None = None) -> None:
        self.motd = motd
        self.proxied = proxied
        self.farewell = farewell
        self.port = 0
        self.connections = 0
        self.headers: list[tuple[bytes, Header]] = []

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; the port stays the same when it is started again."""
        listeners = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._connection, listeners)
            task_status.started()

    async def _connection(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        data = bytearray()
        try:
            async with stream:
                await self._speak(stream, data)
        except (trio.BrokenResourceError, EOFError):
            pass  # the client is gone

    async def _speak(self, stream: trio.SocketStream, data: bytearray) -> None:
        if self.proxied:
            while (header := read_header(data)) is None:
                await _more(stream, data)
            self.headers.append((bytes(data[: header.size]), header))
            del data[: header.size]
        while (opening := read_handshake(data)) is None:
            await _more(stream, data)
        if opening.kind == "status":
            await _packet(stream, data)
            await self._answer(stream, data)
            return
        if self.farewell is not None:
            await stream.send_all(self.farewell)
            return
        await stream.send_all(bytes(data))
        async for chunk in stream:
            await stream.send_all(chunk)
        await stream.send_all(b"bye")

    async def _answer(self, stream: trio.SocketStream, data: bytearray) -> None:
        await _packet(stream, data)
        status = {
            "version": {"name": "1.21.4", "protocol": 769},
            "players": {"max": 20, "online": 1},
            "description": {"text": self.motd},
        }
        text = msgspec.json.encode(status)
        await stream.send_all(_framed(b"\0" + varint(len(text)) + text))
        await stream.send_all(_framed(await _packet(stream, data)))


@asynccontextmanager
async def minecraft(motd: str = "A server", **more: object) -> AsyncIterator[MinecraftServer]:
    """A server for the block."""
    server = MinecraftServer(motd, **more)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        yield server
        nursery.cancel_scope.cancel()


async def status(host: str, port: int) -> str:
    """What mcstatus is told by whoever is behind a name on this machine: the server's message."""
    return (await trio.to_thread.run_sync(partial(_status, host, port))).motd.to_plain()


def _status(host: str, port: int) -> JavaStatusResponse:
    with TCPSocketConnection(Address("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        client = JavaClient(connection, address=Address(host, 25565), version=769)
        client.handshake()
        found = client.read_status()
        client.test_ping()
        return found


async def _more(stream: trio.SocketStream, data: bytearray) -> None:
    chunk = await stream.receive_some(4096)
    if not chunk:
        raise EOFError
    data += chunk


async def _packet(stream: trio.SocketStream, data: bytearray) -> bytes:
    """The next packet, taken from the front of what has come."""
    while True:
        pieces = Pieces(data)
        try:
            packet = pieces.take(pieces.varint(3))
        except Short:
            await _more(stream, data)
        else:
            del data[: pieces.at]
            return packet


def _framed(packet: bytes) -> bytes:
    return varint(len(packet)) + packet
