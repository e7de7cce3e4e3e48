"""A small WebSocket client on trio and wsproto, which can also do what no browser would."""

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import trio
import wsproto
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Ping,
    Pong,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)

from tests.support.waiting import PATIENCE_SECONDS, patience


class Refused(Exception):
    """The server answered the handshake with something else than 101."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(status, body)
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def problem(self) -> Any:
        """The problem document in the body of the answer."""
        return json.loads(self.body)


class Closed(Exception):
    """The socket is closed; the code is 1006 when there was no close frame."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Client:
    """One WebSocket.

    Attributes:
        stream: the connection below, for bytes that no client would send.
        subprotocol: the subprotocol that the server has selected.
        pings, pongs: how many of them came; pings are answered while something is received.
        answers_pings: whether pings are answered; a test sets it to False to play dead.

    Args:
        heard: called with each message that is received.
    """

    def __init__(
        self, stream: trio.abc.Stream, heard: Callable[[str | bytes], object] = lambda _message: None
    ) -> None:
        self.stream = stream
        self._heard = heard
        self.subprotocol: str | None = None
        self.headers: dict[str, str] = {}
        self.pings = 0
        self.pongs = 0
        self.answers_pings = True
        self._ws = wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        self._messages: deque[str | bytes | Closed] = deque()
        self._parts: list[str | bytes | bytearray] = []

    async def shake_hands(
        self, target: str, host: str, *, headers: Sequence[tuple[str, str]], subprotocols: Sequence[str]
    ) -> None:
        """Send the handshake and read its answer.

        Raises:
            Refused: the server said no.
        """
        request = Request(
            host=host,
            target=target,
            subprotocols=list(subprotocols),
            extra_headers=[(name.encode(), value.encode()) for name, value in headers],
        )
        await self.stream.send_all(self._ws.send(request))
        refusal: tuple[int, dict[str, str]] | None = None
        body = b""
        with patience():
            while True:
                data = await self.stream.receive_some(65536)
                self._ws.receive_data(bytes(data) or None)
                for event in self._ws.events():
                    if isinstance(event, AcceptConnection):
                        self.subprotocol = event.subprotocol
                        self.headers = {k.decode(): v.decode() for k, v in event.extra_headers}
                        # Frames that came in the same packet are left for `receive`.
                        await self._read_events()
                        return
                    if isinstance(event, RejectConnection):
                        refusal = (
                            event.status_code,
                            {name.decode().lower(): value.decode() for name, value in event.headers},
                        )
                        if not event.has_body:
                            raise Refused(*refusal, b"")
                    elif isinstance(event, RejectData):
                        body += event.data
                        if event.body_finished and refusal is not None:
                            raise Refused(*refusal, body)
                    elif isinstance(event, CloseConnection):
                        raise Closed(event.code)
                if not data:
                    raise Closed(1006)

    async def send_text(self, text: str) -> None:
        """Send a text message."""
        await self.stream.send_all(self._ws.send(TextMessage(data=text)))

    async def send_json(self, value: object) -> None:
        """Send a JSON text message."""
        await self.send_text(json.dumps(value))

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message, which our server does not take."""
        await self.stream.send_all(self._ws.send(BytesMessage(data=data)))

    async def ping(self) -> None:
        """Send a ping."""
        await self.stream.send_all(self._ws.send(Ping(payload=b"are you there")))

    async def receive(self, *, patience_seconds: float = PATIENCE_SECONDS) -> str | bytes:
        """Wait for the next message, and return it.

        Raises:
            Closed: the socket is closed. trio.TooSlowError: no message came within `patience_seconds`.
        """
        with trio.fail_after(patience_seconds):
            while not self._messages:
                await self._read()
        first = self._messages[0]
        if isinstance(first, Closed):
            raise first
        self._messages.popleft()
        self._heard(first)
        return first

    async def receive_text(self, *, patience_seconds: float = PATIENCE_SECONDS) -> str:
        """The next message, which must be text."""
        message = await self.receive(patience_seconds=patience_seconds)
        assert isinstance(message, str), message
        return message

    async def receive_json(self, *, patience_seconds: float = PATIENCE_SECONDS) -> Any:
        """The next message, which must be JSON."""
        return json.loads(await self.receive_text(patience_seconds=patience_seconds))

    async def receive_until(self, **fields: object) -> Any:
        """The next JSON object that has these fields; what comes before it is passed over."""
        while True:
            frame = await self.receive_json()
            if all(frame.get(name) == value for name, value in fields.items()):
                return frame

    async def wait_closed(self) -> Closed:
        """Read to the end, and tell how the server closed."""
        while True:
            try:
                await self.receive()
            except Closed as closed:
                return closed

    async def wait_pong(self, total: int = 1) -> None:
        """Read until so many pongs have come since the start."""
        with patience():
            while self.pongs < total:
                await self._read()

    async def close(self, code: int = 1000, reason: str = "") -> Closed:
        """Close, and wait for the server's answer."""
        await self.stream.send_all(self._ws.send(CloseConnection(code=code, reason=reason or None)))
        return await self.wait_closed()

    async def _read(self) -> None:
        if self._messages and isinstance(self._messages[-1], Closed):
            return
        try:
            data = await self.stream.receive_some(65536)
        except trio.BrokenResourceError:
            data = b""
        if not data:
            self._messages.append(Closed(1006))
            return
        self._ws.receive_data(bytes(data))
        await self._read_events()

    async def _read_events(self) -> None:
        for event in self._ws.events():
            if isinstance(event, TextMessage | BytesMessage):
                self._parts.append(event.data)
                if event.message_finished:
                    empty = type(event.data)()
                    self._messages.append(empty.join(self._parts))  # type: ignore[arg-type]
                    self._parts = []
            elif isinstance(event, Ping):
                self.pings += 1
                if self.answers_pings:
                    await self.stream.send_all(self._ws.send(event.response()))
            elif isinstance(event, Pong):
                self.pongs += 1
            elif isinstance(event, CloseConnection):
                self._messages.append(Closed(event.code, event.reason or ""))
                if self._ws.state is ConnectionState.REMOTE_CLOSING:
                    try:
                        await self.stream.send_all(self._ws.send(event.response()))
                    except trio.BrokenResourceError:
                        return


@asynccontextmanager
async def connect(
    url: str,
    *,
    token: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    subprotocols: Sequence[str] = (),
    heard: Callable[[str | bytes], object] = lambda _message: None,
    refused: Callable[[Refused], object] = lambda _refused: None,
) -> AsyncIterator[Client]:
    """Open a WebSocket for the block; afterwards the connection is cut if it is still open.

    Args:
        url: `http:` or `ws:`, with path and query.
        token: sent as bearer.
        headers, subprotocols: further headers, and the subprotocols, of the handshake.
        heard: called with each message that is received.
        refused: called when the server refuses the handshake. Raises:
        Refused: the server refuses the handshake.
    """
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    bearer = [("authorization", f"Bearer {token}")] if token else []
    stream = await trio.open_tcp_stream(parts.hostname or "127.0.0.1", parts.port or 80)
    client = Client(stream, heard)
    try:
        try:
            await client.shake_hands(
                target, parts.netloc, headers=[*bearer, *headers], subprotocols=subprotocols
            )
        except Refused as refusal:
            refused(refusal)
            raise
        yield client
    finally:
        await trio.aclose_forcefully(stream)
