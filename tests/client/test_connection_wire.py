"""Wire: one connection of the Python client, where the network takes nothing or brings what is no frame."""

import base64
import hashlib
import re
import socket
import struct
import time
from contextlib import suppress
from typing import Any

import pytest
import trio
import trio.testing

from partyline.client import Partyline, Problem, Snapshot, Unreachable, backoff, connection
from tests.client.play import Line, line_to, saying, talking
from tests.support.waiting import patience, wait_until
from tests.support.world import Room, World

LONG = "x" * 60_000


async def fill(nursery: trio.Nursery, client: Partyline, room: Room, line: Line) -> None:
    """Say more than fits into a line that takes nothing, and fewer commands than a flood."""

    async def say() -> None:
        with suppress(Unreachable):  # the client was closed
            await client.live.send(room.channel, {"content": LONG})

    line.hold()
    for _ in range(100):
        nursery.start_soon(say)
    await trio.testing.wait_all_tasks_blocked()


async def test_who_gives_up_saying_something_does_not_break_the_connection(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        line_to(world.url) as line,
        Partyline(line.url, token=ann.token) as client,
        client.live.subscribe(room.channel, mode="delta") as shown,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)
            async with trio.open_nursery() as nursery:
                await fill(nursery, client, room, line)
                nursery.cancel_scope.cancel()
            line.let()
            await client.live.read(room.channel, (await ann.say(room))["id"])
    assert line.opened == 1


async def test_a_connection_that_takes_nothing_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "KEEPALIVE_SECONDS", 1.0)
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        line_to(world.url) as line,
        Partyline(line.url, token=ann.token) as client,
        client.live.subscribe(room.channel) as shown,
        trio.open_nursery() as nursery,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)
        opened = line.opened
        await fill(nursery, client, room, line)

        async def is_opened_anew() -> bool:
            return line.opened > opened

        await wait_until(is_opened_anew)
        nursery.cancel_scope.cancel()


async def test_a_client_ends_where_the_network_takes_nothing(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with line_to(world.url) as line, trio.open_nursery() as nursery:
        with patience():
            async with (
                Partyline(line.url, token=ann.token) as client,
                client.live.subscribe(room.channel, mode="delta") as shown,
            ):
                assert isinstance(await anext(shown), Snapshot)
                await fill(nursery, client, room, line)
            nursery.cancel_scope.cancel()


def accept(head: str) -> bytes:
    """The answer that makes a socket of a request."""
    key = re.search(r"sec-websocket-key: (.*)\r\n", head, re.IGNORECASE)
    assert key is not None
    made = hashlib.sha1(f"{key[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
    fields = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {base64.b64encode(made).decode()}",
    )
    return "\r\n".join(("HTTP/1.1 101 So", *fields, "", "")).encode()


async def test_what_is_no_frame_ends_the_connection_and_not_the_client():
    tries = 0

    def answer(head: str) -> bytes | None:
        nonlocal tries
        tries += 1
        return accept(head) + b"<html>a proxy</html>" if tries == 1 else b"HTTP/1.1 403 So\r\n\r\n"

    async with (
        saying(answer) as url,
        Partyline(url, token="t") as client,
        client.live.subscribe("inbox") as shown,
    ):
        with patience(), pytest.raises(Problem) as caught:
            await anext(shown)
    assert (caught.value.status, tries) == (403, 2)


async def test_a_ping_that_finds_the_connection_gone_does_not_end_the_client(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "KEEPALIVE_SECONDS", 0.01)
    monkeypatch.setattr(backoff, "FIRST_SECONDS", 0.0)
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    tries = 0

    async def serve(client: trio.SocketStream) -> None:
        nonlocal tries
        tries += 1
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += await client.receive_some(1000)
        if tries > 12:
            await client.send_all(b"HTTP/1.1 403 So\r\n\r\n")
            return
        await client.send_all(accept(head.decode()))
        await trio.testing.wait_all_tasks_blocked()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
        time.sleep(0.02)  # noqa: ASYNC251 - a computer that was asleep has both to do at once

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        async with Partyline(url, token="t") as client, client.live.subscribe("inbox") as shown:
            with patience(), pytest.raises(Problem) as caught:
                await anext(shown)
        nursery.cancel_scope.cancel()
    assert caught.value.status == 403


HELLO = {"type": "hello", "serverTimeMs": 0}


@pytest.mark.parametrize("refused", [None, {"code": "OVERLOADED"}], ids=["hung up", "refused for a moment"])
async def test_who_is_turned_away_comes_back_ever_later(
    refused: dict[str, str] | None, autojump_clock: trio.testing.MockClock
):
    asked = 0

    def answer(command: Any) -> Any:
        nonlocal asked
        if command is None:
            return HELLO
        asked += 1
        return refused and {"type": "reply", "id": command["id"], "ok": False, "error": refused}

    async with talking(answer) as url, Partyline(url, token="t") as client, client.live.subscribe("inbox"):
        await trio.sleep(120)
    assert 10 < asked < 30


async def test_who_is_hung_up_on_once_a_channel_is_shown_comes_back_ever_later(
    autojump_clock: trio.testing.MockClock,
):
    """As the client for browsers does: an answer does not say that the service is back for good."""
    opened = 0

    def answer(command: Any) -> Any:
        nonlocal opened
        if command is None:
            opened += 1
            return HELLO
        shown = command["channel"] == "inbox"
        return {"type": "reply", "id": command["id"], "ok": True, "recovered": False} if shown else None

    async with (
        talking(answer) as url,
        Partyline(url, token="t") as client,
        client.live.subscribe("inbox"),
        client.live.subscribe("friends"),
    ):
        await trio.sleep(120)
    assert 10 < opened < 30


async def test_after_a_connection_has_stood_the_next_comes_soon(autojump_clock: trio.testing.MockClock):
    def answer(command: Any) -> Any:
        if command is None:
            return HELLO
        return {"type": "reply", "id": command["id"], "ok": True} if command["op"] == "subscribe" else None

    async with talking(answer) as url, Partyline(url, token="t") as client, client.live.subscribe("inbox"):
        for _ in range(8):
            await trio.sleep(backoff.STEADY_SECONDS + 1)
            assert client.live.state == "live"
            await client.live.typing("conversation:of-nobody")
            await trio.sleep(0.6)
            assert client.live.state == "live"
