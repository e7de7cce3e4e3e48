"""What arrives from clients is bounded in bytes: bodies, requests ahead of their turn, messages in an inbox."""

from functools import partial

import pytest
import trio
import trio.testing

from routes.edge.pipeline.large_bodies import AT_ONCE
from routes.edge.server.parser import RequestParser
from routes.edge.server.quart_app import EdgeApp
from routes.edge.tabs import Tabs
from routes.edge.websocket.inbox import INBOX_MAX_BYTES
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application
from tests.edge.asgi import request
from tests.edge.held import Held
from tests.edge.parts import Parts
from tests.edge.sample import serving
from tests.support.server import running
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.websocket import connect

BODY = b'{"name":"x","sizeBytes":1}' + b" " * 600_000
JSON = "application/json"
CHUNKS = [BODY[at : at + 50_000] for at in range(0, len(BODY), 50_000)]


async def post(app: EdgeApp, peer: str = "198.51.100.1") -> int:
    answer = await request(
        app, "POST", "/v1/large", chunks=CHUNKS, peer=peer, content_type="application/json"
    )
    if answer.status != 200:
        assert (answer.code, answer.headers["retry-after"]) == ("OVERLOADED", "1")
    return answer.status


@pytest.mark.parametrize("peer", ["198.51.100.1", "192.0.2.7"])
async def test_no_address_fills_memory_with_bodies(peer: str) -> None:
    parts = Parts(arriving=Tabs(2_000_000, 1_000_000))
    other = parts.arriving.tab("198.51.100.1")
    async with serving(parts) as app:
        with other.holding(500_000):
            assert await post(app, peer) == (503 if peer == "198.51.100.1" else 200)
            assert parts.arriving.total_bytes == 500_000
        assert await post(app, peer) == 200
    assert parts.arriving.total_bytes == 0


async def test_bodies_of_all_together_are_bounded() -> None:
    parts = Parts(arriving=Tabs(1_000_000, 1_000_000))
    async with serving(parts) as app:
        with parts.arriving.tab("192.0.2.7").holding(500_000):
            assert await post(app) == 503
    assert (parts.arriving.total_bytes, parts.arriving.refused) == (0, 1)


async def test_slow_senders_hold_up_nobody_else() -> None:
    """More of them than there are places for large bodies."""
    parts = Parts()
    async with serving(parts) as app, trio.open_nursery() as nursery:
        for number in range(AT_ONCE + 1):
            head = [{"type": "http.request", "body": b"x" * 1000, "more_body": True}]
            nursery.start_soon(app, large_from(f"198.51.100.{number}"), partial(first_of, head), refuse)
        await trio.testing.wait_all_tasks_blocked()
        assert parts.arriving.total_bytes == 1000 * (AT_ONCE + 1)
        with trio.fail_after(PATIENCE_SECONDS):
            assert await post(app, "192.0.2.7") == 200
        nursery.cancel_scope.cancel()


async def test_who_is_known_sends_one_large_body_after_the_other() -> None:
    """And holds up nobody else with a slow one."""
    parts = Parts()
    slow: list[object] = [{"type": "http.request", "body": BODY[:1000], "more_body": True}]
    rest = [{"type": "http.request", "body": BODY[1000:], "more_body": False}]
    answered: list[int] = []
    arrives, go_on = trio.Event(), trio.Event()

    async def receive() -> object:
        if slow:
            return slow.pop()
        arrives.set()
        await go_on.wait()
        return rest.pop()

    async def again() -> None:
        answer = await request(app, "POST", "/v1/own/large", chunks=CHUNKS, token="ann", content_type=JSON)
        answered.append(answer.status)

    async with serving(parts) as app, trio.open_nursery() as nursery:
        nursery.start_soon(app, large_from("198.51.100.1", token="ann"), receive, ignore)
        await arrives.wait()
        nursery.start_soon(again)
        await trio.testing.wait_all_tasks_blocked()
        assert parts.arriving.total_bytes == 1000
        for token in ("bob", "ann"):  # somebody else, and what is small
            body = {"name": "x", "sizeBytes": 1}
            assert (await request(app, "POST", "/v1/own/large", body, token=token)).status == 200
        assert (
            await request(app, "POST", "/v1/own/large", chunks=CHUNKS, token="bob", content_type=JSON)
        ).status == 200
        assert answered == []
        go_on.set()
    assert answered == [200]


def large_from(peer: str, token: str = "") -> dict[str, object]:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
    return {
        **{"type": "http", "method": "POST", "query_string": b"", "client": (peer, 5)},
        "path": "/v1/own/large" if token else "/v1/large",
        "headers": [*headers, (b"authorization", f"Bearer {token}".encode())] if token else headers,
    }


async def ignore(message: object) -> None:
    """An answer that is of no interest."""


async def first_of(sent: list[object]) -> object:
    """What was sent, and then nothing."""
    return sent.pop() if sent else await trio.sleep_forever()


async def refuse(message: object) -> None:
    raise AssertionError(message)


async def test_a_body_that_is_cut_short_is_given_back() -> None:
    parts = Parts()
    async with serving(parts) as app:
        sent = [{"type": "http.request", "body": b"x" * 1000, "more_body": True}]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(app, large_from("198.51.100.1"), partial(first_of, sent), refuse)
            await trio.testing.wait_all_tasks_blocked()
            assert parts.arriving.total_bytes == 1000
            nursery.cancel_scope.cancel()
    assert parts.arriving.total_bytes == 0


def test_requests_ahead_of_their_turn_are_bounded_in_bytes() -> None:
    parser = RequestParser(16 * 1024)
    one = b"POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
    data, bodies = one * 40, []
    for at in range(0, len(data), 16_384):
        while parser.waits:
            taken = parser.requests.popleft()
            assert taken.complete
            bodies.append(len(taken.take_body()))
            parser.resume()
        parser.feed(data[at : at + 16_384])
        assert sum(len(piece) for ahead in parser.requests for piece in ahead.pieces) <= 2 * 65_536
    # Nothing is lost: what was kept is parsed as soon as there is room.
    while parser.requests:
        bodies.append(len(parser.requests.popleft().take_body()))
        parser.resume()
    assert bodies == [60_000] * 40


def test_heads_ahead_of_their_turn_are_bounded_in_bytes() -> None:
    parser = RequestParser(16 * 1024)
    data = b"".join(
        b"GET /%d HTTP/1.1\r\nHost: t\r\nCookie: %b\r\n\r\n" % (at, b"x" * 15_000) for at in range(40)
    )
    paths: list[str] = []
    for at in range(0, len(data), 16_384):
        while parser.waits:
            paths.append(parser.requests.popleft().path)
            parser.resume()
        parser.feed(data[at : at + 16_384])
        assert sum(len(text) for ahead in parser.requests for _, text in ahead.headers) <= 80_000
    while parser.requests:
        paths.append(parser.requests.popleft().path)
        parser.resume()
    assert paths == [f"/{at}" for at in range(40)]


async def test_an_inbox_is_bounded_in_bytes(sockets: Sockets) -> None:
    """Large messages for a listener that has not come yet: reading stops long before sixteen of them."""
    opening = trio.Event()
    held = Held()

    async def late(socket: object) -> Held:
        opened.append(socket)
        await opening.wait()
        return await held(socket)  # type: ignore[arg-type]

    opened: list[object] = []
    app = Application(handler=late, sockets=sockets)
    async with (
        running(app) as base_url,
        connect(base_url + "/live") as client,
        trio.open_nursery() as nursery,
    ):

        async def talk() -> None:
            for _ in range(60):
                await client.send_text("x" * 60_000)

        nursery.start_soon(talk)
        while not opened or next(iter(sockets)).inbox_bytes < INBOX_MAX_BYTES:
            await trio.testing.wait_all_tasks_blocked()
        for _ in range(20):
            await trio.testing.wait_all_tasks_blocked()
        assert next(iter(sockets)).inbox_bytes < INBOX_MAX_BYTES + 2 * 65_536
        opening.set()
        while len(held.said) < 60:
            await trio.testing.wait_all_tasks_blocked()
