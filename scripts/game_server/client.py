"""How the agent talks to Partyline: requests with its credentials, and the stream of its server."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeAlias, TypeVar
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

T = TypeVar("T")

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 20.0
"""How long a request may take, with all of its answer."""

SILENCE_SECONDS = 90.0
"""A stream on which nothing comes for so long is lost; Partyline pings every 30 s."""

MAX_FRAME_CHARACTERS = 16 << 20
"""Most characters of one frame; the largest one has the settings of all sources."""

MAX_PAUSE_SECONDS = 60.0
"""Longest pause that Partyline may ask for; a longer one counts as this."""

MAX_REASON_CHARACTERS = 300
"""Most characters of why a request was refused."""

UNAUTHENTICATED = 4401
"""The close code after a secret that is no longer accepted."""


class Rejected(Exception):
    """Partyline has refused a request, and would refuse it again.

    Args:
        status: the HTTP status, or the stream's close code.
        why: why, as the problem document says it: its code, and its message for people.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(f"{status} {why}")
        self.status = status


class Away(Exception):
    """There is no useful answer now; the same request may have one later.

    Args:
        why: the cause, for the person at the terminal.
        least_seconds: least pause before the next attempt.
    """

    def __init__(self, why: str, least_seconds: float = 0.0) -> None:
        super().__init__(why)
        self.least_seconds = least_seconds


HeaderText: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]+\Z")]
"""A text that a header can carry."""


class Credentials(msgspec.Struct, frozen=True):
    """The id and the secret by which a game server proves who it is."""

    server_id: HeaderText
    server_secret: HeaderText

    @property
    def headers(self) -> dict[str, str]:
        """The headers that every request and the stream carry."""
        return {"authorization": f"Bearer {self.server_secret}", "x-server-id": self.server_id}


def requests_to(url: str, seconds: float = ANSWER_SECONDS) -> httpx2.AsyncClient:
    """A client of Partyline, or of what stands beside it. It goes there directly, as the stream does, whatever proxies
    the environment names, and trusts the same authorities.

    Args:
        url: an address of http or https, without a slash at its end.
        seconds: how long the other side may say nothing.
    """
    return httpx2.AsyncClient(
        base_url=url, timeout=seconds, trust_env=False, verify=ssl.create_default_context()
    )


async def ask(
    http: httpx2.AsyncClient,
    method: str,
    path: str,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> bytes:
    """Make a request; returns the body of the answer, for `understood`.

    Args:
        body: sent as JSON; None for none.
        headers: further headers beside those of `http`.

    Raises:
        Rejected: Partyline refuses, and would do so again.
        Away: there is no answer, not all of it, or a refusal for the moment.
    """
    content, sent = None, dict(headers or {})
    if body is not None:
        content, sent["content-type"] = msgspec.json.encode(body), "application/json"
    try:
        # What reads from the network waits for each piece alone, and pieces can come without an end.
        with trio.fail_after(ANSWER_SECONDS):
            response = await http.request(method, path, content=content, headers=sent)
    except (httpx2.HTTPError, trio.TooSlowError) as error:
        raise Away(str(error) or type(error).__name__) from None
    if response.is_success:
        return response.content
    if response.status_code == 429 or response.status_code >= 500:
        raise Away(
            f"Partyline answers {response.status_code}",
            _asked_seconds(response.headers.get("retry-after", "")),
        )
    try:
        problem = understood(response.content, _Problem)
    except Away:
        raise Rejected(response.status_code, "no problem document") from None
    raise Rejected(response.status_code, f"{problem.code}, {problem.message}"[:MAX_REASON_CHARACTERS])


class _Problem(msgspec.Struct):
    code: str
    message: str = ""


def understood(content: bytes | str, type: type[T]) -> T:
    """Read JSON of Partyline.

    Args:
        content: what came.
        type: what it is expected to be; fields that the type does not name are passed over.

    Raises:
        Away: it is something else: something between here and Partyline has answered.
    """
    try:
        return msgspec.json.decode(content, type=type)
    except (ValueError, RecursionError):
        raise Away("what came is no answer of Partyline") from None


def _asked_seconds(text: str) -> float:
    """How many seconds Partyline asks the client to wait.

    Args:
        text: the value of Retry-After; empty where there is none.
    """
    return min(float(text), MAX_PAUSE_SECONDS) if text.isdecimal() and len(text) < 10 else 0.0


@asynccontextmanager
async def open_stream(url: str, path: str, credentials: Credentials) -> AsyncIterator[AsyncIterator[Any]]:
    """The frames of a server's stream, as JSON values, for the block.

    Raises:
        Rejected: the credentials are not accepted.
        Away: the stream could not be opened, or has ended.
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
        raise Away(str(error) or type(error).__name__) from None
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
    pieces: list[str] = []
    size = 0
    try:
        with trio.fail_after(CONNECT_SECONDS):  # for TLS as well, which begins here
            await transport.send_all(opening)
        while True:
            with trio.fail_after(SILENCE_SECONDS):
                data = await transport.receive_some()
            socket.receive_data(bytes(data) or None)
            for event in socket.events():
                if isinstance(event, TextMessage):
                    pieces.append(event.data)
                    size += len(event.data)
                    if size > MAX_FRAME_CHARACTERS:
                        raise Away("a frame is too long")
                    if event.message_finished:
                        yield understood("".join(pieces), Any)
                        pieces, size = [], 0
                elif isinstance(event, Ping):
                    await transport.send_all(socket.send(event.response()))
                elif not isinstance(event, AcceptConnection | BytesMessage):
                    _ended(event)
            if not data:
                raise Away("the connection was closed")
    except (trio.BrokenResourceError, trio.TooSlowError, wsproto.utilities.ProtocolError) as error:
        raise Away(str(error.__cause__ or error) or type(error).__name__) from None


def _ended(event: object) -> None:
    if isinstance(event, RejectConnection) and event.status_code < 500 and event.status_code != 429:
        raise Rejected(event.status_code, "the stream was refused")
    if isinstance(event, CloseConnection) and event.code == UNAUTHENTICATED:
        raise Rejected(int(event.code), event.reason or "")
    if isinstance(event, CloseConnection):
        raise Away(f"closed with {int(event.code)}")
    if isinstance(event, RejectConnection):
        asked = next((text for name, text in event.headers if name.lower() == b"retry-after"), b"")
        raise Away(f"Partyline answers {event.status_code}", _asked_seconds(asked.decode("latin-1")))
