"""A raw TCP client: sends exactly the bytes that a test wants, reads exactly what comes."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from tests.support.server import address_of
from tests.support.waiting import patience

HANDSHAKE = (
    b"GET /live HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Raw:
    """One TCP connection."""

    def __init__(self, stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]) -> None:
        self.stream = stream
        self._buffer = b""

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def read_response(self, *, bodiless: bool = False) -> tuple[int, dict[str, str], bytes]:
        """One response with Content-Length or chunks: (status, headers, body); to HEAD it is `bodiless`."""
        with patience():
            while b"\r\n\r\n" not in self._buffer:
                await self._more()
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)
            }
            status = int(first.split(" ")[1])
            if bodiless:
                return status, headers, b""
            if headers.get("transfer-encoding") == "chunked":
                return status, headers, await self._chunks()
            length = 0 if status in {100, 101, 204, 304} else int(headers.get("content-length", 0))
            while len(self._buffer) < length:
                await self._more()
            body, self._buffer = self._buffer[:length], self._buffer[length:]
            return status, headers, body

    async def _chunks(self) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in self._buffer:
                await self._more()
            size, _, self._buffer = self._buffer.partition(b"\r\n")
            length = int(size, 16)
            while len(self._buffer) < length + 2:
                await self._more()
            body += self._buffer[:length]
            self._buffer = self._buffer[length + 2 :]
            if length == 0:
                return body

    async def read(self, length: int) -> bytes:
        """So many bytes."""
        with patience():
            while len(self._buffer) < length:
                await self._more()
        data, self._buffer = self._buffer[:length], self._buffer[length:]
        return data

    async def read_to_end(self) -> bytes:
        """Everything until the server ends; a reset counts as an end."""
        with patience():
            while True:
                try:
                    data = await self.stream.receive_some(65536)
                except trio.BrokenResourceError:
                    break
                if not data:
                    break
                self._buffer += data
        rest, self._buffer = self._buffer, b""
        return rest

    async def _more(self) -> None:
        data = await self.stream.receive_some(65536)
        if not data:
            raise EOFError(self._buffer)
        self._buffer += data


@asynccontextmanager
async def raw(base_url: str, trusting: ssl.SSLContext | None = None) -> AsyncIterator[Raw]:
    """Connect for the block, over TLS when `trusting` something; cut afterwards."""
    host, port = address_of(base_url)
    stream: trio.SocketStream | trio.SSLStream[trio.SocketStream]
    if trusting is None:
        stream = await trio.open_tcp_stream(host, port)
    else:
        stream = await trio.open_ssl_over_tcp_stream(host, port, ssl_context=trusting, https_compatible=True)
    try:
        yield Raw(stream)
    finally:
        await trio.aclose_forcefully(stream)


async def alive(base_url: str, trusting: ssl.SSLContext | None = None) -> bool:
    """A fresh connection is answered."""
    async with raw(base_url, trusting) as connection:
        await connection.send(b"GET /alive HTTP/1.1\r\nHost: t\r\n\r\n")
        status, _, _ = await connection.read_response()
        return status == 200
