"""The WebSockets of the node, `/…?access_token=<token>`; binary frames go to the others in the room."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from ssl import create_default_context
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

import trio
import wsproto
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Ping,
    RejectConnection,
    Request,
)

from scripts.game_server.terminal import first
from scripts.voice_node.rooms import Member, Refused, Rooms, read_token

WAITING_FRAMES = 100
"""Most frames that wait for a slow client; further ones are dropped, as late audio is of no use."""

MAX_FRAME_BYTES = 65_536

OPENING_SECONDS = 10.0

GOING_AWAY = 1001


class Lost(Exception):
    """The other side has gone, or speaks no WebSocket."""


@contextmanager
def _losing() -> Iterator[None]:
    """Raise `Lost` for every way in which a connection can fail."""
    try:
        yield
    except (trio.BrokenResourceError, trio.ClosedResourceError, wsproto.utilities.ProtocolError) as fault:
        raise Lost(str(fault.__cause__ or fault)) from None


class Peer:
    """One side of a WebSocket.

    Args:
        stream: the byte stream below.
        kind: which of the two sides this is.
    """

    def __init__(self, stream: trio.abc.Stream, kind: wsproto.ConnectionType) -> None:
        self._stream = stream
        self._ws = wsproto.WSConnection(kind)
        self._events: deque[wsproto.events.Event] = deque()
        self._one_by_one = trio.Lock()

    async def send(self, event: wsproto.events.Event) -> None:
        """Send one event, behind those that are being sent. Cancelled, it may have been sent in part.

        Raises:
            Lost: the connection has failed.
        """
        with _losing():
            async with self._one_by_one:
                await self._stream.send_all(self._ws.send(event))

    async def next(self) -> wsproto.events.Event | None:
        """The next event that comes; None when the other side has gone. Pings are answered on the way.

        Cancellation loses nothing.

        Raises:
            Lost: the connection was broken, or what came is no WebSocket.
        """
        while True:
            while self._events:
                event = self._events.popleft()
                if not isinstance(event, Ping):
                    return event
                await self.send(event.response())
            with _losing():
                data = await self._stream.receive_some(MAX_FRAME_BYTES)
                if not data:
                    return None
                self._ws.receive_data(bytes(data))
                self._events.extend(self._ws.events())


async def serve(
    stream: trio.abc.Stream, rooms: Rooms, key: str, secret: str, say: Callable[[str], None]
) -> None:
    """Serve one client of the node until it goes or is disconnected. A fault of one client does not touch others.

    Args:
        stream: the connection of the client.
        rooms: the rooms of the node.
        key, secret: the id and secret of the key that tokens are signed with.
        say: tells the person at the terminal.
    """
    try:
        await _serve(Peer(stream, wsproto.ConnectionType.SERVER), rooms, key, secret)
    except* Lost:
        pass
    except* Exception as fault:  # what strangers send must not end the connections of others
        say(f"a mistake of ours: {first(fault)!r}")


async def _serve(peer: Peer, rooms: Rooms, key: str, secret: str) -> None:
    send, receive = trio.open_memory_channel[bytes](WAITING_FRAMES)
    with trio.CancelScope() as scope:
        request = None
        with trio.move_on_after(OPENING_SECONDS):
            request = await peer.next()
        if not isinstance(request, Request):
            return
        try:
            member = Member(
                read_token(_token_of(request.target), key, secret), partial(_offer, send), scope.cancel
            )
            rooms.join(member)
        except Refused:
            await peer.send(RejectConnection(status_code=401))
            return
        try:
            await peer.send(AcceptConnection())
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_pump, receive, peer)
                await _listen(peer, rooms, member)
                nursery.cancel_scope.cancel()
        finally:
            rooms.leave(member)
    with trio.move_on_after(1):
        await peer.send(CloseConnection(GOING_AWAY))


def _token_of(target: str) -> str:
    """The token in the query of a request."""
    try:
        return parse_qs(urlsplit(target).query).get("access_token", [""])[0]
    except ValueError:  # the target is no address
        raise Refused("no token") from None


async def _listen(peer: Peer, rooms: Rooms, member: Member) -> None:
    while (event := await peer.next()) is not None and not isinstance(event, CloseConnection):
        if isinstance(event, BytesMessage):
            rooms.relay(member, bytes(event.data))


async def _pump(frames: trio.MemoryReceiveChannel[bytes], peer: Peer) -> None:
    async for frame in frames:
        await peer.send(BytesMessage(frame))


def _offer(send: trio.MemorySendChannel[bytes], frame: bytes) -> None:
    try:
        send.send_nowait(frame)
    except trio.WouldBlock:
        return


@asynccontextmanager
async def connect(url: str, token: str) -> AsyncIterator[Peer]:
    """Join a room as a client.

    Args:
        url: the node's address, `ws` or `wss`, as Partyline gives it.

    Raises:
        Refused: the node does not take the token.
        Lost: the node has gone, or does not answer.
        OSError: the node cannot be reached.
    """
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "wss"
    stream: trio.abc.Stream = await trio.open_tcp_stream(host, parts.port or (443 if secure else 80))
    if secure:
        stream = trio.SSLStream(stream, create_default_context(), server_hostname=host, https_compatible=True)
    async with stream:
        peer = Peer(stream, wsproto.ConnectionType.CLIENT)
        await _join(peer, parts, token)
        yield peer


async def _join(peer: Peer, url: SplitResult, token: str) -> None:
    with trio.move_on_after(OPENING_SECONDS):
        await peer.send(Request(host=url.netloc, target=f"{url.path or '/'}?access_token={quote(token)}"))
        answer = await peer.next()
        if answer is None:
            raise Lost("the node has gone")
        if not isinstance(answer, AcceptConnection):
            raise Refused("the node takes no such token")
        return
    raise Lost("the node does not answer")
