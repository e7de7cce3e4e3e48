"""How the agent talks to Partyline: requests with its credentials, and the stream of its server."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
import trio
import wsproto
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 90.0
"""Partyline pings every 30 s; a stream on which nothing comes for so long is lost."""

UNAUTHENTICATED = 4401
"""The close code of a secret that counts no longer."""


class Rejected(Exception):
    """Partyline said no, and will say so again.

    Args:
        status: of HTTP, or the close code.
        code: why.
    """

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code


class Lost(Exception):
    """The stream has ended; another one may do."""


class Credentials(msgspec.Struct, frozen=True):
    """What a server proves itself with."""

    server_id: str
    server_secret: str

    @property
    def headers(self) -> dict[str, str]:
        """For every request and for the stream."""
        return {"authorization": f"Bearer {self.server_secret}", "x-server-id": self.server_id}


async def ask(http: httpx2.AsyncClient, method: str, path: str, body: object = None) -> Any:
    """The JSON of an answer.

    Raises:
        Rejected: any answer that is no success.
        httpx2.HTTPError: no answer came.
    """
    response = await http.request(method, path, json=body)
    if response.is_success:
        return response.json() if response.content else None
    try:
        code = str(response.json()["code"])
    except (ValueError, KeyError, TypeError):
        code = "no problem document"
    raise Rejected(response.status_code, code)


@asynccontextmanager
async def open_stream(url: str, path: str, credentials: Credentials) -> AsyncIterator[AsyncIterator[Any]]:
    """The frames of a server's stream, as JSON values, for the block.

    Raises:
        Rejected: the credentials count for nothing.
        Lost: the stream could not be opened, or has ended.
    """
    parts = urlsplit(url)
    host = parts.hostname or "127.0.0.1"
    secure = parts.scheme == "https"
    try:
        with trio.fail_after(CONNECT_SECONDS):
            transport: trio.abc.Stream = await trio.open_tcp_stream(
                host, parts.port or (443 if secure else 80)
            )
            if secure:
                transport = trio.SSLStream(
                    transport, ssl.create_default_context(), server_hostname=host, https_compatible=True
                )
    except (OSError, trio.TooSlowError) as error:
        raise Lost(str(error) or type(error).__name__) from None
    async with transport:
        socket = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        headers = [(name.encode(), text.encode()) for name, text in credentials.headers.items()]
        opening = Request(host=parts.netloc, target=parts.path + path, extra_headers=headers)
        frames = _frames(transport, socket, socket.send(opening))
        try:
            yield frames
        finally:
            await frames.aclose()


async def _frames(transport: trio.abc.Stream, socket: wsproto.WSConnection, opening: bytes) -> Any:
    text = ""
    try:
        await transport.send_all(opening)
        while True:
            with trio.fail_after(SILENCE_SECONDS):
                data = await transport.receive_some()
            socket.receive_data(bytes(data) or None)
            for event in socket.events():
                if isinstance(event, TextMessage):
                    text += event.data
                    if event.message_finished:
                        yield msgspec.json.decode(text)
                        text = ""
                elif isinstance(event, Ping):
                    await transport.send_all(socket.send(event.response()))
                elif not isinstance(event, AcceptConnection | BytesMessage):
                    _ended(event)
            if not data:
                raise Lost("the connection was closed")
    except (trio.BrokenResourceError, trio.TooSlowError, wsproto.utilities.ProtocolError) as error:
        raise Lost(type(error).__name__) from None


def _ended(event: object) -> None:
    if isinstance(event, RejectConnection) and event.status_code < 500 and event.status_code != 429:
        raise Rejected(event.status_code, "the stream was refused")
    if isinstance(event, CloseConnection) and event.code == UNAUTHENTICATED:
        raise Rejected(int(event.code), event.reason or "")
    if isinstance(event, CloseConnection | RejectConnection):
        raise Lost(type(event).__name__)
