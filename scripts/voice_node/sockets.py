"""The WebSockets of the node: `/…?access_token=<token>`; bytes go to the others in the room."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from ssl import create_default_context
from urllib.parse import parse_qs, quote, urlsplit

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

from scripts.voice_node.rooms import Member, Refused, Rooms, read_token

WAITING_FRAMES = 100
"""Frames that wait for a slow client; further ones are dropped, as late audio is of no use."""

MAX_FRAME_BYTES = 65_536

OPENING_SECONDS = 10.0

GOING_AWAY = 1001


class Lost(Exception):
    """The other side has gone."""


class Peer:
    """One side of a WebSocket.

    Args:
        stream: below it.
        kind: which side.
    """

    def __init__(self, stream: trio.abc.Stream, kind: wsproto.ConnectionType) -> None:
        self._stream = stream
        self._ws = wsproto.WSConnection(kind)
        self._events: deque[wsproto.events.Event] = deque()
        self._one_by_one = trio.Lock()

    async def send(self, event: wsproto.events.Event) -> None:
        """Send one event, behind those that are on their way. A cancelled one may have been sent in part."""
        async with self._one_by_one:
            await self._stream.send_all(self._ws.send(event))

    async def next(self) -> wsproto.events.Event | None:
        """The next of what comes; None when the other side has gone. Pings are answered.

        Cancellation loses nothing.
        """
        while True:
            while self._events:
                event = self._events.popleft()
                if not isinstance(event, Ping):
                    return event
                await self.send(event.response())
            data = await self._stream.receive_some(MAX_FRAME_BYTES)
            if not data:
                return None
            self._ws.receive_data(bytes(data))
            self._events.extend(self._ws.events())


async def serve(
    stream: trio.abc.Stream, rooms: Rooms, key: str, secret: str, say: Callable[[str], None]
) -> None:
    """Serve one client of the node until it goes, or has to. No fault of one is felt by another.

    Args:
        key, secret: that tokens are signed with.
        say: tells the person at the terminal.
    """
    try:
        await _serve(Peer(stream, wsproto.ConnectionType.SERVER), rooms, key, secret)
    except* (trio.BrokenResourceError, trio.ClosedResourceError, wsproto.utilities.ProtocolError):
        pass  # it has gone, or is no client of a node
    except* Exception as fault:  # what strangers send must not end what others say
        say(f"a mistake of ours: {fault.exceptions[0]!r}")


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
    except ValueError:  # an address that is none
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
        url: of the node, `ws`, as Partyline has said it.

    Raises:
        Refused: the node takes no such token.
        Lost: it has gone.
    """
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "wss"
    stream: trio.abc.Stream = await trio.open_tcp_stream(host, parts.port or (443 if secure else 80))
    if secure:
        stream = trio.SSLStream(stream, create_default_context(), server_hostname=host, https_compatible=True)
    try:
        async with stream:
            peer = Peer(stream, wsproto.ConnectionType.CLIENT)
            await peer.send(
                Request(host=parts.netloc, target=f"{parts.path or '/'}?access_token={quote(token)}")
            )
            answer = await peer.next()
            if answer is None:
                raise Lost("the node has gone")
            if not isinstance(answer, AcceptConnection):
                raise Refused("the node takes no such token")
            yield peer
    except* (trio.BrokenResourceError, wsproto.utilities.ProtocolError) as group:
        raise Lost(str(group.exceptions[0].__cause__ or group.exceptions[0])) from None
