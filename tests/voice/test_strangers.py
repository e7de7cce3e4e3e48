"""The node of scripts/voice lives through whoever connects to it: what one does is not felt by another."""

import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import jwt
import pytest
import trio
import wsproto
from wsproto.events import BytesMessage, Ping

from scripts.voice_node import sockets
from scripts.voice_node.node import Registration
from scripts.voice_node.relay import Relay, open_relay
from scripts.voice_node.sockets import MAX_FRAME_BYTES, Lost, Peer, connect
from tests.support.waiting import patience, wait_until

NODE = Registration("6b055f68e629654f6a39d25b", "a secret of at least thirty-two bytes")

OPENING = (
    "GET /?access_token={token} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)

STRANGERS = {
    "a browser": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    "an address that is none": OPENING.replace("/?", "//[?").format(token="x").encode(),
    "no token": OPENING.format(token="").encode(),
    "half a request": b"GET /",
    "nothing": b"",
}


def token(user: str) -> str:
    now_s = int(time.time())
    video = {"roomJoin": True, "room": "a room"}
    claims = {"iss": NODE.node_id, "sub": user, "nbf": now_s, "exp": now_s + 600, "video": video}
    return jwt.encode(claims, NODE.secret, algorithm="HS256")


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Relay, int]]:
    relay = await open_relay("127.0.0.1", 0, lambda _: None)
    async with trio.open_nursery() as nursery:
        await nursery.start(relay.carry, NODE)
        yield relay, int(relay.url.rpartition(":")[2])
        nursery.cancel_scope.cancel()


async def say_and_vanish(port: int, data: bytes, *, hears: bool) -> None:
    """Say something, and break the connection, once something was heard if that is wanted."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(data)
    if hears:
        await stream.receive_some(4096)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.socket.close()


async def two_talk(relay: Relay) -> None:
    async with connect(relay.url, token("ann")) as ann, connect(relay.url, token("ben")) as ben:
        await ann.send(BytesMessage(b"hello"))
        heard = await ben.next()
        assert isinstance(heard, BytesMessage)
        assert bytes(heard.data) == b"hello"


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("breaks", [False, True])
async def test_who_is_no_client_of_a_node_leaves_the_others_alone(stranger: str, breaks: bool):
    with patience():
        async with running() as (relay, port):
            if breaks:
                await say_and_vanish(port, STRANGERS[stranger], hears=False)
            else:
                async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                    await stream.send_all(STRANGERS[stranger])
                    await stream.send_eof()
                    while await stream.receive_some(4096):
                        pass
            await two_talk(relay)


async def test_who_vanishes_from_a_room_leaves_the_others_alone():
    async def nobody() -> bool:
        return not relay.rooms.report()

    with patience():
        async with running() as (relay, port):
            await say_and_vanish(port, OPENING.format(token=token("eve")).encode(), hears=True)
            await wait_until(nobody)
            await two_talk(relay)


async def test_who_pings_and_takes_nothing_leaves_the_others_alone():
    """Its answers to pings wait behind the frames that it does not take."""
    with patience():
        async with running() as (relay, port):
            slow = await trio.open_tcp_stream("127.0.0.1", port)
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            eve = Peer(slow, wsproto.ConnectionType.CLIENT)
            await eve.send(wsproto.events.Request(host="x", target=f"/?access_token={token('eve')}"))
            assert isinstance(await eve.next(), wsproto.events.AcceptConnection)
            async with connect(relay.url, token("ann")) as ann:
                for _ in range(200):  # more than the network holds, and than the node keeps
                    await ann.send(BytesMessage(bytes(MAX_FRAME_BYTES)))
                await eve.send(Ping(b"there?"))
                await two_talk(relay)
            await slow.aclose()


@pytest.mark.parametrize("scheme", ["ws", "wss"])
async def test_who_talks_waits_for_no_node_that_says_nothing(scheme: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sockets, "OPENING_SECONDS", 0.05)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    with patience():
        async with listener:
            with pytest.raises(Lost, match="does not answer"):
                async with connect(f"{scheme}://127.0.0.1:{listener.socket.getsockname()[1]}", "token"):
                    pass


@pytest.mark.parametrize("hangs_up", [False, True])
async def test_who_talks_is_told_that_it_is_no_node(hangs_up: bool):
    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some(4096)
            if not hangs_up:
                await stream.send_all(b"220 mail\r\n\r\n")

    with patience():
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
            with pytest.raises(Lost):
                async with connect(f"ws://127.0.0.1:{listener.socket.getsockname()[1]}", "token"):
                    pass
            nursery.cancel_scope.cancel()
